"""Running the process: where it listens."""
