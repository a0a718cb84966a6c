"""A whole file by `torch.save`, in the calling thread: where nothing better is possible."""

from __future__ import annotations

import io
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch

from instride.faults import reached
from instride.snapshot.pickling import refused_in
from instride.snapshot.runtime import await_devices
from instride.store.atomic import sync_file
from instride.store.manifest import read_token
from instride.store.naming import Written
from instride.store.verifying import PieceDigests

NUMBERS = (bool, int, float, complex)


class _HashedFile(io.RawIOBase):
    """A file whose bytes are hashed on their way: what is read back later is compared with them."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.digests = PieceDigests()

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self.digests.update(view)
        done = 0
        while done < len(view):
            done += self._file.write(view[done:])
        return len(view)

    def writable(self) -> bool:
        return True


def save_plainly(tree: object, temporary: Path, *, detached: bool) -> tuple[Written, list[str]]:
    """Write a durable file, and say what in it `weights_only` refuses. Raises OSError."""
    with io.FileIO(temporary, "x") as file:
        hashed = _HashedFile(file)
        await_devices()  # which may still be writing to memory of the host
        torch.save(_Plain(detached=detached).of(tree), hashed)
        sync_file(file.fileno())
    reached("synced")
    with temporary.open("rb") as file_again:
        unsafe = refused_in(file_again)
    size_bytes = temporary.stat().st_size
    return Written(size_bytes, hashed.digests.all(), read_token(temporary)), unsafe


class _Plain:
    """A tree as it is saved: tensors without what computed them, numbers instead of NumPy's."""

    def __init__(self, *, detached: bool) -> None:
        self._detached = detached
        self._done: dict[int, tuple[object, object]] = {}
        """By address: what was there, so that the address stays its own, and what is saved."""

    def of(self, value: Any) -> Any:
        if id(value) in self._done:
            return self._done[id(value)][1]
        if type(value) in (dict, OrderedDict):
            return self._mapping(value)
        if type(value) is list:
            copied: list[Any] = []
            self._done[id(value)] = (value, copied)
            copied.extend(map(self.of, value))
            return copied
        plain = self._leaf(value)
        self._done[id(value)] = (value, plain)
        return plain

    def _mapping(self, value: Any) -> Any:
        copied = type(value)()
        self._done[id(value)] = (value, copied)
        copied.update((self.of(key), self.of(each)) for key, each in value.items())
        if isinstance(value, OrderedDict):
            copied.__dict__.update(self.of(value.__dict__))
        return copied

    def _leaf(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(self.of, value))
        if self._detached and type(value) in (torch.Tensor, torch.nn.Parameter):
            return value.detach()
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            number = value.item()
            return number if type(number) in NUMBERS else value
        return value
