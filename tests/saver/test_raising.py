"""`on_error="raise"`: every save that failed is raised by one that comes after it, once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from tests.crash.trainings import writer_of

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:instride:RuntimeWarning"),
]


@pytest.fixture
def model() -> torch.nn.Module:
    return torch.nn.Linear(2, 2)


def test_a_save_that_failed_is_raised_by_the_next_one_and_by_no_other(
    tmp_path: Path, model: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#1")
    with instride.Saver(tmp_path, on_error="raise", model=model) as saver:
        assert saver.save(1).await_done(60)
        with pytest.raises(SaveFailedError, match="step_00000001"):
            saver.save(2)
        saver.save(3).wait(60)
        saver.save(4).wait(60)


def test_what_fails_while_the_next_one_waits_for_it_is_raised_by_the_one_behind(
    tmp_path: Path, model: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop that saves faster than the disk takes it would never hear of it."""
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#1")
    with instride.Saver(tmp_path, on_error="raise", model=model) as saver:
        os.kill(writer_of(saver), signal.SIGSTOP)
        first = saver.save(1)
        first.on_wait = lambda: os.kill(writer_of(saver), signal.SIGCONT)
        saver.save(2).wait(60)
        assert first.error is not None
        with pytest.raises(SaveFailedError, match="step_00000001"):
            saver.save(3)


def test_a_save_that_was_to_be_skipped_has_not_failed(
    tmp_path: Path, model: torch.nn.Module
) -> None:
    with instride.Saver(tmp_path, on_error="raise", when_busy="skip", model=model) as saver:
        os.kill(writer_of(saver), signal.SIGSTOP)
        first = saver.save(1)
        assert saver.save(2).is_skipped
        os.kill(writer_of(saver), signal.SIGCONT)
        first.wait(60)
        saver.save(3)
