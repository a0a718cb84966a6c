"""From tensors to storages and their places in the image; kept from one save to the next."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import torch

from instride.image.layout import Layout, lay_out
from instride.snapshot.freezing import UnsupportedStateError


class Spec(NamedTuple):
    """How a tensor lies in its storage."""

    storage: int
    dtype: torch.dtype
    offset: int
    size: torch.Size
    stride: tuple[int, ...]
    is_parameter: bool
    requires_grad: bool


NOTHING = torch.empty(0, dtype=torch.uint8, device="cpu")
NOWHERE = -1
NUM_OWN_USES = 2
"""How often the plan itself counts as a user of a storage: by the storage, and by its bytes."""


class Plan:
    """Where every byte of a list of tensors goes. It keeps storages alive until it lets go of them:
    as long as it does, and they are not resized, the same address means the same storage."""

    def __init__(self, tensors: list[torch.Tensor], *, detached: bool) -> None:
        for tensor in tensors:
            _refuse_strange(tensor)
        self._structure = _structure(tensors, detached=detached)
        self._addresses = _addresses(tensors)
        self.detached = detached
        self.sources: list[torch.Tensor] = []
        """The bytes of each storage."""
        self.num_moves = 0
        """How often some of them became others; counted once they have."""
        self.locations: list[str] = []
        """Where `torch.load` would put each of them, as torch calls it."""
        self.specs: list[Spec] = []
        storages: dict[int, torch.UntypedStorage] = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            storages.setdefault(storage._cdata, storage)
        # Those of one device lie side by side, so that they can be copied as one.
        ordered = sorted(storages, key=lambda key: str(storages[key].device))
        indices = {key: index for index, key in enumerate(ordered)}
        self._storages = {indices[key]: storages[key] for key in ordered}
        self._devices = [storages[key].device for key in ordered]
        for key in ordered:
            self.sources.append(_bytes_of(storages[key]))
            self.locations.append(torch.serialization.location_tag(storages[key]))
        for tensor in tensors:
            self.specs.append(self._spec(tensor, indices[tensor.untyped_storage()._cdata]))
        self.layout: Layout = lay_out([source.numel() for source in self.sources])
        self._places = self._places_now()
        sizes = self.sizes
        # What negates is a view of imaginary parts: it never has all of its storage to itself.
        self._in_part = [
            number
            for number, (tensor, spec) in enumerate(zip(tensors, self.specs, strict=True))
            if tensor.numel() * tensor.element_size() < sizes[spec.storage]
        ]

    def _spec(self, tensor: torch.Tensor, storage: int) -> Spec:
        return Spec(
            storage,
            tensor.dtype,
            tensor.storage_offset(),
            tensor.shape,
            tensor.stride(),
            isinstance(tensor, torch.nn.Parameter) and not self.detached,
            tensor.requires_grad and not self.detached,
        )

    @property
    def sizes(self) -> list[int]:
        return [record.num_bytes for record in self.layout.records]

    @property
    def gpus(self) -> list[torch.device]:
        """The devices whose copies a stream orders."""
        found = {device for device in self._devices if is_ordered(device)}
        return sorted(found, key=str)

    @cached_property
    def others(self) -> list[str]:
        """Kinds of devices that training waits for while they are copied from."""
        return waited_for(self._devices)

    def follow(self, tensors: list[torch.Tensor], *, detached: bool) -> list[int] | None:
        """Go on with tensors of the same structure: the storages that are others now, by their
        index. None if the structure is another one, and so must the plan be."""
        if self.detached != detached or self._structure != _structure(tensors, detached=detached):
            return None
        if not self.is_in_place:
            return None  # what is kept was resized: its old address may be somebody else's
        if any(tensors[number].is_neg() for number in self._in_part):
            return None
        addresses = _addresses(tensors)
        if addresses == self._addresses:
            return []
        moved = [
            (spec, tensor)
            for spec, tensor, before, now in zip(
                self.specs, tensors, self._addresses, addresses, strict=True
            )
            if before != now
        ]
        others = self._other_storages(moved)
        if others is None:
            return None
        for index, storage in others.items():
            self._storages[index] = storage
            self.sources[index] = _bytes_of(storage)
        self._addresses = addresses
        self._places = self._places_now()
        self.num_moves += 1
        return list(others)

    @property
    def is_in_place(self) -> bool:
        """Whether the storages that are kept lie where they did, and are as large as they were."""
        return self._places == self._places_now()

    def _places_now(self) -> list[list[int]]:
        kept = self._storages.values()
        storage = torch.UntypedStorage
        return [list(map(storage.data_ptr, kept)), list(map(storage.nbytes, kept))]

    def let_go(self, *, of_all: bool) -> list[int]:
        """Keep storages alive no longer: all of them, or those on the host that nobody else uses.
        Which ones, by their index; the next tensors there will be others."""
        unused = {index for index in self._storages if of_all or self._is_unused(index)}
        if not unused:
            return []
        for index in unused:
            del self._storages[index]
            self.sources[index] = NOTHING
        for number, spec in enumerate(self.specs):
            if spec.storage in unused:
                self._addresses[number] = NOWHERE
        self._places = self._places_now()
        self.num_moves += 1
        return list(unused)

    def _is_unused(self, index: int) -> bool:
        if self._devices[index].type != "cpu":
            return False
        num_uses: int = torch._C._storage_Use_Count(self._storages[index]._cdata)
        return num_uses <= NUM_OWN_USES

    def _other_storages(
        self, moved: list[tuple[Spec, torch.Tensor]]
    ) -> dict[int, torch.UntypedStorage] | None:
        """The storages of tensors that moved; None if not all is shared that was, or more is."""
        others: dict[int, torch.UntypedStorage] = {}
        for spec, tensor in moved:
            _refuse_strange(tensor)
            storage = tensor.untyped_storage()
            is_alike = (
                storage._cdata == others.setdefault(spec.storage, storage)._cdata
                and tensor.storage_offset() == spec.offset
                and storage.nbytes() == self.layout.records[spec.storage].num_bytes
                and storage.device == self._devices[spec.storage]
            )
            if not is_alike:
                return None
        num_users = sum(spec.storage in others for spec in self.specs)
        all_now = {**self._storages, **others}
        distinct = {storage._cdata for storage in all_now.values()}
        is_same = num_users == len(moved) and len(distinct) == len(self.sources)
        return others if is_same else None


def is_ordered(device: torch.device) -> bool:
    """Whether copies off a device may go on behind the call. ROCm calls its devices CUDA's, too."""
    return device.type == "cuda" and torch.version.hip is None


