"""GSPO in dreams and at real pages: loss, update, loop."""
