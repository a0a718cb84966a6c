"""A writer that could not be started is tried again by the next save, and may answer at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from instride.saver import courier
from instride.writer.protocol import Committed, Finish, Hello, Ready, ToWriter
from tests.crash.trainings import engine_of

pytestmark = pytest.mark.torch


class AtOnce:
    """A line to a writer in memory, which has answered before anybody can look."""

    opening = ""
    """What becomes of each that is opened next: `r` it is ready, `E` it cannot be started."""

    def __init__(
        self,
        hello: Hello,
        descriptors: list[int],
        hear: Callable[[object], None],
        on_end: Callable[[AtOnce], None],
    ) -> None:
        self._hear = hear
        self._on_end = on_end
        self.last_words = ""
        self.process = SimpleNamespace(pid=1)

    def open(self) -> None:
        what, AtOnce.opening = AtOnce.opening[0], AtOnce.opening[1:]
        if what == "E":
            raise OSError("no processes are left")
        self._hear(Ready(1, None))

    def end(self) -> None:
        self._on_end(self)

    def send(self, message: ToWriter) -> None:
        if isinstance(message, Finish):
            self._hear(Committed(message.id, "x.pt", 1, 0.0, 0.0))

    def await_end(self, timeout: float | None) -> bool:
        return True

    def close(self) -> None:
        pass


@pytest.fixture
def given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> instride.Saver:
    """A Saver whose writer is gone, and no other could be started."""
    monkeypatch.setattr(courier, "Line", AtOnce)
    monkeypatch.setattr(courier, "PAUSE_S", 0.0)
    monkeypatch.setattr(AtOnce, "opening", "r" + "E" * courier.MOST_RESTARTS)
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    line: AtOnce = engine_of(saver).courier._line  # type: ignore[assignment]
    line.end()
    with pytest.raises(SaveFailedError, match="no processes are left"):
        engine_of(saver).await_store(0)
    return saver


def test_an_answer_that_comes_while_it_is_started_is_not_lost(given_up: instride.Saver) -> None:
    AtOnce.opening = "r"
    with given_up as saver:
        saver.save(1).wait(60)
        assert engine_of(saver).await_store(0)


def test_what_cannot_be_started_again_is_known_at_once(given_up: instride.Saver) -> None:
    AtOnce.opening = "EEr"
    with given_up as saver:
        for step in (1, 2):
            with pytest.raises(SaveFailedError, match="no processes are left"):
                saver.save(step).wait(60)
            with pytest.raises(SaveFailedError, match="no processes are left"):
                engine_of(saver).await_store(0)
        saver.save(3).wait(60)
