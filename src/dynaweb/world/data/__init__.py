"""Trajectories into what world models learn from: filtered, deduplicated, split, in every form, with a card."""
