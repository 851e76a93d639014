"""Large blocks are kept for the next message (ops/memory.py)."""

import ctypes
import subprocess
import sys

import pytest

#: Prints how many pages were made ready anew while blocks of a large message's size came and went.
_BLOCKS = """
import resource, sys
from ullage_server.ops.memory import keep_large_blocks

if sys.argv[1] == "kept":
    keep_large_blocks()

def come_and_go():
    blocks = [b"x" * (4 << 20) for _ in range(8)]

come_and_go()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    come_and_go()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_the_pages_of_large_blocks_are_made_ready_once() -> None:
    kept, given_back = (
        int(subprocess.run([sys.executable, "-c", _BLOCKS, how], capture_output=True, check=True).stdout)
        for how in ("kept", "given back")
    )
    assert kept < 100 < given_back