def waited_for(devices: Iterable[torch.device]) -> list[str]:
    """Kinds of devices, other than the host, whose copies are made before the call returns."""
    return sorted({each.type for each in devices if each.type != "cpu" and not is_ordered(each)})


def _addresses(tensors: list[torch.Tensor]) -> list[int]:
    return list(map(torch.Tensor.data_ptr, tensors))


_dtype, _shape = attrgetter("dtype"), attrgetter("shape")


def _structure(tensors: list[torch.Tensor], *, detached: bool) -> list[object]:
    """What a plan depends on besides the memory, as quickly as Python can collect it."""
    dtypes = list(map(_dtype, tensors))
    return [
        list(map(_shape, tensors)),
        list(map(torch.Tensor.stride, tensors)),
        dtypes,
        # What conjugates has the memory, shape and dtype of what it views.
        list(map(torch.Tensor.is_conj, tensors)) if any(d.is_complex for d in set(dtypes)) else [],
        [] if detached else [(type(tensor), tensor.requires_grad) for tensor in tensors],
    ]


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _refuse_strange(tensor: torch.Tensor) -> None:
    if tensor.is_quantized:
        raise UnsupportedStateError("a quantised tensor")
    if tensor.is_meta:
        raise UnsupportedStateError("a tensor without data, on the meta device")
    if tensor.is_conj() or tensor.is_neg():
        raise UnsupportedStateError("a lazily conjugated or negated tensor")
    if tensor._is_zerotensor():
        raise UnsupportedStateError("a tensor of zeros that has no memory")
