"""What torch pickles for the tensors of a plan, without their data: off the training thread.

torch's own serializer does it, once for a plan. It is given tensors whose storages are addresses
without memory behind them, and a pickler that writes down the key under which each storage lies in
our image.
"""

from __future__ import annotations

import io
import mmap
import pickle
import re
import zipfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import IO, Any, NoReturn

import torch

from instride.snapshot.freezing import Frozen, without_frame
from instride.snapshot.planning import Plan, Spec

ALIGNMENT = 64
STORAGES = (torch.TypedStorage, torch.UntypedStorage)
GLOBAL = re.compile(rb"c([\w.]+)\n([\w.]+)\n")
"""How a pickle of this protocol names a class or a function; texts may look like one too."""
MAP_NORESERVE = 0x4000  # Python has no name for it before 3.13


class _PickledError(Exception):
    """Ends `torch.save` once the pickles are made: the archive is ours to write."""


class Fragments:
    """The tensors of a plan, each as it stands in a pickle."""

    def __init__(self, plan: Plan) -> None:
        storages = _hollow_storages(plan.sizes)
        self._keys = {storage._cdata: key for key, storage in enumerate(storages)}
        self._locations = plan.locations
        self._pickled: list[bytes] = []
        stand_ins = [_stand_in(spec, storages[spec.storage]) for spec in plan.specs]
        module = SimpleNamespace(__name__="instride", Pickler=_pickler(self._name, self._pickled))
        try:
            torch.save(stand_ins, io.BytesIO(), pickle_module=module)
        except _PickledError:
            self._names = frozenset(GLOBAL.findall(b"".join(self._pickled)))
            self._verdicts: dict[frozenset[tuple[bytes, bytes]], list[str]] = {}
            return
        raise AssertionError("torch.save did not use the pickler that it was given")

    def _name(self, told: Any, storage: Any) -> Any:
        """A storage as the pickle refers to it: torch's word, with our key and its real place."""
        key = self._keys[getattr(storage, "_untyped_storage", storage)._cdata]
        kind, storage_type, _, _, numel = told
        return (kind, storage_type, str(key), self._locations[key], numel)

    def pickle(self, frozen: Frozen) -> tuple[bytes, list[str]]:
        """The `data.pkl` of a frozen tree, and what in it `weights_only` refuses."""
        data, others = frozen.pickle(self._pickled)
        # Most of it is tensors, whose names are known: who looks through it holds the interpreter.
        names = self._names.union(*map(GLOBAL.findall, others))
        return data, self._refused(names, data)

    def _refused(self, names: frozenset[tuple[bytes, bytes]], data: bytes) -> list[str]:
        """What `weights_only` refuses; torch is asked once for each set of names."""
        if names not in self._verdicts:
            self._verdicts[names] = refused_globals(data)
        return self._verdicts[names]


def _pickler(name: Callable[[Any, Any], Any], pickled: list[bytes]) -> type[pickle.Pickler]:
    into = io.BytesIO()

    class Pickler(pickle.Pickler):
        """What torch derives its own pickler from."""

        def __init__(self, file: object, protocol: int) -> None:
            super().__init__(into, protocol=protocol)
            self.fast = True  # each stands for itself, wherever it is put

        def __init_subclass__(cls) -> None:
            given: Any = cls.persistent_id

            def persistent_id(self: pickle.Pickler, value: Any) -> object:
                # Called for every number and string: it must be quick.
                if type(value) not in STORAGES:
                    return None
                return name(given(self, value), value)

            cls.persistent_id = persistent_id  # type: ignore[method-assign]

        def dump(self, stand_ins: list[torch.Tensor]) -> NoReturn:
            for stand_in in stand_ins:
                into.seek(0)
                into.truncate()
                super().dump(stand_in)
                pickled.append(without_frame(into.getvalue()))
            raise _PickledError

    return Pickler


def _hollow_storages(sizes: list[int]) -> list[torch.UntypedStorage]:
    """Storages of these sizes without memory behind them."""
    total = sum(-(-max(size, 1) // ALIGNMENT) * ALIGNMENT for size in sizes) or ALIGNMENT
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    nothing = memoryview(mmap.mmap(-1, total, flags=flags))
    storages = []
    offset = 0
    for size in sizes:
        storage = (
            torch.frombuffer(nothing, dtype=torch.uint8, count=size, offset=offset)
            if size
            else torch.empty(0, dtype=torch.uint8, device="cpu")
        ).untyped_storage()
        storages.append(storage)
        offset += -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
    return storages


def _stand_in(spec: Spec, storage: torch.UntypedStorage) -> torch.Tensor:
    tensor = torch.empty(0, dtype=spec.dtype, device="cpu")
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
    try:
        return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(archive))
    except pickle.UnpicklingError as error:  # numbers beyond some size, for one
        return [str(error)]


def refused_in(file: IO[bytes]) -> list[str]:
    """The same of a file that `torch.save` wrote."""
    with zipfile.ZipFile(file) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        return refused_globals(archive.read(name))
