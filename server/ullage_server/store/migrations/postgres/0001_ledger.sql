-- The ledger, the runs' rows, the ladder's documents, and the commands that were sent to it under an id.

-- Names are compared as bytes, as everywhere in the service, whatever the database's language.
-- A record's row carries the state that follows from it.
CREATE TABLE ledger (
    run_id       text COLLATE "C" NOT NULL,
    position     bigint  NOT NULL,
    number       bigint  NOT NULL,
    at           bigint  NOT NULL,
    kind         text    NOT NULL,
    turn         bigint  NOT NULL,
    payload      bytea   NOT NULL,
    fold_version integer NOT NULL,
    state        bytea   NOT NULL,
    PRIMARY KEY (run_id, position)
);

CREATE INDEX ledger_by_number ON ledger (number);

-- Of a run's thousands of records only the newest ones of a turn are looked for.
CREATE INDEX ledger_by_turn ON ledger (run_id, kind, turn, position);

CREATE TABLE runs (
    run_id     text COLLATE "C" NOT NULL PRIMARY KEY,
    address    text COLLATE "C" NOT NULL,
    start_time bigint  NOT NULL,
    labels     jsonb   NOT NULL,
    plan       bytea   NOT NULL,
    finished   boolean NOT NULL
);

CREATE INDEX runs_by_start ON runs (start_time, run_id);
CREATE INDEX runs_by_address ON runs (address, start_time, run_id);
-- Most runs are finished ones, and most lists are of the others.
CREATE INDEX runs_active ON runs (start_time, run_id) WHERE NOT finished;

-- What a record's number begins at. It is raised when a database was restored into a younger cluster, whose
-- transactions are numbered lower than those that wrote what is there.
CREATE TABLE numbering (base bigint NOT NULL);
INSERT INTO numbering (base) VALUES (0);

CREATE TABLE documents (
    address     text COLLATE "C" NOT NULL PRIMARY KEY,
    text        text   NOT NULL,
    update_time bigint NOT NULL
);

CREATE TABLE commands (
    request_id text COLLATE "C" NOT NULL PRIMARY KEY,
    number     bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    command    text    NOT NULL,
    found_etag text    NOT NULL,
    document   text    NOT NULL,
    answer     text    NOT NULL,
    done       boolean NOT NULL
);

CREATE INDEX commands_undone ON commands (number) WHERE NOT done;

-- One row: the version of this schema, and the oldest schema version a server must know to run on it.
CREATE TABLE schema (
    version integer NOT NULL,
    oldest  integer NOT NULL
);

INSERT INTO schema (version, oldest) VALUES (1, 1);
