"""Trajectories, written as other tools read them."""
