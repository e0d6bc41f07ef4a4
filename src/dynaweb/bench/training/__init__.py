"""How fast and in how much memory a policy is trained and asked here, beside bare passes, TRL and transformers."""
