"""What is kept of a device from save to save: a stream, kernels, locked memory of the host to leave
it by, and memory of its own for a snapshot.
"""

from __future__ import annotations

import threading

import torch

from instride.snapshot.blocks import WORDS
from instride.snapshot.device_memory import DeviceMemory
from instride.snapshot.gathering import Gatherer, gatherer_for
from instride.snapshot.ring import Ring
from instride.snapshot.seen import seen


class DeviceArena:
    """Of one device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)
        """What follows a snapshot runs here. There is one: the allocator keeps what was asked for
        on a stream for that stream."""
        self.memory = DeviceMemory(device)
        self.ring = Ring()
        self.gatherer: Gatherer | None = None
        """There once it was made ready, if it can be had."""
        self.may_be_late = True
        """Not any more once something wrote to what was to be copied late."""
        self._is_ready = False
        self._making_ready = threading.Lock()

    def make_ready(self) -> None:
        """Off the training thread: a driver loads a kernel when it is used for the first time, and
        all wait for that."""
        with torch.cuda.device(self.device), self._making_ready:
            if self._is_ready:
                return
            with torch.cuda.stream(self.stream):
                for kind in WORDS:
                    words = torch.zeros(2, dtype=kind, device=self.device)
                    torch._foreach_copy_([words[:1]], [words[1:]])
                self.ring.make_ready()
            self.gatherer = gatherer_for(self.device)
            self._is_ready = True

    def close(self) -> None:
        self.memory.close()
        self.ring.close()


class DeviceArenas:
    """Those of all devices that there was something to save on."""

    def __init__(self) -> None:
        self._arenas: dict[torch.device, DeviceArena] = {}
        self._lock = threading.Lock()

    def of(self, device: torch.device) -> DeviceArena:
        with self._lock:
            if device not in self._arenas:
                self._arenas[device] = DeviceArena(device)
            return self._arenas[device]

    @property
    def register_s(self) -> float:
        """How long nothing could be launched because memory was being locked to leave them by."""
        return sum(arena.ring.register_s for arena in self._all())

    def know_peak(self, *, is_known: bool) -> None:
        """Whether a step has shown by now how much training needs of the devices."""
        for arena in self._all():
            arena.memory.knows_peak = is_known

    def give_way(self) -> None:
        """By the thread that trains, every step."""
        for arena in self._all():
            arena.memory.give_way()

    def free_nothing_if_failed(self) -> None:
        """Before what was seen to be used may be let go of."""
        seen.never_free_if_failed(arena.stream for arena in self._all())

    def close_in_child(self) -> None:
        for arena in self._all():
            arena.ring.close_in_child()
            arena.memory.close_in_child()

    def close(self) -> None:
        for arena in self._all():
            arena.close()

    def _all(self) -> list[DeviceArena]:
        # Without the lock: a signal handler that saves may interrupt whoever has it, in any step.
        return list(self._arenas.values())
