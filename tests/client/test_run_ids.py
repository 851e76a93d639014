"""Run ids are UUIDs of version 7, in the order of their making."""

import threading
import time
import uuid

import pytest

from ullage import new_run_id, run_ids


def test_the_bits_are_where_rfc_9562_has_them() -> None:
    # The RFC's own example: 2022-02-22 19:22:22 UTC, rand_a CC3, rand_b 18C4DC0C0C07398F.
    made = run_ids.uuid7(0x017F22E279B0 << 12 | 0xCC3, 0x18C4DC0C0C07398F)
    assert str(made) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    assert made.version == 7
    assert made.variant == uuid.RFC_4122


def test_ids_are_new_well_formed_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(uuid, "uuid7", raising=False)  # ours, whatever Python this is
    made = [new_run_id() for _ in range(5000)]
    assert made == sorted(set(made))
    for text in made[:: len(made) - 1]:
        parsed = uuid.UUID(text)
        assert parsed.version == 7
        assert abs((parsed.int >> 80) - time.time_ns() // 1_000_000) < 60_000
        assert len(text) == 36


def test_a_clock_that_is_set_back_does_not_turn_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(uuid, "uuid7", raising=False)
    first = new_run_id()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert new_run_id() > first


def test_threads_make_no_id_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(uuid, "uuid7", raising=False)
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(new_run_id() for _ in range(500))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 4000
    assert len({text[:18] for text in made}) == 4000  # the time alone tells them apart


def test_pythons_own_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    own = uuid.UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    monkeypatch.setattr(uuid, "uuid7", lambda: own, raising=False)
    assert new_run_id() == str(own)
