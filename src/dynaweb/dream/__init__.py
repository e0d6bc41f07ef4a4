"""The world model as an Environment, and where dreams begin."""
