"""What the journal says of a way back, where nobody tells the steps: explain has to count them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.explain.explaining import explain
from instride.steps.choosing import choose
from instride.steps.model import Run
from instride.steps.reading import read_with
from instride.system import background
from tests.crash.trainings import writer_of
from tests.saver.scripts import run_to_any_end

pytestmark = pytest.mark.torch

KILLED = """
import json, time
weight = torch.nn.Parameter(torch.ones(2))
weight.grad = torch.ones(2)
optimizer = torch.optim.SGD([weight], lr=0.1)
store = instride.Saver("store", optimizer=optimizer)
for step in range(store.restore(), 30):
    optimizer.step()
    time.sleep(0.01)
    if step == 19:
        store.save(step).wait(60)
journal = "store/.instride/journal.jsonl"
while not os.path.exists(journal) or open(journal).read().count('"kind":"step"') < 30:
    time.sleep(0.05)
os.kill(json.load(open("store/.instride/lock"))["writer_pid"], signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


class Training:
    """Steps that only the optimizer tells of."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        weight = torch.nn.Parameter(torch.ones(2))
        weight.grad = torch.ones(2)
        self.optimizer = torch.optim.SGD([weight], lr=0.1)
        self.saver = instride.Saver(directory, optimizer=self.optimizer)

    def step(self, times: int) -> None:
        for _ in range(times):
            self.optimizer.step()
            time.sleep(0.01)

    def close(self) -> None:
        self.saver.close()

    def restored(self) -> list[int | None]:
        return [line["step"] for line in lines_of(self.directory) if line["kind"] == "restored"]


def lines_of(directory: Path) -> list[dict[str, Any]]:
    text = (directory / ".instride" / "journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def read(directory: Path) -> Run:
    choice = choose([str(directory)], None, [])
    return read_with(choice.reader, choice.sources)


def lost_in(directory: Path) -> list[tuple[object, str]]:
    choice = choose([str(directory)], None, [])
    found = explain(read_with(choice.reader, choice.sources), choice.sources).findings
    return [(each.facts["steps"], each.confidence) for each in found if each.id == "lost"]


def test_what_a_killed_training_lost_is_known_to_the_step(tmp_path: Path) -> None:
    code, _ = run_to_any_end(tmp_path, KILLED)
    assert code == -signal.SIGKILL
    store = tmp_path / "store"

    again = Training(store)
    assert again.saver.restore() == 20
    again.step(15)
    again.close()

    assert list(read(store).step) == [*range(30), *range(20, 35)]
    assert lost_in(store) == [(10, "high")]
    assert again.restored() == [None, 19]


def test_a_training_that_goes_back_by_itself_is_followed(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(10)
    training.saver.save(9)
    training.step(15)
    assert training.saver.restore(step=9) == 10
    training.step(15)
    training.close()

    assert list(read(tmp_path).step) == [*range(25), *range(10, 25)]
    assert lost_in(tmp_path) == [(15, "high")]
    assert training.restored() == [9]


def test_a_writer_that_dies_takes_no_restore_with_it_and_doubles_none(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(10)
    training.saver.save(9).wait(60)
    training.step(5)
    training.saver.restore()
    os.kill(writer_of(training.saver), signal.SIGKILL)
    training.step(5)
    training.saver.save(14).wait(60)  # by the next one
    os.kill(writer_of(training.saver), signal.SIGKILL)
    training.step(5)
    training.saver.save(19).wait(60)
    training.close()

    assert training.restored() == [9]
    assert list(read(tmp_path).step) == [*range(15), *range(10, 20)]


def test_a_child_that_restores_says_nothing_of_its_parent(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(10)
    training.saver.save(9).wait(60)
    child = multiprocessing.get_context("fork").Process(target=training.saver.restore)
    child.start()
    child.join()
    training.step(10)
    training.close()

    assert child.exitcode == 0
    assert training.restored() == []
    assert list(read(tmp_path).step) == list(range(20))


def test_a_saver_that_was_closed_restores_in_silence(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(10)
    training.saver.save(9)
    training.close()

    assert training.saver.restore() == 10
    assert training.restored() == []


@pytest.mark.filterwarnings("ignore:instride. Linux lacks:RuntimeWarning")
def test_where_nothing_is_done_in_the_background_the_journal_says_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "is_possible", lambda: False)
    training = Training(tmp_path)
    assert training.saver.restore() == 0
    training.step(10)
    training.saver.save(9)
    training.step(12)
    training.close()
    again = Training(tmp_path)
    assert again.saver.restore() == 10
    again.step(15)
    again.close()

    assert again.restored() == [None, 9]
    assert list(read(tmp_path).step) == [*range(22), *range(10, 25)]
    assert lost_in(tmp_path) == [(12, "high")]
