"""What the ledger keeps: values that never change and write themselves.

Rule (architecture.md, The ledger): what was stored once is read for ever. A value is written as the list of its
fields in their order: a new field stands last and has a default, none is moved or taken out. A longer value than
this server knows was written by a newer one and is not read at all, rather than read in part.
"""

from msgspec import Struct


class Kept(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A value of the ledger. None refers back to itself, so the collector of cycles need not look at it."""
