"""Pickling a frozen tree as `torch.save` does, without its data: off the training thread.

torch's own serializer does it. It is given tensors whose storages are addresses without memory
behind them, and a pickler that writes down the key under which each storage lies in our image.
"""

from __future__ import annotations

import copyreg
import io
import mmap
import pickle
import re
import zipfile
from types import SimpleNamespace
from typing import Any, NoReturn

import torch

from instride.snapshot.freezing import Frozen
from instride.snapshot.planning import Plan, Spec

ALIGNMENT = 64
PROTOCOL = 2
STORAGES = (torch.TypedStorage, torch.UntypedStorage)
GLOBAL = re.compile(rb"c([\w.]+)\n([\w.]+)\n")
"""How a pickle of this protocol names a class or a function; texts may look like one too."""
MAP_NORESERVE = 0x4000  # Python has no name for it before 3.13


class _PickledError(Exception):
    """Ends `torch.save` once the pickle is made: the archive is ours to write."""


class Skeletons:
    """Tensors that stand for those of a plan in a pickle."""

    def __init__(self, plan: Plan) -> None:
        self._keys: dict[int, int] = {}
        self._locations = plan.locations
        storages = self._storages(plan.sizes)
        self.tensors = [_stand_in(spec, storages[spec.storage]) for spec in plan.specs]
        self._ours = set(map(id, self.tensors))
        self._reduced: dict[int, Any] = {}
        self._verdicts: dict[frozenset[tuple[bytes, bytes]], list[str]] = {}

    def _storages(self, sizes: list[int]) -> list[torch.UntypedStorage]:
        total = sum(-(-max(size, 1) // ALIGNMENT) * ALIGNMENT for size in sizes) or ALIGNMENT
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        nothing = memoryview(mmap.mmap(-1, total, flags=flags))
        storages = []
        offset = 0
        for key, size in enumerate(sizes):
            storage = (
                torch.frombuffer(nothing, dtype=torch.uint8, count=size, offset=offset)
                if size
                else torch.empty(0, dtype=torch.uint8)
            ).untyped_storage()
            self._keys[storage._cdata] = key
            storages.append(storage)
            offset += -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
        self._kept = storages
        return storages

    def pickle(self, frozen: Frozen) -> tuple[bytes, list[str]]:
        """The `data.pkl` of a frozen tree, and what in it `weights_only` refuses."""
        pickled = io.BytesIO()
        tree = frozen.thaw(self.tensors)
        pickler = _pickler(self, pickled)
        module = SimpleNamespace(__name__="instride", Pickler=pickler)
        try:
            torch.save(tree, io.BytesIO(), pickle_module=module)
        except _PickledError:
            data = pickled.getvalue()
            return data, self._refused(data)
        raise AssertionError("torch.save did not use the pickler that it was given")

    def _refused(self, data: bytes) -> list[str]:
        """What `weights_only` refuses; torch is asked once for each set of names."""
        names = frozenset(GLOBAL.findall(data))
        if names not in self._verdicts:
            self._verdicts[names] = refused_globals(data)
        return self._verdicts[names]

    def reduce(self, tensor: torch.Tensor) -> Any:
        """What torch pickles for a tensor; asked for once, since it is the same every time."""
        reduced = self._reduced.get(id(tensor))
        if reduced is None:
            reduced = tensor.__reduce_ex__(PROTOCOL)
            if id(tensor) in self._ours:
                self._reduced[id(tensor)] = reduced
        return reduced

    def name(self, told: Any, storage: Any) -> Any:
        """A storage as the pickle refers to it: torch's word, with our key and its real place."""
        key = self._keys[getattr(storage, "_untyped_storage", storage)._cdata]
        kind, storage_type, _, _, numel = told
        return (kind, storage_type, str(key), self._locations[key], numel)


def _pickler(skeletons: Skeletons, into: io.BytesIO) -> type[pickle.Pickler]:
    class Pickler(pickle.Pickler):
        """What torch derives its own pickler from."""

        def __init__(self, file: object, protocol: int) -> None:
            super().__init__(into, protocol=protocol)
            self.dispatch_table = {
                **copyreg.dispatch_table,
                torch.Tensor: skeletons.reduce,
                torch.nn.Parameter: skeletons.reduce,
            }

        def __init_subclass__(cls) -> None:
            given: Any = cls.persistent_id

            def persistent_id(self: pickle.Pickler, value: Any) -> object:
                # Called for every number and string: it must be quick.
                if type(value) not in STORAGES:
                    return None
                return skeletons.name(given(self, value), value)

            cls.persistent_id = persistent_id  # type: ignore[method-assign]

        def dump(self, value: object) -> NoReturn:
            super().dump(value)
            raise _PickledError

    return Pickler


def _stand_in(spec: Spec, storage: torch.UntypedStorage) -> torch.Tensor:
    tensor = torch.empty(0, dtype=spec.dtype)
    tensor.set_(storage, spec.offset, spec.size, spec.stride)
    if spec.is_parameter:
        return torch.nn.Parameter(tensor, requires_grad=spec.requires_grad)
    return tensor.requires_grad_() if spec.requires_grad else tensor


def refused_globals(pickled: bytes) -> list[str]:
    """What in a pickle `torch.load(weights_only=True)` refuses, by torch's own word."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/version", "3\n")
    archive.seek(0)
    return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(archive))
