"""How the process keeps its memory.

Rule (architecture.md, Long texts): one run's long exchange must not make the others wait. The C library gives each
freed block of more than 128 KiB back to the system at once; the next message of that size is then put together on
pages that are zeroed anew, on the event loop, which takes longer than all that is done with it. So blocks of a
message's size are kept, and what lies free beyond a bound is given back.
"""

import ctypes

#: Blocks up to this size come from memory that is kept, in bytes: the most the C library takes.
KEPT_BLOCK_BYTES = 32 << 20

#: As much may lie free at the end of the kept memory, in bytes; what is beyond it goes back to the system.
KEPT_FREE_BYTES = 64 << 20

# The numbers that malloc.h gives these options.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_large_blocks() -> None:
    """Has the C library keep large blocks for the next; does nothing where it is not glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, KEPT_BLOCK_BYTES)
        mallopt(_TRIM_THRESHOLD, KEPT_FREE_BYTES)
