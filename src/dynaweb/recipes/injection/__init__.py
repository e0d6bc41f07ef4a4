"""Pages that talk an agent into things, and an agent that lets itself be talked into everything."""
