"""Committed checkpoints become packs, one after the other, when there is nothing better to do.

A pack is made by a thread of its own, in a file that has no name yet; to put it in its place is up
to the thread that also saves and deletes, so that nobody else changes the store. A save that comes
meanwhile finds the hands of this work idle: they stop behind the block that they are at, and go on
when the save is committed.
"""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.store.bases import base_for, next_to_pack
from instride.store.directory import checkpoints_in
from instride.store.retention import Keep
from instride.system.heap import give_back_memory
from instride.writer.deleting import Deleting
from instride.writer.hands import Crew
from instride.writer.owning import Ownership
from instride.writer.page import SharedPage
from instride.writer.swapping import Draft, Order, Piecewise, put_in_place
from instride.writer.telling import Told, why_of

LAST_CALL_S = 30.0
"""Once somebody waits for the end, no further pack is begun after this."""


class Spoilt(msgspec.Struct, frozen=True):
    """A pack that could not be made."""

    order: Order
    why: str


class _AbandonedError(Exception):
    """Nobody wants the pack any more."""


class _Making:
    """One pack under way."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.is_abandoned = False


class Packs:
    """What the writer does for `Saver(pack=True)`."""

    def __init__(
        self,
        directory: Path | None,
        keep: Keep,
        page: SharedPage,
        crew: Crew,
        told: Told,
        ownership: Ownership | None,
        hand_over: Callable[[Draft | Spoilt], None],
    ) -> None:
        """Without a directory nothing is ever packed."""
        self._directory = directory
        self._keep = keep
        self._page = page
        self._crew = crew
        self._told = told
        self._ownership = ownership
        self._deleting = Deleting(directory, crew, told)
        self._hand_over = hand_over
        self._go = threading.Event()
        self._making: _Making | None = None
        self._spoilt: set[Path] = set()
        self._last_call_s: float | None = None
        self._is_awake = False
        self._is_over = False

    @property
    def is_busy(self) -> bool:
        """Whether something will be handed over."""
        return self._making is not None

    def pause(self) -> None:
        """Something more important has come."""
        self._go.clear()

    def go_on(self) -> None:
        """Take up what was left off, or begin with the next; if that cannot be, the next save will
        try again. Only from the thread that saves."""
        self._go.set()
        if self._directory is None or not self._is_awake or self._is_too_late():
            return
        if self._making is not None:
            return
        try:
            self._begin_next(self._directory)
        except Exception as error:  # such as no descriptor, or no thread, being left
            self._making = None
            self._told.note("pack-failed", path=str(self._directory), why=why_of(error))

    def _begin_next(self, directory: Path) -> None:
        present = checkpoints_in(directory)
        checkpoint = next_to_pack(present, self._spoilt)
        if checkpoint is None:
            return
        base = base_for(checkpoint, present, self._keep)
        self._making = _Making(Order.of(checkpoint, base, time.monotonic()))
        threading.Thread(target=self._make, args=(self._making,), daemon=True).start()

    def take(self, result: Draft | Spoilt) -> None:
        """Put a pack in the place of its original; one that cannot be made harms nobody. Only from
        the thread that saves."""
        making = self._making
        if making is None or making.order is not result.order:
            return  # it was abandoned
        self._making = None
        try:
            if isinstance(result, Spoilt):
                self._spoil(result.order, result.why)
            else:
                self._put_in_place(result)
        except Exception as error:  # the thread that saves goes on
            self._spoil(result.order, why_of(error))
        _drop(result.order)  # what got its name is not there any more

    def _put_in_place(self, draft: Draft) -> None:
        if self._is_store_new():
            return
        with self._deleting.noted():
            is_in_place = put_in_place(draft)
        if is_in_place:
            self._note(draft)

    def _is_store_new(self) -> bool:
        """Whether the store was deleted meanwhile, and made anew."""
        return self._ownership is not None and self._ownership.ensure()

    def _note(self, draft: Draft) -> None:
        order = draft.order
        base = order.base.path.name if order.base and draft.has_base else None
        if order.base is not None and draft.trouble is not None:
            self._told.note("damaged", path=str(order.base.path), why=draft.trouble)
        self._told.note(
            "packed", path=str(order.final), bytes=draft.pack_bytes, base=base,
            original_bytes=draft.original_bytes, s=time.monotonic() - order.called_s,
        )  # fmt: skip

    def _spoil(self, order: Order, why: str) -> None:
        self._spoilt.add(order.path)
        self._told.note("pack-failed", path=str(order.path), why=why)
        folder = shlex.quote(str(order.path.parent))
        self._told.notice(
            "pack-failed",
            f"`{order.path}` could not be packed, and stays as it is: {why}",
            f"`instride verify {folder}` and `df -h {folder}` show the checkpoints and the disk",
        )

    def wake(self) -> None:
        """Something was saved: there is work, and what could not be packed may be tried once more.

        Before, a training may be restoring what lies there, or only have come to look."""
        self._is_awake = True
        self._spoilt.clear()

    def abandon(self) -> bool:
        """Drop what is under way, and its file; whether there was any."""
        making, self._making = self._making, None
        if making is None:
            return False
        making.is_abandoned = True
        self._go.set()
        _drop(making.order)
        return True

    def hurry(self) -> None:
        """Somebody waits for the end."""
        if self._last_call_s is None:
            self._last_call_s = time.monotonic() + LAST_CALL_S
        self._crew.hurry(for_good=True)

    def give_up(self) -> None:
        """Nobody waits, and another training may: leave everything as it is."""
        self._is_over = True
        self.abandon()

    def _is_too_late(self) -> bool:
        is_late = self._last_call_s is not None and time.monotonic() > self._last_call_s
        return self._is_over or is_late

    def _make(self, making: _Making) -> None:
        order = making.order
        try:
            # Loaded here because of numpy, which a writer that packs nothing can do without.
            from instride.writer.drafting import draft

            result: Draft | Spoilt = draft(order, lambda work: self._do(making, work))
        except _AbandonedError:
            _drop(order)
            return
        except Exception as error:  # what cannot be packed stays as it is
            _drop(order)
            result = Spoilt(order, str(error) or type(error).__name__)
        finally:
            give_back_memory()
        self._hand_over(result)

    def _do(self, making: _Making, work: Piecewise) -> None:
        """Get some work done, in as many goes as it takes."""
        while num_bytes := work.bytes_left:
            self._go.wait()
            if making.is_abandoned:
                raise _AbandonedError
            self._crew.run(
                lambda: self._is_going(making) and self._do_one(work), num_bytes=num_bytes
            )

    def _is_going(self, making: _Making) -> bool:
        return self._go.is_set() and not making.is_abandoned

    def _do_one(self, work: Piecewise) -> bool:
        is_done = work.do_one()
        self._page.count_progress()
        return is_done


def _drop(order: Order) -> None:
    """Delete what there is of a pack; what a disk refuses to delete is swept by the next owner."""
    with suppress(OSError):
        order.temporary.unlink(missing_ok=True)
