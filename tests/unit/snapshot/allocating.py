"""Memory of GPUs that are not there, as the allocator of torch hands it out.

Its bytes lie aside, and have addresses that are nobody's on the host. What is let go of is poisoned
as soon as it could be somebody else's: when the stream that it was asked for on, and those that it
was recorded on, have come to the place where it was let go of. Whoever asks for as much on that
stream gets it again, at its old place, once those that it was recorded on have.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from tests.unit.snapshot.pretended import HOST
from tests.unit.snapshot.streams import Schedule, Stream, Streams

POISON = 0xEE


class Place:
    """Where memory of a device lies, and what is there."""

    _next_address = count(1 << 50, 1 << 30)

    def __init__(self, num_bytes: int) -> None:
        self.address = next(self._next_address) if num_bytes else 0
        self.bytes = torch.full((num_bytes,), POISON, dtype=torch.uint8, device=HOST)

    def poison(self) -> None:
        self.bytes.fill_(POISON)


class Allocation:
    """Memory of a device, until it is somebody else's."""

    def __init__(
        self, storage: torch.UntypedStorage, place: Place, stream: Stream, pool: Pool | None
    ) -> None:
        self.storage = StorageWeakRef(storage)
        self.place = place
        self.address, self.bytes = place.address, place.bytes
        self.stream = stream
        self.others: set[Stream] = set()
        """Those that it was recorded on."""
        self.device = stream.device
        self.pool = pool


class Pool:
    """Of the device that was current when it was made."""

    _ids = count()

    def __init__(self, device: torch.device) -> None:
        self.id = (0, next(self._ids))
        self.device = device


class Memory(Streams):
    """Of all devices: which storage has which of it."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(schedule)
        self.allocations: dict[int, Allocation] = {}
        self._let_go_of: list[Allocation] = []
        """What may be given to whoever asks for as much, the last one first."""
        self.holds_up = False
        """As long as anybody captures: what others were recorded on is nobody's until it ends."""
        self._held_up: list[Allocation] = []
        self._pool: Pool | None = None
        self._data_ptr, self._start = torch.Tensor.data_ptr, torch.UntypedStorage.data_ptr

    def allocate(self, storage: torch.UntypedStorage, device: torch.device) -> None:
        is_there = self._pool is None or device == self._pool.device == self._here.device
        assert is_there, "a pool is one of the current device, and is asked for memory of that"
        with self.lock:
            self.look()
            stream = self.current_stream(device)
            place = self._place_for(storage.nbytes(), stream)
            self.allocations[storage._cdata] = Allocation(storage, place, stream, self._pool)

    def _place_for(self, num_bytes: int, stream: Stream) -> Place:
        for each in reversed(self._let_go_of):
            if (len(each.bytes), each.stream, each.pool) == (num_bytes, stream, self._pool):
                self._let_go_of.remove(each)
                return each.place
        return Place(num_bytes)

    def let_go(self, allocation: Allocation) -> None:
        """On the stream that it was asked for on, the next one comes behind it in any case."""
        if self.holds_up and allocation.others:
            self._held_up.append(allocation)
            return
        self.once_passed({allocation.stream, *allocation.others}, allocation.place.poison)
        if allocation.address:
            self.once_passed(allocation.others, lambda: self._let_go_of.append(allocation))

    def new_pool(self, use_on_oom: bool = False) -> Pool:
        return Pool(self._here.device)

    def record(self, tensor: torch.Tensor, stream: Stream) -> None:
        found = self.allocations[tensor.untyped_storage()._cdata]
        if stream is not found.stream:
            found.others.add(stream)

    def look(self) -> None:
        """Also for what nobody refers to any more."""
        for key, allocation in list(self.allocations.items()):
            if allocation.storage.expired():
                self.let_go(self.allocations.pop(key))
        super().look()

    def device_of(self, storage: torch.UntypedStorage) -> torch.device:
        found = self.allocations.get(storage._cdata)
        return HOST if found is None else found.device

    def start_of(self, storage: torch.UntypedStorage) -> int:
        found = self.allocations.get(storage._cdata)
        return int(self._start(storage)) if found is None else found.address

    def address_of(self, tensor: torch.Tensor) -> int:
        found = self.allocations.get(tensor.untyped_storage()._cdata)
        if found is None:
            return int(self._data_ptr(tensor))
        return found.address + int(tensor.storage_offset() * tensor.itemsize)

    @contextmanager
    def asked_of(self, pool: Pool) -> Iterator[None]:
        self._pool = pool
        try:
            yield
        finally:
            self._pool = None

    def parts_of(self, id: tuple[int, int], **_: bool) -> list[dict[str, int]]:
        with self.lock:
            self.look()
            alive = self.allocations.values()
            return [{"active_size": len(it.bytes)} for it in alive if it.pool and it.pool.id == id]


def bytes_at(address: int, num_bytes: int, alive: list[Allocation]) -> torch.Tensor:
    """For whoever only has the address."""
    for each in alive:
        start = address - each.address
        if start >= 0 and start + num_bytes <= len(each.bytes):
            return each.bytes[start:][:num_bytes]
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
