"""How fast trees are read and state changes made and applied, beside what else a user would reach for."""
