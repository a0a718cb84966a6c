"""Copies that are made after the call, until an optimizer is about to change their sources."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import torch

from instride.faults import LATE_PHASE, reached
from instride.snapshot.blocks import Share
from instride.snapshot.crossing import Crossing

Promise = Callable[[], list[torch.Tensor]]
"""Tells which tensors only a fenced optimizer changes."""
Storages = dict[int, list[torch.Tensor]]
"""What may be late, by the address of the storage, and the tensors that lie in it."""


def wholly_promised(promised: list[torch.Tensor], saved: Iterable[torch.Tensor]) -> Storages:
    """The storages in which all that is saved was promised. What else lies in one, as a buffer may
    that shows a part of a parameter, is changed by others, and must be copied in order.

    A tensor is known by itself, not by its place: another one over the same memory, also if it has
    all of it, may be somebody's to write to.
    """
    owned = set(map(id, promised))
    found: Storages = {}
    in_part: set[int] = set()
    for tensor in saved:
        address = tensor.untyped_storage().data_ptr()
        if id(tensor) in owned:
            found.setdefault(address, []).append(tensor)
        else:
            in_part.add(address)
    return {address: found[address] for address in found if address not in in_part}


class ChangedError(Exception):
    """Something other than its optimizer wrote to a tensor that was still being copied."""

    hint_name = "hint.changed"


class LateCopy:
    """Storages that only an optimizer changes, while forward and backward run.

    Whether nothing else changed them is seen by the versions that torch counts, and by where they
    lie; kernels that torch knows nothing of, and fused optimizers without our hooks, count nothing.
    """

    def __init__(self, crossing: Crossing) -> None:
        self._crossing = crossing
        self._shares: list[Share] = []
        self._tensors: list[torch.Tensor] = []
        self._before: tuple[list[int], list[int]] = ([], [])
        self._is_fenced = False
        self._is_changed = False
        self._is_issued = threading.Event()
        self._is_over = threading.Event()
        self._end: torch.cuda.Event | None = None

    def begin(self, shares: list[Share], promised: Storages) -> None:
        addresses = {share.source.data_ptr() for share in shares}
        self._tensors = [tensor for address in addresses for tensor in promised[address]]
        self._is_fenced = self._is_changed = False
        self._end = None
        self._is_issued.clear()
        self._is_over.clear()
        self._shares = shares
        self._before = self._now()

    @property
    def is_pending(self) -> bool:
        return bool(self._shares)

    def _now(self) -> tuple[list[int], list[int]]:
        return (
            [tensor._version for tensor in self._tensors],
            [share.source.data_ptr() for share in self._shares],
        )

    def copy(self) -> None:
        """Off the training thread, on its stream. Raises ChangedError."""
        if not self._shares:
            return
        self._refuse_changes()
        try:
            self._copy()
        except RuntimeError:
            self._refuse_changes()  # memory that is gone cannot be copied
            raise
        self._refuse_changes()

    def _copy(self) -> None:
        self._crossing.copy_awaited(share.over_the_bus for share in self._shares)
        end = torch.cuda.Event()
        end.record()
        self._end = end
        self._is_issued.set()
        reached(LATE_PHASE)
        self._crossing.finish()

    def _refuse_changes(self) -> None:
        has_changed = self._now() != self._before  # seen before an optimizer may have said so
        if self._is_changed or (has_changed and not self._is_fenced):
            raise ChangedError(
                "something wrote to a parameter, or to what its optimizer keeps of it, between "
                "the save and the step of the optimizer"
            )

    def end(self) -> None:
        """Whatever happened: nobody needs to wait any more."""
        self._shares = []
        self._tensors = []
        self._is_issued.set()
        self._is_over.set()

    def fence(self, device: torch.device) -> None:
        """On the training thread, before an optimizer changes anything."""
        if not self._shares:
            return
        if not self._is_fenced:
            self._is_changed = self._now() != self._before
            self._is_fenced = True
        is_capturing = torch.cuda.is_current_stream_capturing()
        # A graph must not wait for what lies outside of it.
        awaited = self._is_over if is_capturing else self._is_issued
        if not awaited.is_set():
            with self._crossing.training_waits():
                awaited.wait()
        if is_capturing:
            return
        if self._end is not None:
            torch.cuda.current_stream(device).wait_event(self._end)
