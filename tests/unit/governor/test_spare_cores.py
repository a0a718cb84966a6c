"""Which cores idle while others are busy."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from instride.governor.spare_cores import IdleWatch, idle_cores, spare_of


def test_cores_are_spare_only_where_others_are_busy() -> None:
    before = {0: (0, 0), 1: (0, 0), 2: (0, 0)}
    assert spare_of(before, {0: (5, 100), 1: (95, 100), 2: (50, 100)}) == {1}
    assert spare_of(before, {0: (99, 100), 1: (98, 100), 2: (97, 100)}) == set()
    assert spare_of(before, {0: (1, 100), 1: (2, 100), 2: (3, 100)}) == set()
    assert spare_of({}, {0: (1, 100)}) == set()


def test_parts_of_cores_that_idle_are_added_up() -> None:
    before = {0: (0, 0), 1: (0, 0)}
    assert idle_cores(before, {0: (10, 100), 1: (40, 100)}) == pytest.approx(0.5)
    assert idle_cores(before, {0: (0, 100), 1: (0, 100)}) == 0
    assert idle_cores({}, {0: (0, 100)}) == math.inf  # nobody can tell


def test_a_machine_has_idled_if_it_did_since_the_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("instride.governor.spare_cores.time.monotonic", lambda: now_s[0])

    def ticks(busy: int, idle: int) -> None:
        # What the second core does is none of our business: we may not run there.
        (tmp_path / "stat").write_text(
            f"cpu  1 2 3\ncpu0 {busy} 0 0 {idle} 0 0 0 0\ncpu1 0 0 0 {busy + idle} 0 0 0 0\n"
        )

    monkeypatch.setattr("instride.governor.spare_cores.os.sched_getaffinity", lambda _: {0})
    ticks(0, 0)
    watch = IdleWatch(tmp_path)
    assert watch.has_idled()  # not known yet
    ticks(1000, 0)
    now_s[0] += 1
    assert not watch.has_idled()
    ticks(1000, 1000)
    assert not watch.has_idled()  # too soon to tell
    now_s[0] += 1
    assert watch.has_idled()
    (tmp_path / "stat").unlink()
    now_s[0] += 1
    assert watch.has_idled()
