"""Where the storages of a checkpoint go: into tensors that exist, or to new memory."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import torch

from instride.saver.reading import Target

LEAVES = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, bytearray,
        torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format,
    }
)  # fmt: skip
MAPPINGS = (dict, OrderedDict, defaultdict, Counter)
TENSORS = (torch.Tensor, torch.nn.Parameter)
HOST = torch.device("cpu")


class Homes(NamedTuple):
    """Where there may be new memory for what was on a GPU."""

    gpus: Set[torch.device]
    """Those of whoever gets it."""
    in_use: Set[torch.device] = frozenset()
    """All that the process has used so far."""
    otherwise: torch.device = HOST


class _OtherValueError(Exception):
    """A value that may hold tensors in a way that is not known here."""


def plain_tensors(tree: object) -> list[torch.Tensor] | None:
    """Every tensor in a tree; None if there may be others, or such as are more than their bytes."""
    try:
        return list(_tensors_in(tree, set()))
    except _OtherValueError:
        return None


def _tensors_in(value: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    kind = type(value)
    if id(value) in seen:
        return
    if kind in TENSORS:
        if not _is_plain(value) or value.__dict__:
            raise _OtherValueError
        yield value
        return
    seen.add(id(value))
    for inner in _inside(value, kind):
        if type(inner) not in LEAVES:
            yield from _tensors_in(inner, seen)


def _inside(value: Any, kind: type) -> Iterator[Any]:
    if kind in (list, tuple):
        yield from value
    elif kind in MAPPINGS and all(map(_is_leaf, value)):
        yield from value.values()
        yield from getattr(value, "__dict__", {}).values()
    elif not _is_leaf(value):
        raise _OtherValueError


def _is_leaf(value: Any) -> bool:
    kind = type(value)
    return kind in LEAVES or (kind in (tuple, set, frozenset) and all(map(_is_leaf, value)))


def _is_plain(tensor: torch.Tensor) -> bool:
    return not (
        tensor.is_nested
        or tensor.layout is not torch.strided
        or tensor.is_quantized
        or tensor.is_meta
        or tensor.is_conj()
        or tensor.is_neg()
        or tensor._is_zerotensor()
    )


class Placing:
    """Decides where each storage of a file goes."""

    def __init__(
        self,
        loaded: list[torch.Tensor],
        offsets: Mapping[int, int],
        locations: Mapping[int, str],
    ) -> None:
        self._offsets = offsets
        self._locations = locations
        self._num_users = Counter(_address(tensor) for tensor in loaded)
        self._live: dict[int, torch.Tensor] = {}
        self._taken: set[int] = set()
        self._homes: dict[int, torch.device] = {}
        self._fresh: dict[int, torch.UntypedStorage] = {}
        self._done: dict[int, Any] = {}

    def match(self, saved: Any, live: Any) -> None:
        """Walk two trees side by side; where both have a tensor of one kind, use the live one."""
        if isinstance(saved, torch.Tensor):
            if isinstance(live, torch.Tensor) and self._can_fill(saved, live):
                self._live[_address(saved)] = live
                self._taken.add(_address(live))
        elif isinstance(saved, dict) and isinstance(live, dict):
            for key, value in saved.items():
                if key in live:
                    self.match(value, live[key])
        elif isinstance(saved, list) and isinstance(live, list):
            for value, other in zip(saved, live, strict=False):
                self.match(value, other)

    def _can_fill(self, saved: torch.Tensor, live: torch.Tensor) -> bool:
        return (
            type(live) in TENSORS
            and live.device.type in ("cpu", "cuda")
            and _is_plain(live)
            and not live.is_inference()
            and live.dtype == saved.dtype
            and live.shape == saved.shape
            and _has_all_of_its_storage(live)
            and _has_all_of_its_storage(saved)
            and self._num_users[_address(saved)] == 1
            # Two of a file must not meet in one memory.
            and _address(live) not in self._taken
            and saved.numel() > 0
        )

    def keep(self, saved: Any, homes: Homes) -> None:
        """Make the new memory of what is used as it is, not copied from, where it will be used.

        All else is copied by who gets it: it waits in the memory of the host, for the GPU may have
        no room for it twice. What both kinds share goes where it is kept.
        """
        for tensor in _tensors_in(saved, set()):
            address = _address(tensor)
            self._homes.setdefault(address, home_of(self._locations.get(address, "cpu"), homes))

    def devices_of(self, saved: Any) -> dict[int, torch.device]:
        """Where each storage of a tree will go, by where it begins in the file."""
        addresses = {_address(each) for each in _tensors_in(saved, set()) if _has_memory(each)}
        return {self._offsets[address]: self._device_of(address) for address in addresses}

    def _device_of(self, address: int) -> torch.device:
        live = self._live.get(address)
        return self._homes.get(address, HOST) if live is None else live.device

    def rebuild(self, value: Any, fill: Callable[[Target], None]) -> Any:
        """The tree over memory that is handed over to be filled, one storage after the other."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value, fill)
        if id(value) in self._done:
            return self._done[id(value)]
        if isinstance(value, dict):
            return self._mapping(value, fill)
        if isinstance(value, list):
            rebuilt: list[Any] = []
            self._done[id(value)] = rebuilt
            rebuilt.extend(self.rebuild(each, fill) for each in value)
            return rebuilt
        if type(value) is tuple:
            return tuple(self.rebuild(each, fill) for each in value)
        return value

    def _mapping(self, value: dict[Any, Any], fill: Callable[[Target], None]) -> dict[Any, Any]:
        # In place: what class it is, and what hangs on it, stays.
        self._done[id(value)] = value
        for key in value:
            value[key] = self.rebuild(value[key], fill)
        if attributes := getattr(value, "__dict__", None):
            self._mapping(attributes, fill)
        return value

    def _tensor(self, tensor: torch.Tensor, fill: Callable[[Target], None]) -> torch.Tensor:
        if not _has_memory(tensor):
            return tensor
        address = _address(tensor)
        live = self._live.get(address)
        if live is not None:
            filled = live.detach()
            fill(Target(self._offsets[address], filled.view(-1).view(torch.uint8)))
            return filled
        storage = self._fresh.get(address)
        if storage is None:
            num_bytes = tensor.untyped_storage().nbytes()
            device = self._device_of(address)
            memory = torch.empty(num_bytes, dtype=torch.uint8, device=device)
            fill(Target(self._offsets[address], memory))
            storage = self._fresh[address] = memory.untyped_storage()
        return self._over(tensor, storage)

    def _over(self, tensor: torch.Tensor, storage: torch.UntypedStorage) -> torch.Tensor:
        """A tensor like another one, over other memory; what was one object stays one."""
        if id(tensor) not in self._done:
            rebuilt = torch.empty(0, dtype=tensor.dtype, device=storage.device)
            rebuilt.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())
            if isinstance(tensor, torch.nn.Parameter):
                rebuilt = torch.nn.Parameter(rebuilt, requires_grad=tensor.requires_grad)
            elif tensor.requires_grad:
                rebuilt.requires_grad_()
            self._done[id(tensor)] = rebuilt
        return self._done[id(tensor)]


def _has_all_of_its_storage(tensor: torch.Tensor) -> bool:
    num_bytes = tensor.numel() * tensor.element_size()
    return bool(num_bytes == tensor.untyped_storage().nbytes() and tensor.is_contiguous())


def home_of(location: str, homes: Homes) -> torch.device:
    """The GPU for a storage that was on one, of those in use: any other may be somebody else's."""
    if not location.startswith("cuda"):
        return HOST
    name = "cuda:0" if location == "cuda" else location
    same = [gpu for gpu in homes.gpus | homes.in_use if str(gpu) == name]
    return next(iter(same or (homes.gpus if len(homes.gpus) == 1 else [homes.otherwise])))


def _has_memory(tensor: torch.Tensor) -> bool:
    return bool(tensor.untyped_storage().nbytes())


def _address(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())
