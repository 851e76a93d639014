"""The configuration ladder: city, building, resident; one TOML document a rung."""
