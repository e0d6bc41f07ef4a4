"""Other tools' files, read as trajectories: what is valid is kept exactly, what is left out is counted and named."""
