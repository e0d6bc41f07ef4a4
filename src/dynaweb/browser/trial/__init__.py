"""Pages that try to get out, and sockets that notice when they do."""
