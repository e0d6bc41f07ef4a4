"""The only way out for pages of live sites: a proxy that knows names, addresses and methods."""
