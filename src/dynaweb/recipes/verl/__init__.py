"""Dreams inside verl: an agent loop for its workers, and the files that its trainer is started with."""
