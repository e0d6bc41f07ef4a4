"""THE episode loop: live and dream alike."""
