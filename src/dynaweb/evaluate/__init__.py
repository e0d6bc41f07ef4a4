"""How good is the agent, on the real web: plan first, then episodes, then intervals."""
