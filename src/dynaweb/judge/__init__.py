"""Did these actions do what was wanted: a trajectory in, a verdict out."""
