"""`on_error="raise"`: every save that failed is raised by one that comes after it, once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import torch

import instride
from instride.errors import SaveFailedError, SaveSkippedError, StorageStuckError
from instride.saver.letter import Letter
from instride.saver.patience import Watch
from instride.writer.page import PROGRESS
from tests.crash.checks import steps_in
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


def test_of_two_failures_that_are_known_at_once_both_are_raised(
    tmp_path: Path, model: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#1,EIO@synced#2")
    with instride.Saver(tmp_path, on_error="raise", model=model) as saver:
        os.kill(writer_of(saver), signal.SIGSTOP)
        first = saver.save(1)
        first.on_wait = lambda: os.kill(writer_of(saver), signal.SIGCONT)
        assert saver.save(2).await_done(60)
        assert first.done
        for step in (1, 2):
            with pytest.raises(SaveFailedError, match=f"step_0000000{step}"):
                saver.save(3)
        saver.save(3).wait(60)


@pytest.mark.parametrize("when_busy", ["wait", "skip"])
def test_a_full_disk_is_raised_whether_saves_wait_or_are_skipped(
    tmp_path: Path,
    model: torch.nn.Module,
    when_busy: Literal["wait", "skip"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Skipping all saves until there is room may mean all of them."""
    monkeypatch.setenv("INSTRIDE_FAULTS", "ENOSPC@write")
    saver = instride.Saver(tmp_path, on_error="raise", when_busy=when_busy, model=model)
    saver.save(1)
    with pytest.raises(SaveSkippedError, match="the disk is full"):
        save_until(60, saver)
    with pytest.raises(SaveFailedError, match="step_00000001"):
        saver.close()


def test_storage_that_is_stuck_is_raised_also_where_saves_are_skipped(
    tmp_path: Path, model: torch.nn.Module
) -> None:
    saver = instride.Saver(tmp_path, on_error="raise", when_busy="skip", stall_s=0.5, model=model)
    assert saver._engine.await_store(60)
    os.kill(writer_of(saver), signal.SIGSTOP)
    first = saver.save(1)
    with pytest.raises(StorageStuckError):
        save_until(60, saver)
    os.kill(writer_of(saver), signal.SIGCONT)
    assert first.await_done(60)
    with pytest.raises(StorageStuckError):  # that is what became of the last one
        saver.close()
    assert steps_in(tmp_path) == [1]


def test_a_writer_that_yields_for_long_is_told_not_to_before_its_disk_is_called_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("instride.saver.patience.time", clock)
    page: Any = [0] * (PROGRESS + 1)
    watch = Watch(SimpleNamespace(is_blocked=False), page, stall_s=5.0)  # type: ignore[arg-type]
    last, letter = instride.Pending(Path("x.pt"), 1), Letter(None, print)  # type: ignore[arg-type]
    seen = []
    for now[0] in (0.0, 4.0, 6.0, 10.0, 12.0):
        seen.append((last.is_awaited, watch.at_a_glance(letter, last)))
    assert seen[:4] == [(False, None), (False, None), (False, None), (True, None)]
    assert isinstance(seen[4][1], StorageStuckError)


def test_what_failed_before_the_last_one_is_raised_by_close(
    tmp_path: Path, model: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no save any more that would."""
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#1")
    saver = instride.Saver(tmp_path, on_error="raise", model=model)
    os.kill(writer_of(saver), signal.SIGSTOP)
    first = saver.save(1)
    first.on_wait = lambda: os.kill(writer_of(saver), signal.SIGCONT)
    saver.save(2).wait(60)
    with pytest.raises(SaveFailedError, match="step_00000001"):
        saver.close()
    saver.close()


def save_until(timeout: float, saver: instride.Saver) -> None:
    """Again and again, until something is raised."""
    deadline = time.monotonic() + timeout
    step = 1
    while time.monotonic() < deadline:
        step += 1
        saver.save(step)
        time.sleep(0.01)
