"""Streams of GPUs that are not there. What is queued is done as late, as early or as strangely as a
schedule likes, and CUDA allows: in order on each stream, and behind the events that it waits for.

Nobody ever waits for another thread here: whoever waits for an event does what comes before it.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from tests.unit.snapshot.pretended import FIRST


class Task:
    """What a stream does once all is done that was queued there before."""

    def __init__(self, stream: Stream, do: Callable[[], None], after: Task | None) -> None:
        self.stream = stream
        self.do = do
        self.after = after
        """Of another stream, to be done first."""
        self.is_done = False


class Stream:
    def __init__(self, streams: Streams, device: torch.device, *, computes: bool = False) -> None:
        self._streams = streams
        self.device = device
        self.computes = computes
        self.tasks: deque[Task] = deque()
        self.last: Task | None = None
        """The one that was queued last, done or not."""
        streams.all.append(self)

    @property
    def cuda_stream(self) -> int:
        return id(self)

    def wait_event(self, event: Event) -> None:
        self._streams.queue(self, after=event.recorded)

    def wait_stream(self, other: Stream) -> None:
        self._streams.queue(self, after=other.last)

    def query(self) -> bool:
        return self.last is None or self.last.is_done

    def synchronize(self) -> None:
        self._streams.finish(self.last)


class Event:
    """One that was never recorded keeps nobody waiting, as it is with CUDA."""

    def __init__(self, streams: Streams, blocking: bool = False) -> None:
        self._streams = streams
        self.recorded: Task | None = None

    def record(self, stream: Stream | None = None) -> None:
        stream = stream or self._streams.current_stream()
        if self.recorded is not None:
            assert self.recorded.stream.device == stream.device, "an event is one of a device"
        self.recorded = self._streams.queue(stream)

    def query(self) -> bool:
        return self.recorded is None or self.recorded.is_done

    def synchronize(self) -> None:
        self._streams.finish(self.recorded)


Schedule = Callable[[Stream], bool]
"""Whether a stream goes on by itself, where it may; if not, it does what somebody waits for."""


def by_chance(seed: int) -> Schedule:
    chance = random.Random(seed)
    return lambda stream: chance.random() < 0.4


SCHEDULES: dict[str, Callable[[], Schedule]] = {
    "as late as possible": lambda: lambda stream: False,
    "training last": lambda: lambda stream: not stream.computes,
    "training first": lambda: lambda stream: stream.computes,
    **{f"by chance {seed}": lambda seed=seed: by_chance(seed) for seed in range(2)},  # type: ignore[misc]
}


class _Here(threading.local):
    """What is current in a thread."""

    def __init__(self) -> None:
        self.device = FIRST
        self.streams: dict[torch.device, Stream] = {}


class Streams:
    """Those of all devices, each of which has one that computes, for all threads."""

    def __init__(self, schedule: Schedule) -> None:
        self.all: list[Stream] = []
        self.in_use: set[torch.device] = set()
        """By who makes a stream of theirs the current one, or leaves them with it: that takes half
        a gigabyte."""
        self.lock = threading.RLock()
        self._schedule = schedule
        self._computing: dict[torch.device, Stream] = {}
        self._here = _Here()
        self._watched: list[tuple[list[Task], Callable[[], None]]] = []

    def new_stream(self, device: torch.device | None = None, priority: int = 0) -> Stream:
        with self.lock:
            return Stream(self, device or self._here.device)

    def new_event(self, blocking: bool = False) -> Event:
        return Event(self, blocking)

    def current_stream(self, device: torch.device | None = None) -> Stream:
        device = device or self._here.device
        with self.lock:
            if device not in self._computing:
                self._computing[device] = Stream(self, device, computes=True)
            return self._here.streams.get(device, self._computing[device])

    def current_device(self) -> int:
        return int(self._here.device.index)

    @contextmanager
    def on_device(self, device: torch.device | int) -> Iterator[None]:
        before = self._here.device
        self._here.device = torch.device("cuda", device) if isinstance(device, int) else device
        try:
            yield
        finally:
            self._here.device = before

    @contextmanager
    def on_stream(self, stream: Stream) -> Iterator[None]:
        left = self._here.device
        with self.on_device(stream.device):
            before = self.current_stream()
            self._here.streams[stream.device] = stream
            self.in_use.add(stream.device)
            try:
                yield
            finally:
                self._here.streams[stream.device] = before
                self.in_use.add(left)  # torch sets the one that was current there as well

    def queue(
        self, stream: Stream, do: Callable[[], None] = lambda: None, after: Task | None = None
    ) -> Task:
        with self.lock:
            self.look()
            stream.last = task = Task(stream, do, after)
            stream.tasks.append(task)
            self._go_on()
            return task

    def _go_on(self) -> None:
        """By the schedule; again once more is done, which somebody may have waited for."""
        has_gone_on = True
        while has_gone_on:
            has_gone_on = False
            for stream in self.all:
                while self._may_go_on(stream) and self._schedule(stream):
                    self._do_next(stream)
                    has_gone_on = True

    def _may_go_on(self, stream: Stream) -> bool:
        if not stream.tasks:
            return False
        awaited = stream.tasks[0].after
        return awaited is None or awaited.is_done

    def _do_next(self, stream: Stream) -> None:
        task = stream.tasks.popleft()
        task.is_done = True
        task.do()
        self.look()

    def finish(self, task: Task | None) -> None:
        """What somebody waits for, and all that must be done before it; nothing else."""
        with self.lock:
            self.look()
            while task is not None and not task.is_done:
                self.finish(task.stream.tasks[0].after)
                self._do_next(task.stream)

    def synchronize(self, device: torch.device | None = None) -> None:
        """One device, or all of them."""
        for stream in self.all:
            if device in (None, stream.device):
                stream.synchronize()

    def once_passed(self, streams: set[Stream], do: Callable[[], None]) -> None:
        """As soon as all of them have done what is queued now."""
        with self.lock:
            self._watched.append(([each.last for each in streams if each.last is not None], do))

    def look(self) -> None:
        """Whether somebody has."""
        for watched in [each for each in self._watched if all(task.is_done for task in each[0])]:
            self._watched.remove(watched)
            watched[1]()
