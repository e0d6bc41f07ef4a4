"""Trajectories into datasets: split, filter, examples, cards."""
