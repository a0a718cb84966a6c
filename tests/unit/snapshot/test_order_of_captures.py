"""An optimizer whose step is captured: its graph must not wait for what lies outside of it, so that
who captures does."""

from __future__ import annotations

import pytest
import torch

from tests.unit.snapshot.saves import Saves, drain_once_it_waits

pytestmark = pytest.mark.torch


def test_whoever_captures_a_step_waits_until_all_is_copied_and_its_stream_for_nothing(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    saves.lock()
    saves.find_room("no room")
    for number in (1, 2):
        torn: list[list[int]] = []

        def step(number: int = number, torn: list[list[int]] = torn) -> None:
            torn.append(saves.torn(number))

        saves.take(number, saves.promise)
        before = saves.gpus.current_stream().last
        drain_once_it_waits(saves, step, monkeypatch)
        assert saves.gpus.current_stream().last is before
        assert torn == [[]]
