"""The signs by which a text shows what it is: a file for each kind."""
