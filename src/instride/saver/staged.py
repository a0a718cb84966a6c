"""A snapshot that was taken, and what is left to do with it off the training thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from instride.faults import ARRIVE_PHASE, reached
from instride.snapshot.copying import WholeCopy, stream
from instride.snapshot.freezing import Frozen
from instride.snapshot.late import Promise, wholly_promised
from instride.snapshot.planning import Plan
from instride.snapshot.wholesale import save_into
from instride.store.manifest import PIECE_BYTES
from instride.writer.page import COPIED
from instride.writer.protocol import Begin

if TYPE_CHECKING:
    from instride.saver.staging import Stager

RECORDS = {"byteorder": b"little", "version": b"3\n"}


class Staged(Protocol):
    """A snapshot in the arena, or about to stream through it."""

    streams: bool
    arrives: bool
    """Its beginning may be written while the rest is on its way into the arena."""
    said: str | None
    """What the person should know about how it was taken."""

    def begin(self, id: int, path: str) -> Begin:
        """What the writer has to know of it first."""
        ...

    def stream(self, is_gone: Callable[[], bool]) -> float:
        """Send it through the arena; the seconds spent waiting."""
        ...

    def small_records(self) -> tuple[dict[str, bytes], list[str]]:
        """What lies behind the storages, and what `weights_only` refuses in it."""
        ...


class Skeletal:
    """Tensors copied to their places, and a frozen tree that waits for their pickles."""

    def __init__(self, frozen: Frozen, plan: Plan, stager: Stager, room_bytes: int) -> None:
        self._frozen: Frozen | None = frozen
        self._plan = plan
        self._stager = stager
        self._room_bytes = room_bytes
        self.streams = plan.layout.num_bytes > room_bytes
        self.arrives = False
        self._copier: WholeCopy | None = None
        self.said: str | None = None
        if plan.others:
            self.said = f"training waits while what is on {' and '.join(plan.others)} is copied"

    def copy(self, copier: WholeCopy, promise: Promise) -> None:
        assert self._frozen is not None, "a snapshot is taken once"
        saved = self._frozen.tensors
        self._copier = copier
        copier.copy(lambda: wholly_promised(promise(), saved))
        self.arrives = copier.arrives_in_order
        self._stager.page[COPIED] = 0

    def _tell(self, place: int) -> None:
        """All is there up to this place."""
        self._stager.page[COPIED] = place // PIECE_BYTES
        reached(ARRIVE_PHASE)

    def begin(self, id: int, path: str) -> Begin:
        return Begin(
            id,
            path,
            self._plan.sizes,
            self._plan.layout.num_bytes,
            self._room_bytes,
            self.streams,
            self.arrives,
        )

    def stream(self, is_gone: Callable[[], bool]) -> float:
        memory = self._stager.arena.memory[: self._room_bytes]
        return stream(self._plan, memory, self._stager.page, is_gone)

    def small_records(self) -> tuple[dict[str, bytes], list[str]]:
        if self._copier is not None:
            self._copier.drain(self._tell)
            self._copier = None  # what it begins ahead of the next save may have to be given up
            self._tell(self._plan.layout.num_bytes + PIECE_BYTES)  # and what is less than a piece
        assert self._frozen is not None, "there is a letter for each snapshot"
        pickled, unsafe = self._stager.fragments(self._plan).pickle(self._frozen)
        self._frozen = None
        self._stager.let_go(self._plan)
        return {"data.pkl": pickled, **RECORDS}, unsafe


class Wholesale:
    """A whole file that `torch.save` made; the arena was grown until it fitted."""

    streams = False
    arrives = False

    def __init__(self, stager: Stager, tree: object, why: str) -> None:
        self._stager = stager
        self._num_bytes, self._unsafe = save_into(stager.arena, tree)
        self.said: str | None = (
            f"the state goes through torch.save while training waits: it holds {why}"
        )

    def begin(self, id: int, path: str) -> Begin:
        arena_bytes = self._stager.arena.num_bytes
        return Begin(id, path, None, self._num_bytes, arena_bytes, False)

    def stream(self, is_gone: Callable[[], bool]) -> float:
        return 0.0  # it lies there whole

    def small_records(self) -> tuple[dict[str, bytes], list[str]]:
        return {}, self._unsafe
