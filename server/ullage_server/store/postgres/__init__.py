"""The store of several servers: PostgreSQL, by asyncpg. Needs the extra `[postgres]`."""
