"""Many trajectories: scripted experts, exploration, and the loop that records them."""
