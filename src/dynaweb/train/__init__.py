"""One way to train any model here: batches, losses, optimisers, checkpoints."""
