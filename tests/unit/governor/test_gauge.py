"""What the machine says of itself: what others wait for, and what of it idles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.governor.gauge import (
    Look,
    busy_cores_of_others,
    look,
    strain,
    waited_for_a_core_s,
)
from instride.governor.spare_cores import read_ticks


def test_what_others_wait_for_is_a_share_of_the_time() -> None:
    before = Look(10.0, 1.0, 2.0, 5.0, 20.0, 0.0)
    after = Look(14.0, 2.0, 2.0, 6.0, 28.0, 1.0)
    seen = strain(before, after)
    assert (seen.io, seen.memory) == (0.25, 0.0)
    assert seen.idle_cores == 0.25
    assert busy_cores_of_others(before, after) == pytest.approx((8 - 1 - 1) / 4)


def test_this_machine_can_be_looked_at() -> None:
    seen = look()
    assert seen.total_s is not None
    assert seen.idle_s is not None
    assert 0 < seen.idle_s <= seen.total_s
    assert set(read_ticks()) >= os.sched_getaffinity(0)


def test_counters_that_nobody_keeps_are_no_error(tmp_path: Path) -> None:
    seen = look(tmp_path)
    assert (seen.io_s, seen.memory_s, seen.idle_s) == (None, None, None)
    assert read_ticks(tmp_path) == {}


def test_a_thread_knows_how_long_it_waited_for_a_core(tmp_path: Path) -> None:
    assert waited_for_a_core_s() >= 0.0
    assert waited_for_a_core_s(tmp_path) == 0.0
    (tmp_path / "thread-self").mkdir()
    (tmp_path / "thread-self/schedstat").write_text("494044 1500000000 2\n")
    assert waited_for_a_core_s(tmp_path) == 1.5
