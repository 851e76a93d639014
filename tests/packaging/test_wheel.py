"""What is in the wheel, and what a client that installs it gets."""

import email
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.packaging.wheels import build, environment_with
from tests.servers import running_server

OLDEST = ("grpcio==1.76.0", "protobuf==6.31.1", "googleapis-common-protos==1.70.0")

#: A client's first success, and proof that no part of the server was needed for it.
FIRST_SUCCESS = """
import sys
import ullage, ullage.v1
from ullage.v1 import building_service_pb2_grpc, ledger_pb2, run_service_pb2_grpc, wire_service_pb2_grpc

with ullage.Client(sys.argv[1]) as client:
    run = client.start_run(context_tokens=1000)
    assert run.observe({"input_tokens": 10, "cache_read_input_tokens": 290}).reminder.id == "1/context/first"
    assert client.get_run(run.run_id).revision == 2
assert not [name for name in sys.modules if name.startswith("ullage_server")]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_it_holds_the_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"ullage", "ullage_server", "ullage-0.1.0.dist-info"}
    for needed in (
        "ullage/py.typed",
        "ullage/v1/run_service_pb2.py",
        "ullage/v1/run_service_pb2.pyi",
        "ullage/v1/run_service_pb2_grpc.py",
        "ullage_server/py.typed",
        "ullage_server/cli/example.jsonl",
        "ullage_server/store/migrations/sqlite/0001_ledger.sql",
        "ullage-0.1.0.dist-info/licenses/LICENSE",
    ):
        assert needed in names


def test_a_client_depends_on_three_light_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read("ullage-0.1.0.dist-info/METADATA"))
        entry_points = archive.read("ullage-0.1.0.dist-info/entry_points.txt").decode()
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    names = {line.split("<")[0].split(">")[0].strip() for line in needed}
    assert names == {"grpcio", "protobuf", "googleapis-common-protos"}
    assert "ullage = ullage_server.cli:main" in entry_points


@pytest.mark.timeout(300)
@pytest.mark.parametrize("versions", [OLDEST, ()], ids=["oldest", "newest"])
def test_a_client_alone_works_with_the_oldest_and_the_newest(
    wheel: Path, tmp_path: Path, versions: tuple[str, ...]
) -> None:
    python = environment_with(tmp_path / "env", str(wheel), *versions)
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True)
    installed = {line.split("==")[0].lower() for line in listed.stdout.splitlines()}
    assert installed - {"pip", "setuptools"} == {
        "ullage",
        "grpcio",
        "protobuf",
        "googleapis-common-protos",
        "typing_extensions",
    }
    with running_server() as server:
        subprocess.run([python, "-W", "error", "-c", FIRST_SUCCESS, server.target], check=True, timeout=60)
    without_cli = subprocess.run([python.parent / "ullage", "runs"], capture_output=True, text=True, timeout=60)
    assert without_cli.returncode != 0
    assert "'.[cli]'" in without_cli.stderr
    assert "Traceback" not in without_cli.stderr
