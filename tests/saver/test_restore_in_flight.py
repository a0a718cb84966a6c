"""A save that is on its way when something is restored: it is the newest, and is waited for."""

from __future__ import annotations

import linecache
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import instride
from instride.errors import SaveFailedError
from tests.crash.trainings import engine_of
from tests.saver.holding import Holder

pytestmark = pytest.mark.torch
forking = multiprocessing.get_context("fork")


def save_held(saver: instride.Saver, step: int) -> tuple[instride.Pending, Callable[[], None]]:
    """A save whose writer does nothing until somebody waits for it; and what has it go on."""
    writer = engine_of(saver).courier.writer_pid
    os.kill(writer, signal.SIGSTOP)
    pending = saver.save(step)

    def go_on() -> None:
        os.kill(writer, signal.SIGCONT)

    pending.on_wait = go_on
    return pending, go_on


@pytest.mark.parametrize("step", [None, 2])
def test_what_was_saved_last_is_what_is_put_back(step: int | None, tmp_path: Path) -> None:
    part = Holder(1)
    with instride.Saver(tmp_path, part=part) as saver:
        saver.save(1).wait(60)
        part.state = 2
        save_held(saver, 2)
        part.state = 3

        assert saver.restore(step=step) == 3
        assert part.state == 2


def test_a_first_save_is_waited_for_too(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, part=Holder(1)) as saver:
        save_held(saver, 7)
        assert saver.restore() == 8


def test_it_is_waited_for_also_behind_one_that_was_skipped(tmp_path: Path) -> None:
    part = Holder(1)
    with instride.Saver(tmp_path, when_busy="skip", part=part) as saver:
        save_held(saver, 1)
        part.state = 2
        with pytest.warns(RuntimeWarning, match="was skipped"):
            assert saver.save(2).is_skipped

        assert saver.restore() == 2
        assert part.state == 1


def test_one_that_failed_is_told_of_where_the_one_before_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#2")
    part = Holder(1)
    saver = instride.Saver(tmp_path, part=part)
    saver.save(1).wait(60)
    part.state = 2
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        saver.save(2)
        assert saver.restore() == 2  # not 3
    with pytest.raises(SaveFailedError):
        saver.close()

    assert part.state == 1
    (told,) = [each for each in warned if line_of(each).endswith("# not 3")]
    assert "step_00000002.pt` was not saved" in str(told.message)
    assert "\n\nhint: " in str(told.message)


def line_of(warning: warnings.WarningMessage) -> str:
    return linecache.getline(warning.filename, warning.lineno).strip()


def test_storage_that_hangs_is_waited_for_as_long_as_for_any_save(tmp_path: Path) -> None:
    part = Holder(1)
    with instride.Saver(tmp_path, stall_s=0.2, part=part) as saver:
        saver.save(1).wait(60)
        part.state = 2
        pending, go_on = save_held(saver, 2)
        pending.on_wait = lambda: None
        with pytest.warns(RuntimeWarning, match="its disk does not answer"):
            assert saver.restore() == 2
        go_on()
        pending.wait(60)
        assert saver.restore() == 3


def test_a_forked_process_waits_for_no_answer_that_only_its_parent_gets(tmp_path: Path) -> None:
    def restore_here(line: Connection) -> None:
        line.send(saver.restore())

    with instride.Saver(tmp_path, part=Holder(1)) as saver:
        saver.save(1).wait(60)
        _, go_on = save_held(saver, 2)
        ours, theirs = forking.Pipe()
        worker: Any = forking.Process(target=restore_here, args=(theirs,))
        worker.start()
        try:
            assert ours.poll(60)
            assert ours.recv() == 2
        finally:
            worker.terminate()
            worker.join()
            go_on()
