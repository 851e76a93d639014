"""The digest, byte by byte."""

from hashlib import sha256

from ullage_server.core.exchange.digest import Digest


def test_an_exchange_without_blocks() -> None:
    digest = Digest()
    digest.number(0)
    digest.number(0)
    assert digest.result() == sha256(b"ullage.exchange.1" + bytes(16)).digest()


def test_kinds_lengths_and_fields_stand_in_the_order_they_are_fed() -> None:
    digest = Digest()
    digest.number(1)
    digest.kind(b"T")
    digest.field("ä🦊".encode())
    digest.number(1)
    digest.kind(b"R")
    digest.field(b"t1")
    digest.field(b"\x01")
    digest.number(0)
    one, two, six = (bytes(7) + bytes([count]) for count in (1, 2, 6))
    spelt = b"ullage.exchange.1" + one + b"T" + six + b"\xc3\xa4\xf0\x9f\xa6\x8a"
    spelt += one + b"R" + two + b"t1" + one + b"\x01" + bytes(8)
    assert digest.result() == sha256(spelt).digest()


def test_a_length_takes_eight_bytes() -> None:
    digest = Digest()
    digest.field(b"x" * 0x012345)
    assert digest.result() == sha256(b"ullage.exchange.1" + b"\0\0\0\0\0\x01\x23\x45" + b"x" * 0x012345).digest()


def test_what_stands_between_two_fields_matters() -> None:
    apart, together = Digest(), Digest()
    apart.field(b"ab")
    apart.field(b"c")
    together.field(b"a")
    together.field(b"bc")
    assert apart.result() != together.result()
