"""Freezing a tree of state: what is not a tensor is pickled here and now, tensors are listed.

Only this, and the copying of the listed tensors' bytes, happens on the training thread. The pickle
never leaves the process; it is a copy that C code makes, whatever the tree holds, with shared and
cyclic containers as they are.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from instride.snapshot.sparse import is_coalesced, parts_of, put_together

Reduced = tuple[Callable[..., object], tuple[object, ...]]


class UnsupportedStateError(Exception):
    """A value that the skeleton cannot hold: all of the state goes through `torch.save`."""


class Frozen:
    """A tree in which nothing can change any more, and the tensors that it stands on."""

    def __init__(self, pickled: memoryview, tensors: list[torch.Tensor]) -> None:
        self._pickled = pickled
        self.tensors = tensors

    def thaw(self, tensors: list[torch.Tensor]) -> object:
        """The tree over other tensors."""
        return _Thawing(io.BytesIO(self._pickled), iter(tensors)).load()


def freeze(tree: object) -> Frozen:
    """Freeze a tree. Raises UnsupportedStateError where `torch.save` must do it."""
    tensors: list[torch.Tensor] = []
    note = tensors.append
    strided = torch.strided

    def tensor(value: torch.Tensor) -> Reduced:
        if value.layout is not strided:
            return _reduce_sparse(value)
        if value.__dict__:
            _refuse_attributes(value)
        note(value)
        return _TENSOR

    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        **_numpy_scalars(),
        torch.Tensor: tensor,
        torch.nn.Parameter: tensor,
        torch.nn.Buffer: tensor,
        torch.UntypedStorage: _refuse_storage,
        torch.TypedStorage: _refuse_storage,
    }
    try:
        pickler.dump(tree)
    except UnsupportedStateError:
        raise
    except Exception as error:  # any class may refuse in its own way
        raise UnsupportedStateError(f"a value that cannot be copied ({error})") from error
    return Frozen(buffer.getbuffer(), tensors)


def _next_tensor() -> NoReturn:
    """Stands for a tensor in the pickle: the next of the list."""
    raise AssertionError("only a thawing tree has tensors")


_TENSOR: Reduced = (_next_tensor, ())


class _Thawing(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, tensors: Iterator[torch.Tensor]) -> None:
        super().__init__(file)
        self._tensors = tensors

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__:
            return {
                "_next_tensor": lambda: next(self._tensors),
                "_put_together": _put_together,
                "_plain": _plain,
            }[name]
        return super().find_class(module, name)


def _refuse_storage(value: object) -> NoReturn:
    """A storage by itself is in the state, or a tensor of a kind that we do not know is."""
    raise UnsupportedStateError(f"a `{type(value).__qualname__}`, or a tensor of an unusual kind")


def _refuse_attributes(value: torch.Tensor) -> None:
    if type(value) is torch.Tensor:
        raise UnsupportedStateError("a tensor with attributes of its own")


def _reduce_sparse(value: torch.Tensor) -> Reduced:
    parts = parts_of(value)
    if parts is None:
        raise UnsupportedStateError(f"a tensor of layout `{value.layout}`")
    return (_put_together, (parts, list(value.shape), str(value.layout), is_coalesced(value)))


def _put_together(
    parts: list[torch.Tensor], size: list[int], layout: str, is_coalesced: bool
) -> torch.Tensor:
    kind = getattr(torch, layout.removeprefix("torch."))
    return put_together(parts, torch.Size(size), kind, is_coalesced=is_coalesced)


def _numpy_scalars() -> dict[type, Callable[[Any], Reduced]]:
    """NumPy scalars become the Python numbers that hold them exactly, where there are such."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {}
    if not _SCALARS:
        kinds = "?bhilqBHILQefdFD"
        _SCALARS.update(dict.fromkeys((numpy.dtype(kind).type for kind in kinds), _reduce_scalar))
    return _SCALARS


_SCALARS: dict[type, Callable[[Any], Reduced]] = {}


def _reduce_scalar(value: Any) -> Reduced:
    return (_plain, (value.item(),))


def _plain(value: object) -> object:
    return value
