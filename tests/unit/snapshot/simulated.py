"""GPUs that are not there: what their memory holds, as their streams change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from instride.snapshot.gathering import Moves
from tests.unit.snapshot.allocating import Memory, bytes_at
from tests.unit.snapshot.pretended import HOST, KINDS, Driver, Elsewhere
from tests.unit.snapshot.streams import Schedule

_NUMBERS = torch.randint(256, (2 << 20,), dtype=torch.uint8, generator=torch.manual_seed(1))


def bytes_of(number: int, num_bytes: int) -> torch.Tensor:
    """What memory holds that a number was written to."""
    return _NUMBERS[101 * number :][:num_bytes]


class Gpus(Memory):
    """All of torch that the code for GPUs calls."""

    def __init__(self, driver: Driver, schedule: Schedule) -> None:
        super().__init__(schedule)
        self.driver = driver
        self.free_bytes = 1 << 40
        self.is_full = False
        """Whatever was said to be free."""
        self._empty, self._to, self._copy = torch.empty, torch.Tensor.to, torch._foreach_copy_

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stands_in: dict[Any, dict[str, Any]] = {
            torch: {"empty": self.empty, "zeros": self.zeros, "_foreach_copy_": self.copy},
            torch.Tensor: {
                "to": lambda tensor, *to, **how: self.to(tensor, *to, **how),
                "is_pinned": lambda tensor: tensor.device == HOST and self._is_at_hand(tensor),
                "data_ptr": lambda tensor: self.address_of(tensor),
            },
            torch._C: {"_cuda_hasPrimaryContext": lambda index: True},
            torch.UntypedStorage: {
                "device": property(self.device_of),
                "data_ptr": lambda storage: self.start_of(storage),
            },
            Elsewhere: {
                "record_stream": lambda tensor, stream: self.record(tensor, stream),
                "fill_": lambda tensor, value: self.fill(tensor, value),
            },
            torch.cuda: {
                "Stream": self.new_stream,
                "Event": self.new_event,
                "current_stream": self.current_stream,
                "current_device": self.current_device,
                "device": self.on_device,
                "stream": self.on_stream,
                "MemPool": self.new_pool,
                "use_mem_pool": self.asked_of,
                "memory_snapshot": self.parts_of,
                "mem_get_info": lambda device: (self.free_bytes, 1 << 40),
                "memory_stats_as_nested_dict": lambda device: {},
                "get_per_process_memory_fraction": lambda device: 1.0,
                "get_allocator_backend": lambda: "native",
                "is_initialized": lambda: True,
                "device_count": lambda: len(KINDS) - 1,
                "synchronize": self.synchronize,
            },
        }
        for where, names in stands_in.items():
            for name, stand_in in names.items():
                monkeypatch.setattr(where, name, stand_in, raising=False)

    def empty(self, *size: int, device: torch.device = HOST, **how: Any) -> torch.Tensor:
        if device.type != "cuda":
            return self._empty(*size, device=device, **how)
        if self.is_full:
            raise torch.OutOfMemoryError("of the device")
        made = self._empty(*size, device=HOST, **how).as_subclass(KINDS[device])
        self.allocate(made.untyped_storage(), device)
        return made

    def zeros(self, *size: int, device: torch.device = HOST, **how: Any) -> torch.Tensor:
        made = self.empty(*size, device=device, **how)
        if device == HOST:
            return made.zero_()
        memory = self._memory_of(made)
        self.queue(self.current_stream(device), lambda: _do(memory.zero_))
        return made

    def to(self, tensor: torch.Tensor, *where: Any, **how: Any) -> torch.Tensor:
        if not where or getattr(where[0], "type", "") != "cuda":
            return self._to(tensor, *where, **how)
        made = self.empty(*tensor.shape, dtype=tensor.dtype, device=where[0])
        self.copy([made], [tensor], how.get("non_blocking", False))
        return made

    def write(self, tensor: torch.Tensor, number: int, *, is_counted: bool = True) -> None:
        """By a kernel on the current stream. Those that torch knows nothing of, it cannot count."""
        with self.lock:
            memory, values = self._memory_of(tensor), bytes_of(number, tensor.nbytes)
            self.queue(self.current_stream(tensor.device), lambda: _do(memory.copy_, values))
        if is_counted:
            torch.autograd.graph.increment_version(tensor)

    def fill(self, tensor: torch.Tensor, value: int) -> None:
        """Of one value in a table."""
        with self.lock:
            memory = self._memory_of(tensor)
            number = torch.tensor([value], dtype=tensor.dtype, device=HOST).view(torch.uint8)
            self.queue(self.current_stream(tensor.device), lambda: _do(memory.copy_, number))

    def resize(self, tensor: torch.Tensor, num_bytes: int) -> None:
        """Let go of the memory of a storage, as FSDP does, and take other memory for it."""
        with self.lock:
            storage = tensor.untyped_storage()
            self.let_go(self.allocations.pop(storage._cdata))
            storage.resize_(num_bytes)
            self.allocate(storage, tensor.device)

    def copy(
        self, places: list[torch.Tensor], pieces: list[torch.Tensor], non_blocking: bool = False
    ) -> None:
        with self.lock:
            devices = {each.device for each in (*places, *pieces)} - {HOST}
            if not devices:
                self._copy(places, pieces, non_blocking)
                return
            to = [self._memory_of(place) for place in places]
            of = [self._as_read(piece) for piece in pieces]
            (device,) = devices
            crosses = any(each.device == HOST for each in (*places, *pieces))
            # What is not locked for the device is not written to behind anybody's back.
            is_awaited = crosses and not (non_blocking and all(map(self._is_at_hand, places)))
            task = self.queue(self.current_stream(device), lambda: self._copy(to, of))
            if is_awaited:
                self.finish(task)

    def gather(self, moves: Moves, memory: torch.Tensor) -> None:
        """As the kernel does it, which looks at its table once it runs."""
        with self.lock:
            table, to = self._memory_of(moves.table), self._memory_of(memory)
            alive = list(self.allocations.values())

            def do() -> None:
                for address, place, num_bytes, _ in table.view(torch.int64).view(-1, 4).tolist():
                    to[place:][:num_bytes].copy_(bytes_at(address, num_bytes, alive))

            self.queue(self.current_stream(memory.device), do)

    def _memory_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Its bytes, without the storage: it does not live on for what was queued."""
        if tensor.device == HOST:
            return tensor.view(-1).view(torch.uint8)
        found = self.allocations[tensor.untyped_storage()._cdata]
        start = tensor.data_ptr() - found.address
        if start + tensor.nbytes > found.bytes.numel():
            raise RuntimeError("CUDA error: invalid argument")
        return found.bytes[start:][: tensor.nbytes]

    def _as_read(self, piece: torch.Tensor) -> torch.Tensor:
        memory = self._memory_of(piece)
        return memory if self._is_at_hand(piece) else memory.clone()

    def _is_at_hand(self, tensor: torch.Tensor) -> bool:
        """Whether a device gets at it by itself."""
        if tensor.device != HOST:
            return True
        first, last = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
        locked = [
            (start, start + size)
            for start, size in list(self.driver.locked.items())
            if start < last and first < start + size
        ]
        if locked and not locked[0][0] <= first <= last <= locked[0][1]:
            raise RuntimeError("CUDA error: invalid argument")
        return bool(locked)


def _do(what: Callable[..., object], *values: object) -> None:
    what(*values)
