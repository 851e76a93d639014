-- The ledger, the runs' rows, and the commands that were sent to the ladder under an id.

-- A record's row carries the state that follows from it. With a row id, the rows of a batch stand on one page
-- whatever runs they are of.
CREATE TABLE ledger (
    run_id       TEXT    NOT NULL,
    position     INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    turn         INTEGER NOT NULL,
    payload      BLOB    NOT NULL,
    fold_version INTEGER NOT NULL,
    state        BLOB    NOT NULL,
    PRIMARY KEY (run_id, position)
);

CREATE TABLE runs (
    run_id     TEXT    NOT NULL PRIMARY KEY,
    address    TEXT    NOT NULL,
    start_time INTEGER NOT NULL,
    labels     TEXT    NOT NULL,
    plan       BLOB    NOT NULL,
    finished   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX runs_by_start ON runs (start_time, run_id);
CREATE INDEX runs_by_address ON runs (address, start_time, run_id);
-- Most runs are finished ones, and most lists are of the others.
CREATE INDEX runs_active ON runs (start_time, run_id) WHERE finished = 0;

CREATE TABLE commands (
    number     INTEGER PRIMARY KEY,
    request_id TEXT    NOT NULL UNIQUE,
    command    TEXT    NOT NULL,
    found_etag TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    answer     TEXT    NOT NULL,
    done       INTEGER NOT NULL
);

CREATE INDEX commands_undone ON commands (number) WHERE done = 0;

-- One row: the version of this schema, and the oldest schema version a server must know to run on it.
CREATE TABLE schema (
    version INTEGER NOT NULL,
    oldest  INTEGER NOT NULL
);

INSERT INTO schema (version, oldest) VALUES (1, 1);
