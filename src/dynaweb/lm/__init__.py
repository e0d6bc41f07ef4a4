"""Models that read and write tokens: tokenizer, weights, sampling."""
