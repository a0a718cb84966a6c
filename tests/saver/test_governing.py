"""The governor in the writer of a real training: its decisions, and what it may not hold up."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import instride
from instride.governor.controlling import Controller
from instride.governor.pace import Pace, Setting
from instride.writer.hands import Crew
from tests.crash.trainings import writer_of
from tests.saver.test_journal import lines_of, run_of, train

pytestmark = pytest.mark.torch


def model(megabytes: int = 64) -> torch.nn.Module:
    return torch.nn.Linear(1024, megabytes * 256, bias=False)


def test_decisions_are_in_the_journal_with_their_reasons(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=model()) as saver:
        for step in range(40):
            if saver.due(step, every=20):
                pending = saver.save(step)
        while not pending.done:
            step += 1
            saver.due(step)
            time.sleep(0.01)  # a step
    lines = [line for line in lines_of(tmp_path) if line["kind"] == "governor"]
    assert lines
    assert all(line["reason"] and line["why"] for line in lines)
    assert all(line["threads"] >= 1 and 0 < line["duty"] <= 1 for line in lines)


def test_explain_reads_a_journal_with_decisions_as_any_other(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=model()) as saver:
        train(saver, range(60), 20)
    assert any(line["kind"] == "governor" for line in lines_of(tmp_path))
    assert list(run_of(tmp_path).step) == list(range(60))


def test_without_a_budget_nobody_governs(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, budget=None, model=model()) as saver:
        train(saver, range(30), 10)
    assert not any(line["kind"] == "governor" for line in lines_of(tmp_path))


@pytest.mark.parametrize("budget", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_a_budget_that_is_no_share_is_refused(tmp_path: Path, budget: float) -> None:
    with pytest.raises(ValueError, match="budget"):
        instride.Saver(tmp_path, budget=budget, model=model(1))


def test_a_save_that_somebody_waits_for_is_not_held_back(tmp_path: Path) -> None:
    """With a budget that allows next to nothing."""
    with instride.Saver(tmp_path, budget=1e-9, model=model(128)) as saver:
        train(saver, range(30), 10)
    assert [line["path"] for line in lines_of(tmp_path) if line["kind"] == "durable"]


def test_a_crew_that_is_held_back_goes_on_when_somebody_waits() -> None:
    pace = Pace()
    pace.set(Setting(is_open=False))
    crew = Crew(pace)
    left = [1] * 50
    begun = threading.Event()

    def do_one() -> bool:
        return bool(left and left.pop())

    def work() -> None:
        begun.set()
        crew.run(do_one)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    assert len(left) == 50
    crew.hurry()
    thread.join(60)
    assert not thread.is_alive()
    assert not left


def test_the_writer_loads_neither_numpy_nor_readers_of_logs() -> None:
    code = """
import sys
import instride.writer.process
print([name for name in sys.modules if name.split(".")[0] in ("numpy", "torch", "statistics")
       or name.startswith("instride.steps")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_writer_at_rest_takes_less_than_sixty_megabytes(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        train(saver, range(30), 10)
        status = Path(f"/proc/{writer_of(saver)}/status").read_text()
    resident_kb = int(status.partition("VmRSS:")[2].split()[0])
    assert resident_kb < 60_000


def test_a_writer_has_no_lighter_codec_to_offer() -> None:
    controller = Controller(0.02, num_codec_steps=0)
    assert controller._urgency.codec_step == 0
    controller._urgency._take_a_step(10.0)
    assert controller._urgency.codec_step == 0
