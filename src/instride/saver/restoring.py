"""Putting a checkpoint back into the parts of a training."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from instride.errors import DamagedError, MismatchError
from instride.pack.container import is_pack
from instride.saver.loading import load_file
from instride.saver.parts import live_state
from instride.saver.reading import Skeleton, Target, fill
from instride.snapshot.sparse import is_coalesced, parts_of, put_together
from instride.store.manifest import Manifest
from instride.store.verifying import verify


def read_state(
    path: Path, manifest: Manifest | None, parts: Mapping[str, Any], *, weights_only: bool
) -> dict[str, Any]:
    """The tree of a checkpoint; tensors that a part has already are filled where they are."""
    try:
        return _read_into(path, manifest, parts, weights_only=weights_only)
    except (DamagedError, OSError):
        raise
    except Exception:
        if manifest is not None:
            verify(path, manifest)  # a bit that flipped may look like anything, malice included
        raise


def _read_into(
    path: Path, manifest: Manifest | None, parts: Mapping[str, Any], *, weights_only: bool
) -> dict[str, Any]:
    if is_pack(path):
        return _read_plainly(path, manifest, weights_only=weights_only)
    skeleton = Skeleton(path, weights_only=weights_only)
    loaded = list(_tensors_of(skeleton.tree))
    offsets = skeleton.offsets(loaded)
    if offsets is None:
        return _read_plainly(path, manifest, weights_only=weights_only)
    placing = _Placing(loaded, offsets, skeleton.locations)
    for name, part in parts.items():
        placing.match(skeleton.tree.get(name), live_state(part))
    tree = placing.rebuild(skeleton.tree)
    fill(path, manifest, placing.targets)
    assert isinstance(tree, dict)
    return tree


def _read_plainly(path: Path, manifest: Manifest | None, *, weights_only: bool) -> dict[str, Any]:
    """The way of `torch.load`, for packs, and files that torch laid out in some other way."""
    if manifest is not None:
        verify(path, manifest)
    tree = load_file(path, "cpu", weights_only=weights_only)
    if not isinstance(tree, dict):
        raise MismatchError(path, f"it holds a `{type(tree).__qualname__}`, not named parts")
    return tree


class _Placing:
    """Decides where each storage of a file goes: into a tensor that exists, or to new memory."""

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
        self._fresh: dict[int, torch.UntypedStorage] = {}
        self._done: dict[int, Any] = {}
        self.targets: list[Target] = []

    def match(self, saved: Any, live: Any) -> None:
        """Walk two trees side by side; where both have a tensor of one kind, use the live one."""
        if isinstance(saved, torch.Tensor):
            if isinstance(live, torch.Tensor) and self._can_fill(saved, live):
                self._live[_address(saved)] = live
        elif isinstance(saved, dict) and isinstance(live, dict):
            for key, value in saved.items():
                if key in live:
                    self.match(value, live[key])
        elif isinstance(saved, list) and isinstance(live, list):
            for value, other in zip(saved, live, strict=False):
                self.match(value, other)

    def _can_fill(self, saved: torch.Tensor, live: torch.Tensor) -> bool:
        return (
            type(live) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
            and live.device.type in ("cpu", "cuda")
            and live.layout is torch.strided
            and saved.layout is torch.strided
            and live.dtype == saved.dtype
            and live.shape == saved.shape
            and live.is_contiguous()
            and saved.is_contiguous()
            and saved.numel() * saved.element_size() == saved.untyped_storage().nbytes()
            and self._num_users[_address(saved)] == 1
            and saved.numel() > 0
        )

    def rebuild(self, value: Any) -> Any:
        """The tree over the memory that will be filled."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if id(value) in self._done:
            return self._done[id(value)]
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            rebuilt: list[Any] = []
            self._done[id(value)] = rebuilt
            rebuilt.extend(map(self.rebuild, value))
            return rebuilt
        if type(value) is tuple:
            return tuple(map(self.rebuild, value))
        return value

    def _mapping(self, value: dict[Any, Any]) -> dict[Any, Any]:
        # In place: what class it is, and what hangs on it, stays.
        self._done[id(value)] = value
        for key in value:
            value[key] = self.rebuild(value[key])
        if isinstance(value, OrderedDict) and value.__dict__:
            self._mapping(value.__dict__)
        return value

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is not torch.strided:
            return self._sparse(tensor)
        if tensor.untyped_storage().nbytes() == 0:
            return tensor
        address = _address(tensor)
        live = self._live.get(address)
        if live is not None:
            filled = live.detach()
            self.targets.append(Target(self._offsets[address], filled.view(-1).view(torch.uint8)))
            return filled
        storage = self._fresh.get(address)
        if storage is None:
            num_bytes = tensor.untyped_storage().nbytes()
            device = _usable(self._locations.get(address, "cpu"))
            memory = torch.empty(num_bytes, dtype=torch.uint8, device=device)
            self.targets.append(Target(self._offsets[address], memory))
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

    def _sparse(self, tensor: torch.Tensor) -> torch.Tensor:
        parts = [self._tensor(part) for part in parts_of(tensor) or []]
        return put_together(parts, tensor.shape, tensor.layout, is_coalesced=is_coalesced(tensor))


def _usable(location: str) -> str:
    """Where a storage was, if there is such a device here; else the memory of the host."""
    is_there = location.startswith("cuda") and torch.cuda.is_available()
    index = int(location.partition(":")[2] or 0) if is_there else 0
    return location if is_there and index < torch.cuda.device_count() else "cpu"


def _address(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _tensors_of(tree: Any, seen: set[int] | None = None) -> list[torch.Tensor]:
    """Every dense tensor in a tree, those inside sparse ones too."""
    seen = set() if seen is None else seen
    if isinstance(tree, torch.Tensor):
        return [tree] if tree.layout is torch.strided else parts_of(tree) or []
    if id(tree) in seen or not isinstance(tree, dict | list | tuple):
        return []
    seen.add(id(tree))
    values = tree.values() if isinstance(tree, dict) else tree
    return [tensor for value in values for tensor in _tensors_of(value, seen)]
