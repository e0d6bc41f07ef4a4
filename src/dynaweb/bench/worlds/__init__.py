"""World models side by side on the same real transitions: cases, answers, probes, scores."""
