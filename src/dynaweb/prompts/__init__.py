"""Every word said to a model: one template and one typed render function each."""
