"""The governor of an agent: what it listens to, and what it is told of each file."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from instride.agent.configuration import Configuration
from instride.agent.status import CostEntry
from instride.governor.governing import Governor
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
REMEMBERED = 8


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


class Arrivals:
    """When checkpoints came, to tell when the next one will."""

    def __init__(self) -> None:
        self._times_s: deque[float] = deque(maxlen=REMEMBERED)

    def saw(self, mtimes_ns: Sequence[int]) -> None:
        known = {*self._times_s, *(mtime / 1e9 for mtime in mtimes_ns)}
        self._times_s = deque(sorted(known), maxlen=REMEMBERED)

    def next_s(self) -> float | None:
        """By the monotonic clock; None where two were not seen, or the next one is overdue."""
        times = list(self._times_s)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        if not gaps:
            return None
        left_s = times[-1] + median(gaps) - time.time()
        return time.monotonic() + left_s if left_s > 0 else None


class Governing:
    """A governor around each file, and a pace that nobody sets where there is none."""

    def __init__(self, configuration: Configuration, note: Callable[[Decision], None]) -> None:
        self.pace = Pace()
        self.gentle = Pace()
        """For reading back, which no training should feel, and which must not wait for its end."""
        self.gentle.set(Setting(threads=1, bytes_per_s=GENTLE_BYTES_PER_S))
        self.trainers = Trainers()
        self.num_threads = num_threads(configuration.level)
        self._deadline_s = configuration.deadline_s
        self._governor: Governor | None = None
        if configuration.budget is not None:
            self._governor = Governor(
                self.pace,
                self._signals(configuration),
                budget=configuration.budget,
                mode=configuration.mode,
                most_threads=self.num_threads,
                note=note,
            )
            self._governor.start()

    def _signals(self, configuration: Configuration) -> Signals:
        if configuration.log is None:
            return Signals(trainer_pids=self.trainers.alive)
        from instride.governor.tail import LogSteps  # the readers are not needed without a log

        return Signals(steps=LogSteps(configuration.log), trainer_pids=self.trainers.alive)

    def begin(self, num_bytes: int, arrivals: Arrivals) -> None:
        if self._governor is None:
            return
        deadline_s = arrivals.next_s()
        if self._deadline_s is not None:
            deadline_s = time.monotonic() + self._deadline_s
        self._governor.begin(num_bytes, deadline_s)

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
