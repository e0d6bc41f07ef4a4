"""The web world model: what rules know, what a model learns, and predictions made of both."""
