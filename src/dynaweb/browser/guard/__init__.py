"""What an agent may change on a live site: nothing, what somebody approved, or everything."""
