"""How much of a device training needs at its peak, when the allocator counts ours along with it."""

from __future__ import annotations

import pytest
import torch

from instride.snapshot.device_memory import (
    SPARE_BYTES,
    TrainingPeak,
    room_bytes,
)

pytestmark = pytest.mark.torch

GIB = 1 << 30
OURS = 16 * GIB


def test_what_was_ours_at_the_peak_is_not_that_of_training() -> None:
    peak = TrainingPeak()
    assert peak.note(40 * GIB, 0) == 40 * GIB  # before the first save
    assert peak.note(56 * GIB, OURS) == 40 * GIB  # its snapshot came on top
    assert peak.note(56 * GIB, 0) == 40 * GIB  # and is freed


def test_training_that_needs_more_beside_a_snapshot_needs_more_from_then_on() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    assert peak.note(61 * GIB, OURS) == 45 * GIB
    assert peak.note(61 * GIB, 0) == 45 * GIB


def test_training_that_needs_more_between_two_saves_is_counted_in_full() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    peak.note(56 * GIB, OURS)
    assert peak.note(60 * GIB, 0) == 60 * GIB


def test_a_peak_that_somebody_resets_is_remembered() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    assert peak.note(10 * GIB, 0) == 40 * GIB


def test_room_is_what_is_free_less_what_training_will_want_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (50 * GIB, 140 * GIB))
    counted = {"reserved_bytes": {"all": {"current": 30 * GIB, "peak": 99 * GIB}}}
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda device: counted)
    parts = [1.0]
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda device: parts[-1])
    device = torch.device("cuda", 0)
    assert room_bytes(device, 40 * GIB) == 40 * GIB - SPARE_BYTES
    assert room_bytes(device, 20 * GIB) == 50 * GIB - SPARE_BYTES
    assert room_bytes(device, 90 * GIB) == 0
    parts.append(0.5)  # 70 GiB are allowed, 30 of them taken
    assert room_bytes(device, 40 * GIB) == 30 * GIB - SPARE_BYTES
