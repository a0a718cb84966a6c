"""Whether a GPU still has work of a step to do: what cannot be launched meanwhile nobody misses.

A loop launches a step in a part of the time that the GPU takes for it, and waits for the rest, or
runs ahead. While memory is being locked nothing can be launched; where that is done while the GPU
has a backlog, and the loop may launch a little between any two pieces, the GPU never runs dry.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import torch


class Backlog:
    """Of one GPU, as far as somebody marks the ends of steps, and somebody else wants to know."""

    def __init__(self) -> None:
        self._watched: tuple[torch.device, torch.cuda.Event] | None = None
        self.is_marked = False
        """Whether a step was marked since it is watched."""
        self._waiting: set[object] = set()
        """Whoever waits: without a lock, which a signal handler might find taken for ever."""
        # Can be put to by a signal handler that interrupts whoever puts something there.
        self._marks: SimpleQueue[None] = SimpleQueue()

    @contextmanager
    def watched(self, device: torch.device) -> Iterator[None]:
        """Meanwhile steps are marked, for a few microseconds each."""
        self._marks, self.is_marked = SimpleQueue(), False
        self._watched = device, torch.cuda.Event()
        try:
            yield
        finally:
            self.forget()

    def forget(self) -> None:
        """Nobody wants to know any more; in a forked child, nobody is left who could."""
        self._watched = None

    def mark(self) -> None:
        """By the thread that trains, once it has launched a step."""
        watched = self._watched
        if watched is None:
            return
        device, event = watched
        try:
            with torch.cuda.device(device):
                if torch.cuda.is_current_stream_capturing():
                    return  # it would be a part of the graph, and tell nothing
                event.record()
        except RuntimeError:  # whatever is wrong with the GPU, training has to say so, not this
            self.forget()
            return
        self.is_marked = True
        self._marks.put(None)

    @contextmanager
    def training_waits(self) -> Iterator[None]:
        """Meanwhile nothing is to be launched by the thread that trains, whatever the GPU does."""
        who = object()
        try:
            self._waiting.add(who)
            if self._watched is not None:
                self._marks.put(None)
            yield
        finally:
            self._waiting.discard(who)

    @property
    def is_left(self) -> bool:
        """Whether the last step that was marked is not over yet, or the next one is waited with."""
        watched = self._watched
        if watched is None:
            return False
        try:
            return bool(self._waiting) or not watched[1].query()
        except RuntimeError:  # as above
            self.forget()
            return False

    def await_some(self, timeout_s: float) -> bool:
        """Until there is some, but no longer than that; whether there is."""
        deadline_s = time.monotonic() + timeout_s
        while not self.is_left:
            try:
                self._marks.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except Empty:
                return False
        return True
