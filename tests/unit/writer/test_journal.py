"""The journal tells the time of the wall, and keeps the order of the monotonic clock."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from instride.writer import journal
from instride.writer.journal import Journal, journal_path
from instride.writer.page import NOBODYS, SharedPage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (path := journal_path(tmp_path)).parent.mkdir()
    return path


def in_order_of_time(path: Path) -> list[dict[str, Any]]:
    """A line may come a batch later than a step behind it: who reads them goes by their times."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(lines, key=lambda line: float(line["t"]))


def set_the_clock(monkeypatch: pytest.MonkeyPatch, ahead_s: Callable[[], float]) -> None:
    wall = SimpleNamespace(monotonic=time.monotonic, time=lambda: time.time() + ahead_s())
    monkeypatch.setattr(journal, "time", wall)


def test_a_save_stays_between_its_steps_while_the_clock_is_corrected(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a virtual machine that was held still: to and fro, by less than a second."""
    corrections = itertools.cycle([0.0, 0.4, -0.4])
    set_the_clock(monkeypatch, lambda: next(corrections))
    page = SharedPage.create()
    noted = Journal(path, page)
    for step in range(30):
        page.beat(step, time.monotonic())
        noted.note("call", time.monotonic(), step=step)
        noted.note("durable", step=step)
        time.sleep(0.05)  # through more than one of its batches
    noted.close()
    lines = in_order_of_time(path)
    assert [(line["step"], line["kind"]) for line in lines] == [
        (step, kind) for step in range(30) for kind in ("step", "call", "durable")
    ]
    steps = [line for line in lines if line["kind"] == "step"]
    for before, after in itertools.pairwise(steps):
        assert after["t"] - before["t"] == pytest.approx(after["s"], abs=1e-5)


def test_a_clock_that_was_set_is_followed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead_s = [0.0]
    set_the_clock(monkeypatch, lambda: ahead_s[0])
    noted = Journal(path, SharedPage.create())
    noted.note("before")
    while not path.exists():
        time.sleep(0.01)
    ahead_s[0] = 3600.0
    noted.note("after")
    noted.close()
    before, after = in_order_of_time(path)
    assert before["t"] == pytest.approx(time.time(), abs=60)
    assert after["t"] == pytest.approx(time.time() + 3600, abs=60)


def test_what_was_restored_stands_where_it_was_also_for_the_next_writer(path: Path) -> None:
    page = SharedPage.create()
    page.restored(None, 1.0)
    page.beat(-1, 2.0)
    Journal(path, page).close()
    page.restored(0, 3.0)
    Journal(path, page).close()  # it notes what the one before has not
    page.beat(-1, 4.0)
    Journal(path, page).close()

    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    told = [(line["kind"], line["step"], line.get("s")) for line in lines]
    assert told == [
        ("restored", None, None),
        ("step", -1, None),
        ("restored", 0, None),
        ("step", -1, 2.0),
    ]


def test_without_a_thread_the_steps_behind_the_last_line_are_written_at_the_end(path: Path) -> None:
    page = SharedPage(NOBODYS)
    noted = Journal(path, page, in_thread=False)
    noted.note("durable")
    page.beat(1, time.monotonic())
    noted.close()

    assert [line["kind"] for line in in_order_of_time(path)] == ["durable", "step"]


@pytest.mark.parametrize("in_thread", [True, False])
def test_once_it_is_closed_nothing_is_noted_and_nobody_is_disturbed(
    in_thread: bool, path: Path
) -> None:
    """Whoever saves then is told so by other means; the page is gone."""
    page = SharedPage(NOBODYS)
    noted = Journal(path, page, in_thread=in_thread)
    noted.note("durable")
    noted.close()
    page.close()

    noted.note("failed")
    noted.close()

    assert [line["kind"] for line in in_order_of_time(path)] == ["durable"]


def test_a_disk_that_answers_once_the_page_is_gone_ends_the_thread_in_peace(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, answers = threading.Event(), threading.Event()

    def hang(*arguments: Any) -> bool:
        hangs.set()
        return answers.wait(60)

    monkeypatch.setattr(journal, "append", hang)
    page = SharedPage(NOBODYS)
    noted = Journal(path, page)
    noted.note("durable")
    assert hangs.wait(60)
    noted.close(timeout_s=0)
    page.close()
    answers.set()

    assert noted._thread is not None
    noted._thread.join(60)  # what a thread raises fails the test
    assert not noted._thread.is_alive()
