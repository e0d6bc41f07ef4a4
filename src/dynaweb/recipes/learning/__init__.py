"""What learning costs in real steps: one first agent, several ways on from it, real success against live steps spent."""
