"""What runs inside the proxy's own environment: the standard library and mitmproxy, nothing of ours beside."""
