"""Freezing a tree of state: all but the tensors is pickled here and now, as `torch.save` would.

Only this, and the copying of the listed tensors' bytes, happens on the training thread. Whatever
code a class brings along for being pickled runs now, once, and sees the real data. Where a tensor
is, the pickle has a mark; what torch writes for a tensor is put there afterwards, and depends on
nothing that may change.
"""

from __future__ import annotations

import copyreg
import gc
import io
import pickle
import re
import secrets
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, NoReturn

import torch

PROTOCOL = 2
"""The one of `torch.save`: places in the memo are numbered, so that bytes can be put in between."""
SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)
Reduced = tuple[Any, ...]


class UnsupportedStateError(Exception):
    """A value that cannot be frozen: all of the state goes through `torch.save`."""


class Frozen:
    """A tree in which nothing can change any more, and the tensors that it stands on."""

    def __init__(self, pickled: bytes, tensors: list[torch.Tensor], values: list[Any]) -> None:
        self._pickled = pickled
        self.tensors = tensors
        self._values = values

    def pickle(self, tensors: Sequence[bytes]) -> tuple[bytes, list[bytes]]:
        """The pickle of the tree, with these in the places of the tensors; and what else it has."""
        around = _MARKS.split(self._pickled)
        values = list(map(pickled_alone, self._values))
        leaves = {TENSOR: iter(tensors), VALUE: iter(values)}
        found = [next(leaves[kind]) for kind in around[2::3]]
        assert len(found) == len(tensors) + len(self._values), "a mark was not found again"
        # What stood for a leaf is followed by its number in the memo, which others refer to.
        between = zip(found, around[1::3], around[3::3], strict=True)
        return b"".join([around[0], *chain.from_iterable(between)]), [self._pickled, *values]


def freeze(tree: object, *, detached: bool) -> Frozen:
    """Freeze a tree; detached tensors are saved without what hangs on them.

    Raises UnsupportedStateError where `torch.save` must do it.
    """
    tensors: list[torch.Tensor] = []
    note = tensors.append
    strided = torch.strided

    def tensor(value: torch.Tensor) -> Reduced:
        if value.layout is not strided or value.is_nested:
            return _reduce_by_parts(value, detached=detached)
        if not detached and value.__dict__:
            return _reduce_with_attributes(value)
        note(value)
        return _TENSOR

    values: list[Any] = []
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=PROTOCOL)
    pickler.memo = {id(_leaf): (0, _leaf)}
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        **_numpy_types(values),
        torch.Tensor: tensor,
        torch.nn.Parameter: tensor,
        torch.UntypedStorage: _refuse_storage,
        torch.TypedStorage: _refuse_storage,
    }
    try:
        pickler.dump(tree)
    except UnsupportedStateError:
        raise
    except Exception as error:  # any class may refuse in its own way
        raise UnsupportedStateError(f"a value that cannot be copied ({error})") from error
    # No view of the buffer: early versions of Python 3.12 crash where one is collected as garbage.
    return Frozen(buffer.getvalue(), tensors, values)


@contextmanager
def without_collecting() -> Iterator[None]:
    """For who freezes and plans: thousands of small objects would have Python look for garbage, of
    which there is none, and in a process with torch it may look for long."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


def pickled_alone(value: object) -> bytes:
    """What a pickle has for a value that refers to nothing outside of it."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=PROTOCOL)
    pickler.fast = True  # no numbers of its own in the memo
    pickler.dump(value)
    return without_frame(buffer.getvalue())


def without_frame(pickled: bytes) -> bytes:
    """A pickle without the protocol in front of it, and the stop behind."""
    return pickled[2:-1]


def _leaf() -> NoReturn:
    """Stands for a tensor or a value in the pickle, with a number that marks it as such."""
    raise AssertionError("no pickle that anybody reads has it")


# Random, so that nothing in any state looks like one of them. A float, since floats are written
# as they are each time, and quickly.
TENSOR, VALUE = (b"@" + secrets.token_bytes(7) for _ in range(2))
_TENSOR, _VALUE = ((_leaf, (), *struct.unpack(">d", kind)) for kind in (TENSOR, VALUE))
_MARKS = re.compile(
    rb"h\x00\)R(q.|r.{4})G(%b|%b)b" % (re.escape(TENSOR), re.escape(VALUE)), re.DOTALL
)


def _refuse_storage(value: object) -> NoReturn:
    """A storage by itself is in the state, or a tensor of a kind that we do not know is."""
    raise UnsupportedStateError(f"a `{type(value).__qualname__}`, or a tensor of an unusual kind")


def _reduce_with_attributes(value: torch.Tensor) -> Reduced:
    """A parameter is taken apart by torch into its data and the rest, other tensors are not."""
    if type(value) is torch.Tensor:
        raise UnsupportedStateError("a tensor with attributes of its own")
    return _reduce(value)


def _reduce_by_parts(value: torch.Tensor, *, detached: bool) -> Reduced:
    """Sparse and nested tensors are made of dense ones, by torch's own word."""
    if not value.is_nested and value.layout not in SPARSE:
        raise UnsupportedStateError(f"a tensor of layout `{value.layout}`")
    return _reduce(value.detach() if detached else value)


def _reduce(value: Any) -> Reduced:
    reduced: Reduced = value.__reduce_ex__(PROTOCOL)
    return reduced


def _numpy_types(values: list[Any]) -> dict[type, Callable[[Any], Reduced]]:
    """How values of NumPy are noted.

    Scalars become the Python numbers that hold them exactly, where there are such. Arrays are
    copied now and pickled later: in this protocol, bytes are slow to pickle.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {}

    def scalar(value: Any) -> Reduced:
        values.append(value.item())
        return _VALUE

    def array(value: Any) -> Reduced:
        if value.dtype.isbuiltin != 1 or value.dtype.hasobject:
            return _reduce(value)
        in_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        values.append(value.copy(order="F" if in_columns else "C"))
        return _VALUE

    if not _SCALARS:
        _SCALARS.extend(numpy.dtype(kind).type for kind in "?bhilqBHILQefdFD")
    return {**dict.fromkeys(_SCALARS, scalar), numpy.ndarray: array}


_SCALARS: list[type] = []
