"""What flows between stages: frozen, slotted, keyword-only, standard library only."""
