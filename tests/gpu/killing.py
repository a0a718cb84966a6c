"""Trainings that are killed, or lose their writer: who is killed where, and what is promised."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from instride.faults import ARRIVE_PHASE, ONCE, VARIABLE
from tests.gpu.trainer import STEPS

PATIENCE_S = 240
KILLED_AT = 3
"""The save at which a trainer ends: what is kept from save to save is there by then."""
HANDED_OVER = "sent"
AFTER_THE_NAME = ("renamed", "linked", "verified", "deleted")
ARRIVED_BEFORE = {"cuda": 7, "cpu": 30}
"""A snapshot leaves a GPU in two steps at least, and in five at the most; on the host, in one for
each of its 12 MiB, and another one. So the one that is killed is not the first."""


class Kill(NamedTuple):
    """Phases at which a process kills itself, and where its state is."""

    trainer: str | None
    writer: str | None
    where: str = "room"
    device: str = "cuda"

    @property
    def name(self) -> str:
        return "-".join(filter(None, self))

    @property
    def faults(self) -> str:
        asked = []
        if self.trainer is not None:
            count = ARRIVED_BEFORE[self.device] if self.trainer == ARRIVE_PHASE else KILLED_AT
            asked.append(f"kill@{self.trainer}#{count}")
        if self.writer is not None:
            # Of the save at which the trainer ends, where it does; the first that is deleted is so
            # behind that one.
            is_later = self.trainer is not None and self.writer != "deleted"
            asked.append(f"kill@{self.writer}#{KILLED_AT if is_later else 1}")
        return ",".join(asked)

    def newest_after(self, committed: list[int]) -> int:
        """The step that a store must have, no older one and no newer; given what was told of."""
        if self.trainer is None:
            return STEPS[-1]  # the state is alive, and the next writer gets all of it again
        if self.trainer == ARRIVE_PHASE:
            return committed[-1]  # what has not left the GPU ends with the process that had it
        if self.trainer != HANDED_OVER:
            # Without the last message there is no pickle: nobody could read it.
            return KILLED_AT - 1
        # The last message is sent when all has been drained from the GPU. From there on, a snapshot
        # needs nothing but a writer that lives until it has its name.
        is_lost = self.writer is not None and self.writer not in AFTER_THE_NAME
        return KILLED_AT - 1 if is_lost else KILLED_AT


class Killed:
    """Trainings that end in that way, each in a folder of its own."""

    def __init__(self, folder: Path, kills: Iterable[Kill]) -> None:
        self._folder = folder
        self._on_gpus = [kill for kill in kills if kill.device == "cuda"]
        self._started: dict[Kill, subprocess.Popen[str]] = {}

    def store_of(self, kill: Kill) -> Path:
        return self._folder / kill.name / "store"

    def marker_of(self, kill: Kill) -> Path:
        """There if one of its processes came to the phase at which it kills itself."""
        return self._folder / kill.name / "killed"

    def end_of(self, kill: Kill) -> tuple[int, list[int]]:
        """How its training ended, and what it told to be committed before that."""
        if kill not in self._started:
            # Those on a GPU all at once: a process takes seconds to load torch, and a device is
            # shared. On the host this may be one of several processes that test, each with a few.
            for each in self._on_gpus if kill.device == "cuda" else [kill]:
                self._started[each] = self._start(each)
        told, _ = self._started[kill].communicate(timeout=PATIENCE_S)
        return self._started[kill].returncode, [int(line) for line in told.split()]

    def _start(self, kill: Kill) -> subprocess.Popen[str]:
        store = self.store_of(kill)
        store.parent.mkdir()
        environment = {**os.environ, VARIABLE: kill.faults}
        if None in (kill.trainer, kill.writer):  # else it would be the first of the two alone
            environment[ONCE] = str(self.marker_of(kill))
        return subprocess.Popen(
            [sys.executable, "-m", "tests.gpu.trainer", str(store), kill.device, kill.where],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def close(self) -> None:
        for process in self._started.values():
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
