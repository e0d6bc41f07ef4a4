"""What a person reads of a run: one self-contained page, and the same tables in the terminal."""
