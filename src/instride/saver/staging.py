"""What a snapshot is taken with: arena, plan and skeletons, kept from one save to the next."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Protocol

from instride.errors import UnsafeStateError
from instride.faults import reached
from instride.snapshot.arena import Arena
from instride.snapshot.copying import WholeCopy, stream
from instride.snapshot.cuda import DeviceArenas
from instride.snapshot.freezing import Frozen, UnsupportedStateError, freeze
from instride.snapshot.pickling import Skeletons
from instride.snapshot.planning import Plan
from instride.snapshot.wholesale import save_into
from instride.writer.page import COPIED, WRITTEN, SharedPage
from instride.writer.protocol import Begin

RECORDS = {"byteorder": b"little", "version": b"3\n"}


class Staged(Protocol):
    """A snapshot in the arena, or about to stream through it."""

    streams: bool
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


class _Skeletal:
    """Tensors copied to their places, and a frozen tree that is yet to be pickled."""

    said: str | None = None

    def __init__(self, frozen: Frozen, plan: Plan, stager: Stager) -> None:
        self._frozen = frozen
        self._plan = plan
        self._stager = stager
        self.streams = plan.layout.num_bytes > stager.arena.num_bytes
        self._copier: WholeCopy | None = None

    def copy(self, copier: WholeCopy, late: Callable[[], set[int]]) -> None:
        self._copier = copier
        copier.copy(late)

    def begin(self, id: int, path: str) -> Begin:
        return Begin(
            id,
            path,
            self._plan.sizes,
            self._plan.layout.num_bytes,
            self._stager.arena.num_bytes,
            self.streams,
        )

    def stream(self, is_gone: Callable[[], bool]) -> float:
        return stream(self._plan, self._stager.arena, self._stager.page, is_gone)

    def small_records(self) -> tuple[dict[str, bytes], list[str]]:
        if self._copier is not None:
            self._copier.drain()
        pickled, unsafe = self._stager.skeletons(self._plan).pickle(self._frozen)
        return {"data.pkl": pickled, **RECORDS}, unsafe


class _Wholesale:
    """A whole file that `torch.save` made; the arena was grown until it fitted."""

    streams = False

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


class Stager:
    """Takes snapshots into one arena."""

    def __init__(self, memory_bytes: int | None) -> None:
        self.page = SharedPage.create()
        self.arena = Arena(memory_bytes)
        self._plan: Plan | None = None
        self._copy: WholeCopy | None = None
        self._device_arenas = DeviceArenas()
        self.late: Callable[[], set[int]] = set
        """The addresses of storages that only a fenced optimizer changes."""
        self._making = threading.Lock()
        self._skeletons: tuple[weakref.ref[Plan], Skeletons] | None = None

    def prepare(self, tree: object, *, detached: bool) -> None:
        """Plan for a state like this one, and have its memory ready."""
        try:
            plan = self._plan_for(freeze(tree), detached=detached)
        except UnsupportedStateError:
            return
        self.arena.prepare(plan.layout.num_bytes, register=bool(plan.gpus))
        threading.Thread(target=self.skeletons, args=(plan,), daemon=True).start()

    def take(self, tree: object, *, detached: bool, allow_strange: bool) -> Staged:
        """Freeze and copy, now. Raises UnsafeStateError for what a strict save refuses."""
        try:
            frozen = freeze(tree)
            plan = self._plan_for(frozen, detached=detached)
        except UnsupportedStateError as error:
            return self._wholesale(tree, str(error), allow_strange=allow_strange)
        reached("frozen")
        if not allow_strange:
            self._refuse_strange(frozen, plan)
        if plan.layout.num_bytes > self.arena.num_bytes:
            self.arena.grow(plan.layout.num_bytes)
        staged = _Skeletal(frozen, plan, self)
        if staged.streams:
            self.page[COPIED] = 0
            self.page[WRITTEN] = 0
        else:
            staged.copy(self._copier(plan), self.late)
        return staged

    def _wholesale(self, tree: object, why: str, *, allow_strange: bool) -> Staged:
        staged = _Wholesale(self, tree, why)
        unsafe = staged.small_records()[1]
        if unsafe and not allow_strange:
            raise UnsafeStateError(unsafe)
        return staged

    def _refuse_strange(self, frozen: Frozen, plan: Plan) -> None:
        unsafe = self.skeletons(plan).pickle(frozen)[1]
        if unsafe:
            raise UnsafeStateError(unsafe)

    def _plan_for(self, frozen: Frozen, *, detached: bool) -> Plan:
        if self._plan is None or not self._plan.fits(frozen.tensors, detached=detached):
            self._plan = self._copy = None  # lets go of the storages of before
            self._plan = Plan(frozen.tensors, detached=detached)
        return self._plan

    def _copier(self, plan: Plan) -> WholeCopy:
        if self._copy is None or not self._copy.is_for(plan, self.arena):
            self._copy = WholeCopy(plan, self.arena, self._device_arenas)
        return self._copy

    def fence(self) -> None:
        """An optimizer is about to change what it owns."""
        if self._copy is not None:
            self._copy.fence()

    def close(self) -> None:
        """Give the memory back; what the writer has of it, it keeps."""
        self._plan = self._copy = None
        self.arena.close()
        self.page.close()

    def skeletons(self, plan: Plan) -> Skeletons:
        """Stand-ins for the tensors of a plan, made once, off the training thread."""
        with self._making:
            if self._skeletons is None or self._skeletons[0]() is not plan:
                self._skeletons = (weakref.ref(plan), Skeletons(plan))
            return self._skeletons[1]
