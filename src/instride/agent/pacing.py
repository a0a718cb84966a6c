"""The governor of an agent: what it listens to, and what it is told of each file."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from instride.agent.arrivals import Arrivals
from instride.agent.configuration import Configuration
from instride.agent.status import CostEntry
from instride.governor.governing import Governor
from instride.governor.gpu import GpuGauge
from instride.governor.model import Cost, Decision
from instride.governor.pace import Pace, Setting
from instride.governor.signals import Signals
from instride.store.lock import started_at
from instride.system.cores import usable_cores

MOST_THREADS = 4
MEMORY_BYTES = 256 << 20
OWN_BYTES = 80 << 20
"""Of Python and what it has loaded."""
THREAD_BYTES = {16: 110 << 20, 10: 80 << 20, 0: 40 << 20}
"""What a thread takes from a level of zstd on: its tables, and the frames it holds."""
GENTLE_BYTES_PER_S = 128e6
CODEC_STEPS = {"zstd": 2, "lz4": 2, "pack": 1}
"""How much lighter each can be: a block of a pack is packed, or stored as it is."""


def num_threads(level: int) -> int:
    """As many as there are cores, and as fit into the memory that the agent allows itself."""
    each = next(size for least, size in THREAD_BYTES.items() if level >= least)
    fitting = (MEMORY_BYTES - OWN_BYTES) // each
    return max(1, min(MOST_THREADS, usable_cores(), fitting))


class Trainers:
    """The processes that were seen writing checkpoints, or the log."""

    def __init__(self) -> None:
        self._started: dict[int, int] = {}

    def saw(self, pids: Sequence[int] | set[int]) -> None:
        for pid in pids:
            started = started_at(pid)
            if started is not None:
                self._started[pid] = started

    def alive(self) -> list[int] | None:
        """Those that still run; None while none was ever seen."""
        if not self._started:
            return None
        return [pid for pid, started in self._started.items() if started_at(pid) == started]


def signals(configuration: Configuration, trainers: Trainers) -> Signals:
    """All that can be seen of the training from outside."""
    steps = None
    if configuration.log is not None:
        from instride.governor.tail import LogSteps  # the readers are not needed without a log

        steps = LogSteps(configuration.log)
    return Signals(steps, trainers.alive, GpuGauge())


class Governing:
    """A governor around each file, and a pace that nobody sets where there is none."""

    def __init__(self, configuration: Configuration, note: Callable[[Decision], None]) -> None:
        self.pace = Pace()
        self.gentle = Pace()
        """For reading back, which no training should feel, and which must not wait for its end."""
        self.gentle.set(Setting(threads=1, bytes_per_s=GENTLE_BYTES_PER_S))
        self.trainers = Trainers()
        self.num_threads = num_threads(configuration.level)
        self._configuration = configuration
        self._is_due = False
        """Whether the file at work has a deadline."""
        self._governor: Governor | None = None
        if configuration.budget is not None:
            self._governor = Governor(
                self.pace,
                signals(configuration, self.trainers),
                budget=configuration.budget,
                mode=configuration.mode,
                most_threads=self.num_threads,
                num_codec_steps=CODEC_STEPS[configuration.format],
                note=note,
            )
            self._governor.start()

    def begin(self, name: str, num_bytes: int, arrivals: Arrivals) -> None:
        """A checkpoint of that name is about to be worked on."""
        if self._governor is not None:
            deadline_s = self._deadline_of(name, arrivals)
            self._is_due = deadline_s is not None
            self._governor.begin(num_bytes, deadline_s)

    def look_again(self, name: str, arrivals: Arrivals) -> None:
        """Another checkpoint may have come meanwhile, which tells how often they do."""
        if self._governor is not None and not self._is_due:
            deadline_s = self._deadline_of(name, arrivals)
            self._is_due = deadline_s is not None
            self._governor.expect(deadline_s)

    def _deadline_of(self, name: str, arrivals: Arrivals) -> float | None:
        """By the monotonic clock. `after` is held up by nothing but a deadline that was given: the
        next checkpoint comes while the training runs."""
        left_s = self._configuration.deadline_s
        if left_s is None and self._configuration.mode == "share":
            left_s = arrivals.left_s(name)
        return None if left_s is None else time.monotonic() + left_s

    def end(self) -> Cost | None:
        return self._governor.end() if self._governor is not None else None

    def decision(self) -> Decision | None:
        return self._governor.decision if self._governor is not None else None

    def cost(self) -> CostEntry | None:
        """Of everything so far."""
        cost = self._governor.total_cost() if self._governor is not None else None
        if cost is None:
            return None
        return CostEntry(cost.share, cost.plus_minus, cost.seconds, cost.text())

    def stop(self) -> None:
        """Let everything that waits for a turn end at once."""
        self.pace.stop()
        self.gentle.stop()

    def close(self) -> None:
        if self._governor is not None:
            self._governor.close()
