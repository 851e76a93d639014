"""`ullage migrate`: brings a PostgreSQL store up to this version's schema.

Rule: several servers share it, so no server changes its schema at a start; a store in a data folder belongs to one
server, which does.
"""

import asyncio

from .endings import Problem, carry_out, say
from .options import Store
from .own_server import server_settings, start_problem


def migrate(store: Store = None) -> None:
    """Bring a PostgreSQL store up to this version's schema."""
    carry_out(lambda: _migrate(store))


def _migrate(store: str | None) -> int:
    settings = server_settings(store=store)
    if settings.store is None:
        raise Problem(
            "no store is named; one in a data folder is brought up to date when its server starts",
            "name it: --store postgresql://USER@HOST/DATABASE",
        )
    try:
        from ..store.postgres.migrate import migrate as bring_up

        before, after = asyncio.run(bring_up(settings.store))
    except Exception as error:
        problem = start_problem(error, settings)
        if problem is None:
            raise
        raise problem from None
    say(f"the schema is version {after}", "" if before == after else f"it was version {before}")
    return 0
