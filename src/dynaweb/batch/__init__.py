"""Groups of attempts into rows to train on: credit, mixing with experts, token ids."""
