"""The threads in which documents are read, parsed and changed.

Rule: never asyncio's own ones, in which a start freezes its plan: a flood of commands would make every start wait.
Commands are carried out one after the other, so one thread is theirs; others read meanwhile.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
A = TypeVarTuple("A")

_READERS = ThreadPoolExecutor(2, "ullage-reading")
_WRITER = ThreadPoolExecutor(1, "ullage-writing")


async def reading(do: Callable[[*A], T], *arguments: *A) -> T:
    """What `do` gives, which reads a document, parses one, or lists them."""
    return await asyncio.get_running_loop().run_in_executor(_READERS, do, *arguments)


async def writing(do: Callable[[*A], T], *arguments: *A) -> T:
    """What `do` gives, which changes a document or its text."""
    return await asyncio.get_running_loop().run_in_executor(_WRITER, do, *arguments)
