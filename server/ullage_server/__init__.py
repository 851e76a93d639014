"""The Ullage server: the rules (`core`), the ledger (`store`), the configuration (`ladder`) and the wire (`rpc`)."""
