"""A real PostgreSQL for tests: a cluster of its own on a unix socket, run as an ordinary user.

Where none is installed its tests are skipped with that reason (see `needs`). Most tests share one cluster, the
fixture `postgres`, and have a database of their own; a test that stops or kills one has a cluster of its own.
"""

import itertools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import missing
from tests.servers import environment

#: Who runs it where these tests are root, whom PostgreSQL refuses.
_USER = "nobody"


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest ones; None where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("pg_ctl")
    return Path(there).parent if there else None


def is_there() -> bool:
    """Whether there is a PostgreSQL to test with."""
    return programs() is not None


class Cluster:
    """A cluster in a folder, which may be stopped, killed and started again."""

    def __init__(self, folder: Path, bin: Path) -> None:
        self.folder = folder
        self._bin = bin
        self._names = (f"fresh_{number}" for number in itertools.count(1))
        self._as: list[str] = []
        if os.geteuid() == 0:
            self._as = ["setpriv", "--reuid", _USER, "--regid", str(pwd.getpwnam(_USER).pw_gid), "--clear-groups"]
            shutil.chown(folder, _USER)
        self._run(
            "initdb", "--auth=trust", "--username=ullage", "--encoding=UTF8", "--locale=C", "-D", f"{folder}/data"
        )

    def database(self) -> str:
        """The address of a new database, with nothing in it."""
        name = next(self._names)
        self._run("createdb", "-h", str(self.folder), "-U", "ullage", name)
        return f"postgresql://ullage@/{name}?host={self.folder}"

    def start(self) -> None:
        """Starts it, and returns when it answers."""
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=16MB -c max_connections=60"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Ends it; `immediate` is as a crash."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        # To a file: a server that is started goes on to hold what it was given to write to.
        with tempfile.TemporaryFile() as said:
            command = [*self._as, str(self._bin / program), *arguments]
            done = subprocess.run(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=60
            )
            if done.returncode:
                said.seek(0)
                raise RuntimeError(f"{program} ended with {done.returncode}:\n{said.read().decode()}")


def migrated(one: Cluster) -> str:
    """The address of a new database with the schema, made by the command."""
    address = one.database()
    command = [sys.executable, "-m", "ullage_server", "migrate", "--store", address]
    subprocess.run(command, env=environment(), check=True, capture_output=True, timeout=60)
    return address


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that is up; gone with its data at the end. Skips or fails where there is no PostgreSQL."""
    bin = programs()
    if bin is None:
        missing("POSTGRES", "PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="ullage-pg-"))
    try:
        one = Cluster(folder, bin)
        one.start()
        try:
            yield one
        finally:
            one.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
