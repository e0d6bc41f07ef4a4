"""What runs in a site's own environment: its server and the scripts that fill it. Knows nothing of dynaweb."""
