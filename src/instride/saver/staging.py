"""What a snapshot is taken with: arena, plan and pickles of tensors, kept from save to save."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress

import torch

from instride.errors import UnsafeStateError
from instride.faults import reached
from instride.saver.staged import Skeletal, Staged, Wholesale
from instride.snapshot.arena import PATIENCE_S, Arena
from instride.snapshot.copying import WholeCopy
from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.freezing import Frozen, UnsupportedStateError, freeze, without_collecting
from instride.snapshot.late import Promise
from instride.snapshot.pickling import Fragments
from instride.snapshot.planning import Plan
from instride.snapshot.runtime import letting_others_capture
from instride.system.cores import usable_cores
from instride.system.interpreter import giving_way
from instride.writer.page import COPIED, WRITTEN, SharedPage

MOST_TOUCHING = 6
"""Threads that ask for memory ahead of the first save, where it is not cores that train: at most
these, and half of the cores."""


class Stager:
    """Takes snapshots into one arena."""

    def __init__(self, memory_bytes: int | None) -> None:
        self.page = SharedPage.create()
        try:
            self.arena = Arena(memory_bytes)
        except OSError:
            self.page.close()
            raise
        self._plan: Plan | None = None
        self._copy: WholeCopy | None = None
        self._device_arenas = DeviceArenas()
        self.promises: Callable[[], Promise] = lambda: list
        """Asked once for each snapshot what only a fenced optimizer will change."""
        self.has_stepped: Callable[[], bool] = lambda: True
        """Asked once for each snapshot: whether training has run by now as it will, and shown how
        much memory it needs."""
        self._readying: threading.Thread | None = None
        self._is_stopping = False
        self._is_closed = False
        self._planning = threading.Lock()
        self._making = threading.Lock()
        self._making_copy = threading.Lock()
        self._fragments: tuple[weakref.ref[Plan], Fragments] | None = None

    @torch.inference_mode(False)  # memory made in that mode would be of no use outside of it
    @torch.no_grad()
    def prepare(self, tree: object, *, detached: bool) -> None:
        """Plan for a state like this one, and have its memory ready."""
        try:
            plan = self._plan_for(freeze(tree, detached=detached), detached=detached)
        except UnsupportedStateError:
            return
        self.arena.prepare(plan.layout.num_bytes, _num_touching() if plan.gpus else 0)
        readying = threading.Thread(target=self._make_ready, args=(plan,), daemon=True)
        readying.start()
        self._readying = readying

    def await_ready(self, timeout: float) -> None:
        """Until all is prepared that would hold up steps: all but the pages of the arena."""
        if self._readying is not None:
            self._readying.join(timeout)

    @torch.inference_mode(False)  # memory made in that mode would be of no use outside of it
    @torch.no_grad()
    def take(self, tree: object, *, detached: bool, allow_strange: bool) -> Staged:
        """Freeze and copy, now. Raises UnsafeStateError for what a strict save refuses."""
        if self._copy is not None:
            self._copy.begin()
        try:
            with without_collecting():
                frozen = freeze(tree, detached=detached)
                plan = self._plan_for(frozen, detached=detached)
        except UnsupportedStateError as error:
            self._drop_copy()
            return self._wholesale(tree, str(error), allow_strange=allow_strange)
        reached("frozen")
        if not allow_strange:
            self._refuse_strange(frozen, plan)
        if plan.layout.num_bytes > self.arena.num_bytes:
            self.arena.grow(plan.layout.num_bytes)
        room_bytes = self.arena.usable_bytes(plan.layout.num_bytes)
        staged = Skeletal(frozen, plan, self, room_bytes)
        if staged.streams:
            self._drop_copy()
            self.page[COPIED] = 0
            self.page[WRITTEN] = 0
        else:
            copier = self._copier(plan)
            self._device_arenas.know_peak(is_known=self.has_stepped())
            staged.copy(copier, self.promises())
        return staged

    def _wholesale(self, tree: object, why: str, *, allow_strange: bool) -> Staged:
        staged = Wholesale(self, tree, why)
        unsafe = staged.small_records()[1]
        if unsafe and not allow_strange:
            raise UnsafeStateError(unsafe)
        return staged

    def _refuse_strange(self, frozen: Frozen, plan: Plan) -> None:
        unsafe = self.fragments(plan).pickle(frozen)[1]
        if unsafe:
            raise UnsafeStateError(unsafe)

    def _plan_for(self, frozen: Frozen, *, detached: bool) -> Plan:
        with self._planning:
            plan = self._plan
            moved = plan.follow(frozen.tensors, detached=detached) if plan else None
            if plan is None or moved is None:
                plan = None
                self._let_go_of_all()
                self._plan = plan = Plan(frozen.tensors, detached=detached)
            else:
                self._move(moved)
            return plan

    def _move(self, moved: list[int]) -> None:
        if moved and self._copy is not None and not self._copy.follow(moved):
            self._drop_copy()

    def let_go(self, plan: Plan) -> None:
        """Off the training thread, once all is copied: keep nothing alive that is not needed.

        The parts of a Saver are there for as long as it is, and their storages are kept, so that
        the next call finds them where they were. What else was saved may be gone tomorrow.
        """
        with self._planning:
            if self._plan is plan:
                if not plan.detached:  # else only what is on the host is let go of
                    self._device_arenas.free_nothing_if_failed()
                self._move(plan.let_go(of_all=not plan.detached))

    def _copier(self, plan: Plan) -> WholeCopy:
        with self._making_copy:
            if self._copy is not None and self._copy.is_for(plan, self.arena):
                return self._copy
            copy = WholeCopy(plan, self.arena, self._device_arenas)
            if plan is self._plan:  # a save may have planned anew while this was made ahead of it
                self._copy = copy
            return copy

    def fence(self) -> None:
        """An optimizer is about to change what it owns."""
        if self._copy is not None:
            self._copy.fence()

    @property
    def is_late(self) -> bool:
        """Whether an optimizer has to wait before it changes what it owns."""
        return self._copy is not None and self._copy.is_late

    def give_way(self) -> None:
        """By the thread that trains, between two steps."""
        self._device_arenas.give_way()

    def mark_step(self) -> None:
        """By the thread that trains, once it has launched a step."""
        self.arena.backlog.mark()

    def abandon(self) -> None:
        """The snapshot was not taken to its end: no optimizer is to wait for what is left of it,
        and what was interrupted halfway is planned anew."""
        try:
            if self._copy is not None:
                with suppress(Exception):
                    self._copy.drain()
        finally:
            self._let_go_of_all()

    def _let_go_of_all(self) -> None:
        self._drop_copy()
        self._plan = None

    def _drop_copy(self) -> None:
        self._device_arenas.free_nothing_if_failed()
        self._copy = None

    @property
    def prepare_cost_s(self) -> float:
        """How long nothing could be launched on a GPU because memory was being locked for it, as
        far as it may have had nothing left to do."""
        return self.arena.register_s + self._device_arenas.register_s

    def close_in_child(self) -> None:
        """A forked child must neither keep the memory alive, nor write to it."""
        self.arena.close_in_child()
        self._device_arenas.close_in_child()
        if not self._is_closed:  # else its descriptor may be somebody else's by now
            self.page.close()

    def resting(self) -> AbstractContextManager[None]:
        """Meanwhile no memory is asked for or locked in the background."""
        return self.arena.resting()

    def stop_preparing(self) -> None:
        """Before the program ends, or the memory goes: what is being prepared is not needed."""
        self._is_stopping = True
        self.arena.stop_preparing()

    def await_stopped(self) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        self.await_ready(PATIENCE_S)
        self.arena.await_stopped(max(0.0, deadline_s - time.monotonic()))

    def close(self) -> None:
        """Give the memory back; what the writer has of it, it keeps."""
        self.stop_preparing()
        self.await_stopped()
        self._let_go_of_all()
        self._is_closed = True
        self._device_arenas.close()
        self.arena.close()
        self.page.close()

    def _make_ready(self, plan: Plan) -> None:
        # The save that needs them will say why they cannot be made.
        with suppress(Exception), giving_way(), ExitStack() as guest:
            for device in plan.gpus[:1]:
                guest.enter_context(torch.cuda.device(device))
                guest.enter_context(letting_others_capture())
            for device in plan.gpus:
                self._device_arenas.of(device).make_ready()
            if self._is_stopping:
                return
            self.fragments(plan)
            self.arena.grow(plan.layout.num_bytes)
            fits = plan is self._plan and plan.layout.num_bytes <= self.arena.num_bytes
            if fits and not self._copier(plan).has_room:
                # Much of it will be copied there while training waits.
                self.arena.lock(plan.gpus[0])

    def fragments(self, plan: Plan) -> Fragments:
        """The pickles of the tensors of a plan, made once, off the training thread."""
        with self._making:
            if self._fragments is None or self._fragments[0]() is not plan:
                self._fragments = (weakref.ref(plan), Fragments(plan))
            return self._fragments[1]


def _num_touching() -> int:
    return max(1, min(MOST_TOUCHING, usable_cores() // 2))
