"""The ledger and the journal of commands in PostgreSQL.

Rule (architecture.md, The ledger): a batch is one statement, its rows in the order of their keys, so that two
servers never wait for each other in a circle; a position that is taken is passed over and answered as such.

The number of a record is that of its transaction, times the most records one can have, and its place in it.
Transactions do not end in the order of their numbers: only what lies below the oldest one under way is told, for
nothing can come to stand there any more.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ladder.port import Asked
from ..port import Append, Change, Cursor, Row, Run, Standing
from . import migrate
from .database import Database

if TYPE_CHECKING:
    from asyncpg import Record

#: How many records one transaction can number.
_PLACES = 4096

_RUN = "run_id, address, start_time, labels, plan, finished"
_ASKED = "request_id, command, found_etag, document, answer"

_WRITTEN = f"""
written AS (
    INSERT INTO ledger (run_id, position, number, at, kind, turn, payload, fold_version, state)
    SELECT run_id, position, (SELECT base FROM numbering) + pg_current_xact_id()::text::bigint * {_PLACES} + place,
           at, kind, turn, payload, fold_version, state
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bytea[], $7::integer[],
                $8::bytea[], $9::bigint[])
         AS asked (run_id, position, at, kind, turn, payload, fold_version, state, place)
    ON CONFLICT DO NOTHING
    RETURNING run_id, position
)"""  # noqa: S608  # nothing but a number of ours

_APPEND = f"WITH {_WRITTEN} SELECT run_id, position FROM written"  # noqa: S608  # as above

_APPEND_WITH_RUNS = f"""
WITH {_WRITTEN}, begun AS (
    INSERT INTO runs ({_RUN})
    SELECT run_id, address, start_time, labels::jsonb, plan, finished
    FROM unnest($10::text[], $11::text[], $12::bigint[], $13::text[], $14::bytea[], $15::boolean[])
         AS begins (run_id, address, start_time, labels, plan, finished)
    WHERE (run_id, 1) IN (SELECT run_id, position FROM written)
), ended AS (
    UPDATE runs SET finished = true
    FROM unnest($16::text[], $17::bigint[]) AS ends (run_id, position)
    WHERE runs.run_id = ends.run_id AND (ends.run_id, ends.position) IN (SELECT run_id, position FROM written)
)
SELECT run_id, position FROM written
"""  # noqa: S608  # names of columns

_STANDING = f"""
SELECT {_RUN}, position, fold_version, state FROM (SELECT {_RUN} FROM runs %s) AS asked
CROSS JOIN LATERAL (
    SELECT position, fold_version, state FROM ledger
    WHERE ledger.run_id = asked.run_id ORDER BY position DESC LIMIT 1
) AS last
ORDER BY start_time DESC, run_id DESC
"""  # noqa: S608  # names of columns

#: Below this number nothing can come to stand any more.
_SETTLED = f"(SELECT base FROM numbering) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint * {_PLACES}"  # noqa: S608

#: A younger cluster's transactions are numbered lower than those that wrote what was restored into it.
_RENUMBER = f"""
UPDATE numbering SET base = newest.number
FROM (SELECT coalesce(max(number), 0) AS number FROM ledger) AS newest
WHERE newest.number >= base + pg_current_xact_id()::text::bigint * {_PLACES}
"""  # noqa: S608  # nothing but a number of ours


class PostgresStore:
    """A Store in a PostgreSQL database, which other servers use at the same time."""

    exclusive = False

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    async def opened(cls, address: str) -> "PostgresStore":
        """The store at `address`, `postgresql://USER@HOST/NAME`.

        Raises SchemaTooOld or SchemaTooNew where this server can't run on it, and StoreError.
        """
        database = await Database.opened(address)
        try:
            async with database.connection() as connection:
                await migrate.check(connection)
                await connection.execute(_RENUMBER)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def append(self, batch: Sequence[Append]) -> list[bool]:
        if len(batch) > _PLACES:
            raise ValueError(f"a batch has at most {_PLACES} records")
        # Of those who ask for one position in one batch, the first has it, or nobody.
        first: dict[tuple[str, int], Append] = {}
        for append in batch:
            first.setdefault((append.run_id, append.position), append)
        ordered = [first[key] for key in sorted(first)]
        values = [*_columns([append[:8] for append in ordered], 8), list(range(len(ordered)))]
        begins = [append.begins for append in ordered if append.begins is not None]
        ends = [(append.run_id, append.position) for append in ordered if append.finishes]
        if not begins and not ends:
            written = await self.database.rows(_APPEND, *values)
        else:
            # One statement does not see what it writes: a run that begins and ends in it is put down as ended.
            ended = {run_id for run_id, _ in ends}
            rows = [
                (
                    run.run_id,
                    run.address,
                    run.start_time,
                    json.dumps(dict(run.labels)),
                    run.plan,
                    run.run_id in ended,
                )
                for run in begins
            ]
            written = await self.database.rows(_APPEND_WITH_RUNS, *values, *_columns(rows, 6), *_columns(ends, 2))
        won = {(row["run_id"], row["position"]) for row in written}
        return [(key := (append.run_id, append.position)) in won and first[key] is append for append in batch]

    async def standing(self, run_id: str) -> Standing | None:
        found = await self.database.rows(_STANDING % "WHERE run_id = $1", run_id)
        return _standing(found[0]) if found else None

    async def position(self, run_id: str) -> int:
        last = await self.database.value("SELECT max(position) FROM ledger WHERE run_id = $1", run_id)
        return int(last or 0)

    async def rows(self, run_id: str, from_position: int, limit: int) -> list[Row]:
        found = await self.database.rows(
            "SELECT position, payload FROM ledger WHERE run_id = $1 AND position >= $2 ORDER BY position LIMIT $3",
            run_id,
            from_position,
            limit,
        )
        return [Row(*row) for row in found]

    async def row_of_turn(self, run_id: str, kind: str, turn: int, *, first: bool = False) -> Row | None:
        order = "ASC" if first else "DESC"
        found = await self.database.rows(
            "SELECT position, payload FROM ledger WHERE run_id = $1 AND kind = $2 AND turn = $3"  # noqa: S608
            f" ORDER BY position {order} LIMIT 1",
            run_id,
            kind,
            turn,
        )
        return Row(*found[0]) if found else None

    async def page(
        self, address: str, finished: bool | None, labels: Mapping[str, str], after: Cursor | None, limit: int
    ) -> list[Standing]:
        where, values = ["true"], list[Any]()

        def value(given: Any) -> str:
            values.append(given)
            return f"${len(values)}"

        if address:
            # '0' is the character behind '/': the range holds all that lies below the address.
            here, from_, to = value(address), value(f"{address}/"), value(f"{address}0")
            where.append(f"(address = {here} OR address > {from_} AND address < {to})")
        if finished is not None:
            where.append("finished" if finished else "NOT finished")
        if labels:
            where.append(f"labels @> {value(json.dumps(dict(labels)))}::jsonb")
        if after is not None:
            where.append(f"(start_time, run_id) < ({value(after.start_time)}, {value(after.run_id)})")
        which = f"WHERE {' AND '.join(where)} ORDER BY start_time DESC, run_id DESC LIMIT {value(limit)}"
        return [_standing(row) for row in await self.database.rows(_STANDING % which, *values)]

    async def last_change(self) -> int:
        settled = f"SELECT coalesce(max(number), 0) FROM ledger WHERE number < {_SETTLED}"  # noqa: S608
        return int(await self.database.value(settled))

    async def changes(self, after: int, limit: int) -> list[Change]:
        found = await self.database.rows(
            "SELECT number, run_id, position, address FROM ledger JOIN runs USING (run_id)"  # noqa: S608
            f" WHERE number > $1 AND number < {_SETTLED} ORDER BY number LIMIT $2",
            after,
            limit,
        )
        return [Change(*row) for row in found]

    async def find(self, request_id: str) -> Asked | None:
        found = await self.database.rows(f"SELECT {_ASKED} FROM commands WHERE request_id = $1", request_id)  # noqa: S608
        return Asked(*found[0]) if found else None

    async def ask(self, asked: Asked) -> bool:
        written = await self.database.rows(
            f"INSERT INTO commands ({_ASKED}, done) VALUES ($1, $2, $3, $4, $5, false)"  # noqa: S608
            " ON CONFLICT DO NOTHING RETURNING 1",
            *asked,
        )
        return bool(written)

    async def done(self, request_id: str) -> None:
        await self.database.rows("UPDATE commands SET done = true WHERE request_id = $1", request_id)

    async def undone(self) -> list[Asked]:
        found = await self.database.rows(f"SELECT {_ASKED} FROM commands WHERE NOT done ORDER BY number")  # noqa: S608
        return [Asked(*row) for row in found]

    async def close(self) -> None:
        await self.database.close()


def _columns(rows: Sequence[Sequence[Any]], count: int) -> list[list[Any]]:
    """The rows' columns, of which there are `count`, also where there is no row."""
    return [[row[column] for row in rows] for column in range(count)]


def _standing(row: "Record") -> Standing:
    run_id, address, start_time, labels, plan, finished, position, fold_version, state = row
    run = Run(run_id, address, start_time, json.loads(labels), plan, finished)
    return Standing(run, position, fold_version, state)
