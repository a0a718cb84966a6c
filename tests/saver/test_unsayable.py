"""Saves that cannot be told to the writer fail at once, are warned about, and harm no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from instride.store.directory import checkpoints_in
from instride.writer import protocol

pytestmark = pytest.mark.torch
NOT_UTF8 = os.fsdecode(b"runs-\xff")


def test_a_step_that_no_message_can_hold_is_refused(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        with pytest.raises(ValueError, match="below"):
            saver.save(1 << 63)
        saver.save(1).wait(60)


def test_a_directory_whose_name_is_not_utf8_is_refused_before_training_starts(
    tmp_path: Path,
) -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        instride.Saver(tmp_path / NOT_UTF8, model=torch.nn.Linear(2, 2))


def test_a_file_whose_name_is_not_utf8_is_not_saved_and_the_next_one_is(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="UTF-8"):
        pending = instride.save({}, tmp_path / NOT_UTF8)

    with pytest.raises(SaveFailedError, match="UTF-8"):
        pending.wait(60)
    instride.save({}, tmp_path / "next.pt").wait(60)


@pytest.mark.filterwarnings("ignore:instride.*beside the tensors:RuntimeWarning")
@pytest.mark.parametrize("memory_bytes", [None, 1])
def test_values_that_are_too_many_for_a_message_fail_their_save_alone(
    memory_bytes: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Linear(1, 3 << 20)
    with instride.Saver(tmp_path, memory_bytes=memory_bytes, model=model) as saver:
        monkeypatch.setattr(protocol, "MOST_BYTES", 1 << 20)
        with pytest.raises(SaveFailedError, match="beside the tensors"):
            saver.save(1, extra={"text": "more than that " * 100_000}).wait(60)
        saver.save(2).wait(60)

    assert [checkpoint.step for checkpoint in checkpoints_in(tmp_path)] == [2]
