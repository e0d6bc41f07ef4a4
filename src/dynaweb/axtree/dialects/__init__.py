"""Trees as other tools write them: one reader, one record, each written back in its own dialect."""
