"""From tensors to storages and their places in the image; kept from one save to the next."""

from __future__ import annotations

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


class Plan:
    """Where every byte of a list of tensors goes. It keeps their storages alive: as long as it
    does, the same address means the same storage."""

    def __init__(self, tensors: list[torch.Tensor], *, detached: bool) -> None:
        self._signature = _signature(tensors)
        self._detached = detached
        self.sources: list[torch.Tensor] = []
        """The bytes of each storage."""
        self.locations: list[str] = []
        """Where `torch.load` would put each of them, as torch calls it."""
        self.specs: list[Spec] = []
        storages: dict[int, torch.UntypedStorage] = {}
        for tensor in tensors:
            _refuse_strange(tensor)
            storage = tensor.untyped_storage()
            storages.setdefault(storage._cdata, storage)
        # Those of one device lie side by side, so that they can be copied as one.
        ordered = sorted(storages, key=lambda key: str(storages[key].device))
        indices = {key: index for index, key in enumerate(ordered)}
        for key in ordered:
            self.sources.append(_bytes_of(storages[key]))
            self.locations.append(torch.serialization.location_tag(storages[key]))
        for tensor in tensors:
            self.specs.append(self._spec(tensor, indices[tensor.untyped_storage()._cdata]))
        self.layout: Layout = lay_out([source.numel() for source in self.sources])

    def _spec(self, tensor: torch.Tensor, storage: int) -> Spec:
        return Spec(
            storage,
            tensor.dtype,
            tensor.storage_offset(),
            tensor.shape,
            tensor.stride(),
            isinstance(tensor, torch.nn.Parameter) and not self._detached,
            tensor.requires_grad and not self._detached,
        )

    @property
    def sizes(self) -> list[int]:
        return [record.num_bytes for record in self.layout.records]

    @property
    def gpus(self) -> list[torch.device]:
        """The devices whose copies a stream orders."""
        found = {source.device for source in self.sources if source.device.type == "cuda"}
        return sorted(found, key=str)

    def fits(self, tensors: list[torch.Tensor], *, detached: bool) -> bool:
        """Whether it is still true: the same storages, seen in the same way."""
        return self._detached == detached and self._signature == _signature(tensors)


def _signature(tensors: list[torch.Tensor]) -> list[object]:
    """Everything that a plan depends on, as quickly as Python can collect it."""
    contiguous = list(map(torch.Tensor.is_contiguous, tensors))
    return [
        list(map(torch.Tensor.data_ptr, tensors)),
        [tensor.shape for tensor in tensors],
        contiguous,
        [t.stride() for t, is_plain in zip(tensors, contiguous, strict=True) if not is_plain],
        [tensor.dtype for tensor in tensors],
        [tensor.requires_grad for tensor in tensors],
    ]


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _refuse_strange(tensor: torch.Tensor) -> None:
    if tensor.is_quantized or tensor.is_nested or tensor.is_mkldnn:
        raise UnsupportedStateError("a quantised, nested or mkldnn tensor")
    if tensor.is_meta:
        raise UnsupportedStateError("a tensor without data, on the meta device")
    if tensor.is_conj() or tensor.is_neg():
        raise UnsupportedStateError("a lazily conjugated or negated tensor")
