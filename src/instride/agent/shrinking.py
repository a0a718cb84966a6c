"""Originals of one directory to smaller files, and originals that are not needed any more."""

from __future__ import annotations

import errno
import shutil
import threading
import time
from collections.abc import Mapping

from instride.agent.care import Care
from instride.agent.compressing import PASSES, ChangedError
from instride.agent.looking import Form, Look, Original
from instride.agent.making import final_of, job
from instride.agent.telling import Progress, share_text, size_text
from instride.agent.wholeness import Identity
from instride.agent.working import do_aside
from instride.errors import InstrideError
from instride.faults import reached
from instride.governor.model import Cost
from instride.governor.pace import StoppedError
from instride.store.manifest import manifests_of
from instride.store.removing import remove

FULL = {errno.ENOSPC, errno.EDQUOT}
RETRY_S = 30.0


class _AtWork:
    """A file that is being compressed, as other threads see it."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self.total_bytes = PASSES * original.identity.size_bytes
        self.done_bytes = 0
        self.is_called_off = False
        self._lock = threading.Lock()

    def advance(self, num_bytes: int) -> None:
        """From the threads that do it. Raises ChangedError if nobody wants it any more."""
        with self._lock:
            self.done_bytes += num_bytes
        if self.is_called_off:
            raise ChangedError


class Shrinking:
    def __init__(self, care: Care) -> None:
        self._care = care
        self._teller = care.teller
        self._given_up: dict[str, Identity] = {}
        self._ratio = 1.0
        self._at_work: _AtWork | None = None
        self.retry_at_s = 0.0
        """After a full disk, by the monotonic clock."""

    @property
    def progress(self) -> Progress | None:
        work = self._at_work
        if work is None:
            return None
        return Progress(work.original.path.name, work.done_bytes, work.total_bytes)

    def shrink_next(self, seen: Look, whole: Mapping[str, Original]) -> bool:
        """Compress one original, or remove one that is not needed; False if there is none.

        The newest first: it is what a training would resume from, and stays longest.
        """
        for name in sorted(whole, key=self._care.memory.serial_of, reverse=True):
            original = whole[name]
            made = [form for form in seen.forms.get(name, ()) if form.is_made_of(original.identity)]
            if made:
                if self._may_remove(seen, original) and self._remove(original, made[0]):
                    return True
            elif self._may_shrink(seen, original):
                return self._shrink(original)
        return False

    def reconsider(self, seen: Look) -> None:
        """Call the work off if its original is gone, or another one by now; else see by when it
        should be done."""
        work = self._at_work
        if work is not None:
            name = work.original.path.name
            now = seen.originals.get(name)
            if now is None or now.identity != work.original.identity:
                work.is_called_off = True
            self._care.governing.look_again(name, self._care.arrivals)

    def _may_shrink(self, seen: Look, original: Original) -> bool:
        name = original.path.name
        if not self._care.configuration.is_compressing:
            return False
        if self._given_up.get(name) == original.identity or time.monotonic() < self.retry_at_s:
            return False
        final = final_of(original, self._care.configuration)
        if final.name in seen.others or final.is_symlink():
            whose = "is damaged" if manifests_of(final) else "is not the agent's"
            text = f"{final.name} is there already, and {whose}: {name} is left as it is"
            self._teller.tell_once(f"other {final.name}", "left", text, name=name)
            return False
        return self._has_room(original)

    def _has_room(self, original: Original) -> bool:
        """Whether the next checkpoint of the training would still fit beside what is made now."""
        size = original.identity.size_bytes
        needed = int(self._ratio * size) + size
        free = shutil.disk_usage(self._care.directory).free
        if free >= needed:
            self._teller.forget("room")
            return True
        self._wait_for_room(
            f"{original.path.name} waits: {size_text(free)} are free, and {size_text(needed)} are "
            "needed for it and the next checkpoint",
        )
        return False

    def _wait_for_room(self, text: str) -> None:
        self.retry_at_s = time.monotonic() + RETRY_S
        self._teller.tell_once("room", "full", text)

    def _shrink(self, original: Original) -> bool:
        care, begun_s = self._care, time.monotonic()
        work = _AtWork(original)
        serial = care.memory.serial_of(original.path.name)
        make = job(original, serial, care.configuration, care.governing, work.advance)
        care.governing.begin(original.path.name, work.total_bytes, care.arrivals)
        self._at_work = work
        try:
            stored = do_aside(make, care.tick)
        except ChangedError:
            text = f"{original.path.name} is gone, or changed meanwhile: what was made is removed"
            self._teller.tell("changed", text, name=original.path.name)
            return True
        except (OSError, InstrideError) as error:
            return self._fail(original, error)
        except StoppedError:
            text = f"{original.path.name} is not done: the next agent begins with it anew"
            self._teller.tell("stopped", text, name=original.path.name)
            raise
        finally:
            self._at_work = None
            is_lighter = care.governing.pace.codec_step > 0
            cost = care.governing.end()
        self._tell(original, stored, time.monotonic() - begun_s, cost, is_lighter=is_lighter)
        return True

    def _tell(
        self,
        original: Original,
        stored: int,
        seconds: float,
        cost: Cost | None,
        *,
        is_lighter: bool,
    ) -> None:
        name, size = original.path.name, original.identity.size_bytes
        self._teller.forget("room")
        if not is_lighter:
            self._ratio = stored / max(1, size)
        self._care.tally.num_made += 1
        self._care.tally.saved_bytes += size - stored
        self._care.proofs.note(final_of(original, self._care.configuration))
        text = (
            f"{name}: {size_text(size)} to {size_text(stored)} ({share_text(stored, size)}) in "
            f"{seconds:.0f} s"
        )
        if is_lighter:
            text += ", less than it could be: it had to be done by the next checkpoint"
        if cost is not None and cost.is_known:
            text += f", {cost.text()}"
        self._teller.tell(
            "compressed", text, name=name, bytes=stored, original_bytes=size, s=round(seconds, 3),
            cost=cost.share if cost else None, plus_minus=cost.plus_minus if cost else None,
        )  # fmt: skip

    def _fail(self, original: Original, error: Exception) -> bool:
        name = original.path.name
        if isinstance(error, FileNotFoundError) and not original.path.exists():
            return True  # deleted meanwhile: the next look will tell
        if isinstance(error, OSError) and error.errno in FULL:
            self._wait_for_room(
                f"{name}: the disk is full; what was made so far is removed, and it is tried again "
                "when there is room"
            )
            return False
        self._given_up[name] = original.identity
        why = getattr(error, "strerror", None) or str(error)
        self._teller.tell("failed", f"{name} is left as it is: {why}", name=name, why=why)
        return True

    def _may_remove(self, seen: Look, original: Original) -> bool:
        if not self._care.configuration.removes_original:
            return False
        name = original.path.name
        if name in seen.links:
            text = f"{name} stays, because a link points to it"
            self._teller.tell_once(f"link {name}", "left", text, name=name)
            return False
        return True

    def _remove(self, original: Original, form: Form) -> bool:
        """Delete an original whose smaller form was proven to hold it."""
        name = original.path.name
        if not self._care.proofs.holds(form.path, is_made=True):
            text = f"{name} stays: {form.path.name} is not what was written"
            self._teller.tell_once(f"damaged {form.path.name}", "damaged", text, name=name)
            return False
        if not original.is_still_there():
            return False
        self._care.memory.note_gone(name)  # first: else a kill looks like somebody who prunes
        self._care.memory.write()
        remove(original.path)
        reached("agent.removed")
        self._teller.note("removed", name=name, bytes=original.identity.size_bytes)
        return True
