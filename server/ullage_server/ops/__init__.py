"""Running the process: its addresses, its health, its end."""
