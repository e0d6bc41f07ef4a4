"""Prompt, sample, parse: from a page to a step."""
