"""The `dynaweb` command: the only place that reads flags and the environment, and the only one that prints."""
