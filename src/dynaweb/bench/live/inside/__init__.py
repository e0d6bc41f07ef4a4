"""What runs inside the other tool's environment, which holds no dynaweb."""
