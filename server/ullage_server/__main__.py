"""`python -m ullage_server` is the command `ullage`."""

from .cli import main

main()
