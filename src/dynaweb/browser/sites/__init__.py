"""Real web applications on this machine: built once, started, reset and stopped as often as one likes."""
