"""Whole runs as functions, and what joins several stages."""
