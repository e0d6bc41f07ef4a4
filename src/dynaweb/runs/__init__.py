"""Run folders: what a command leaves on disk, and how it takes up where it stopped."""
