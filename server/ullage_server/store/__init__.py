"""The ledger and where it is kept: the port, its stores, group commit, and the cache of folded states."""
