"""The Ullage server: its rules (`core`), ledger (`store`), configuration (`ladder`) and wire (`rpc`)."""
