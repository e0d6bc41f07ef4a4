"""GSPO inside the dream: loss, update, loop."""
