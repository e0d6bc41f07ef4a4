"""What `dynaweb inspect` says of each kind of content."""
