"""Running the process: where it listens, and how it keeps its memory."""
