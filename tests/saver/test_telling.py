"""Warnings point to a line of the program that saves, whichever thread gives them."""

from __future__ import annotations

import datetime
import linecache
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from instride.saver.telling import Telling
from instride.writer.protocol import Notice
from tests.crash.trainings import engine_of, writer_of
from tests.integration.commands import environment

pytestmark = pytest.mark.torch


@pytest.fixture
def warned() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def line_of(warned: list[warnings.WarningMessage]) -> str:
    """The line that the only warning shows."""
    (warning,) = warned
    assert warning.filename == __file__
    return linecache.getline(warning.filename, warning.lineno).strip()


def test_a_warning_of_a_thread_of_ours_shows_the_line_that_saved(
    tmp_path: Path, warned: list[warnings.WarningMessage]
) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    saver.save(1, extra={"took": datetime.timedelta(1)}).wait()
    saver.close()

    assert "will refuse" in str(warned[0].message)
    assert line_of(warned).startswith("saver.save(1,")


def test_a_save_that_failed_at_the_disk_is_told_with_the_line_that_saved(
    tmp_path: Path, warned: list[warnings.WarningMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is known long after the call, and in a thread that hears the writer."""
    monkeypatch.setenv("INSTRIDE_FAULTS", "EIO@synced#1")
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        failed = saver.save(1)
        with pytest.raises(SaveFailedError):
            failed.wait(60)
        saver.save(2)

    assert "was not saved" in str(warned[0].message)
    assert line_of(warned) == "failed = saver.save(1)"


def test_what_is_about_no_save_shows_the_line_that_made_the_saver(
    tmp_path: Path, warned: list[warnings.WarningMessage]
) -> None:
    """Such as a notice of the writer, of how full the disk is."""
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:  # this one
        notice = Notice("little-space", "few fit", "look")
        thread = threading.Thread(target=engine_of(saver)._on_notice, args=(notice,))
        thread.start()
        thread.join()

    assert line_of(warned).endswith("# this one")


def test_a_warning_of_a_call_shows_the_line_that_called(
    tmp_path: Path, warned: list[warnings.WarningMessage]
) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        saver.save(1, metric=float("nan"))

    assert line_of(warned).startswith("saver.save(1,")


def test_a_warning_of_a_hook_shows_the_line_that_steps(
    warned: list[warnings.WarningMessage],
) -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter])
    telling = Telling()
    optimizer.register_step_pre_hook(called_by_us(telling))
    optimizer.step()

    assert line_of(warned) == "optimizer.step()"


def called_by_us(telling: Telling) -> object:
    """A hook of a module of ours, as far as its frame tells."""
    space: dict[str, object] = {"__name__": "instride.hooks", "telling": telling}
    exec("def hook(*_): telling.once('kind', 'said')", space)
    return space["hook"]


def test_each_kind_is_told_once_and_a_thread_of_theirs_has_lines_too(
    warned: list[warnings.WarningMessage],
) -> None:
    telling = Telling()

    def work() -> None:
        for _ in range(3):
            telling.once("kind", "said")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert line_of(warned) == 'telling.once("kind", "said")'


def test_what_a_person_sees_names_the_script(tmp_path: Path) -> None:
    """With the filters that Python has by itself."""
    script = tmp_path / "train.py"
    script.write_text(
        "import datetime, instride, torch\n"
        "for number in range(2):\n"
        "    saver = instride.Saver('runs', model=torch.nn.Linear(2, 2))\n"
        "    saver.save(1, extra={'took': datetime.timedelta(1)})\n"
        "    saver.close()\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    shown = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(shown) == 3, done.stderr
    assert shown[0].startswith(f"{script}:4: RuntimeWarning: instride: ")
    assert shown[1].startswith("hint: ")
    assert shown[2].strip().startswith("saver.save(1, extra=")


def test_what_fails_again_once_a_save_has_worked_is_told_again(
    tmp_path: Path, warned: list[warnings.WarningMessage]
) -> None:
    """Who reads only the first warning would take all that came later for saved."""
    for step in (2, 3, 6, 7):
        (tmp_path / f"step_{step:08d}.pt").write_bytes(b"somebody's")
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        for step in range(1, 9):
            saver.save(step).await_done(60)

    told = [str(each.message) for each in warned if "was not saved" in str(each.message)]
    assert [text.partition(".pt")[0][-1] for text in told] == ["2", "6"]


def test_saves_that_are_skipped_in_turn_are_told_of_once(
    tmp_path: Path, warned: list[warnings.WarningMessage]
) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2), when_busy="skip") as saver:
        for step in range(1, 7, 2):
            os.kill(writer_of(saver), signal.SIGSTOP)
            first = saver.save(step)
            assert saver.save(step + 1).is_skipped
            os.kill(writer_of(saver), signal.SIGCONT)
            first.wait(60)

    assert len([each for each in warned if "was skipped" in str(each.message)]) == 1
