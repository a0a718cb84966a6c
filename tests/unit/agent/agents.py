"""Checkpoints as scripts write them, and agents that nobody holds back."""

from __future__ import annotations

import io
import json
import random
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from instride.agent import settling
from instride.agent.configuration import Configuration
from instride.agent.reconciling import Agent
from instride.agent.telling import Progress
from instride.framed.reading import open_framed
from instride.pack.reading import PackFile
from instride.store.journal import journal_path

NUM_BYTES = 200_000


def checkpoint_bytes(seed: int = 1, num_bytes: int = NUM_BYTES) -> bytes:
    """What `torch.save` writes, as far as anybody here looks: stored records, directory last."""
    dice = random.Random(seed)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in (
            ("archive/data.pkl", dice.randbytes(1000)),
            ("archive/data/0", dice.randbytes(num_bytes // 2) + bytes(num_bytes // 2)),
        ):
            archive.writestr(zipfile.ZipInfo(name), data)  # without the time of day
    return buffer.getvalue()


def save(directory: Path, name: str, seed: int | None = None, num_bytes: int = NUM_BYTES) -> Path:
    path = directory / name
    path.write_bytes(
        checkpoint_bytes(zlib.crc32(name.encode()) if seed is None else seed, num_bytes)
    )
    return path


class Lines:
    """A reporter that remembers; `during` is called while a file is worked on."""

    def __init__(self, during: Any = None) -> None:
        self.lines: list[str] = []
        self._during = during

    def line(self, text: str) -> None:
        self.lines.append(text)

    def progress(self, progress: Progress | None) -> None:
        if self._during is not None and progress is not None:
            self._during(progress)

    def about(self, word: str) -> list[str]:
        return [line for line in self.lines if word in line]


def agent(directory: Path, lines: Lines | None = None, **settings: Any) -> Agent:
    """An agent without a governor, which waits for nothing."""
    settling.SETTLED_S = 0.0  # type: ignore[attr-defined]
    values: dict[str, Any] = {"directories": (directory,), "pattern": "step_*.pt", "budget": None}
    return Agent(Configuration(**{**values, **settings}), lines or Lines())


@contextmanager
def running(worker: Agent) -> Iterator[None]:
    """An agent in a thread of its own, stopped at the end."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join()


def run_once(directory: Path, **settings: Any) -> Lines:
    lines = Lines()
    agent(directory, lines, **settings).run(is_once=True)
    return lines


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))


def journal(directory: Path, kind: str) -> list[dict[str, object]]:
    lines = journal_path(directory).read_text().splitlines()
    return [line for each in lines if (line := json.loads(each))["kind"] == f"agent-{kind}"]


def holds(made: Path, data: bytes) -> bool:
    opened = PackFile(made) if made.suffix == ".pack" else open_framed(made)
    with opened as file:
        return file.read() == data


def until(is_so: Callable[[], bool], patience_s: float = 60.0) -> None:
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)
