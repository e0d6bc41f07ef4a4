"""How good the world model and the judge are, measured against the real web."""
