"""What is no UTF-8, or cannot be written at all, is lost alone: what comes behind it is told."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from instride.store.journal import append
from instride.writer import journal
from instride.writer.journal import Journal, journal_path
from instride.writer.page import JOURNALED, SharedPage
from instride.writer.protocol import Failed, Notice, ToTrainer, ToWriter, Wire
from instride.writer.sayable import sayable
from instride.writer.telling import Told

NAME = os.fsdecode(b"m\xff.pt")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(journal, "EVERY_S", 0.01)
    (path := journal_path(tmp_path)).parent.mkdir()
    return path


def lines_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_value_can_be_written() -> None:
    assert sayable(NAME) == "m\\udcff.pt"
    assert sayable([NAME, "m.pt"]) == ["m\\udcff.pt", "m.pt"]
    for value in ("Größe 学習.pt", 3, 0.5, None, True):
        assert sayable(value) == value


def test_a_name_that_is_no_utf8_is_in_the_journal_and_what_comes_behind_it_too(path: Path) -> None:
    page = SharedPage.create()
    noted = Journal(path, page)
    noted.note("swept", names=[NAME, "other"])
    noted.note("damaged", path=NAME)
    while not path.exists():
        assert noted._thread is not None
        assert noted._thread.is_alive()
        time.sleep(0.001)
    page.beat(1, time.monotonic())
    noted.note("durable", id=1)
    noted.close()
    lines = lines_in(path)
    assert [line["kind"] for line in lines] == ["swept", "damaged", "step", "durable"]
    assert lines[0]["names"] == ["m\\udcff.pt", "other"]
    assert lines[1]["path"] == "m\\udcff.pt"
    assert page[JOURNALED] == 1


def test_a_line_that_cannot_be_written_at_all_takes_no_other_one_with_it(path: Path) -> None:
    noted = Journal(path, SharedPage.create())
    noted.note("durable", id=1)
    noted.note("odd", what=object())  # type: ignore[arg-type]
    noted.note("durable", id=2)
    noted.close()
    lines = lines_in(path)
    assert [line["kind"] for line in lines] == ["durable", "unsayable", "durable"]
    assert lines[1]["of"] == "odd"


def test_a_failure_of_any_kind_does_not_end_the_journal(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[MemoryError] = []
    have_been = threading.Event()

    def append_later(*arguments: Any) -> bool:
        if len(failures) < 3:
            failures.append(MemoryError())
            raise failures[-1]
        have_been.set()
        return append(*arguments)

    monkeypatch.setattr(journal, "append", append_later)
    noted = Journal(path, SharedPage.create())
    noted.note("lost")
    while len(failures) < 3:
        assert noted._thread is not None
        assert noted._thread.is_alive()
    noted.note("durable", id=1)
    assert have_been.wait(60)
    noted.close()
    assert lines_in(path)[-1]["kind"] == "durable"


@pytest.mark.parametrize(
    "message", [Failed(1, "step.pt", f"RuntimeError: {NAME}", None), Notice("a", NAME, NAME)]
)
def test_the_trainer_hears_of_a_name_that_is_no_utf8(message: Failed | Notice) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        Told(Wire(theirs, ToWriter), None).tell(message)
        heard = Wire(ours, ToTrainer).receive()
    assert isinstance(heard, type(message))
    assert "m\\udcff.pt" in (heard.why if isinstance(heard, Failed) else heard.text)
