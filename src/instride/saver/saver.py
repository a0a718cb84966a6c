"""`instride.Saver`: the three lines that a training script gets."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from instride.errors import InstrideError, MissingLibraryError, SaveFailedError
from instride.governor.model import BUDGET
from instride.saver.arguments import (
    check_extra,
    check_flags,
    check_options,
    directory_of,
    number_of,
    whole_step,
)
from instride.saver.beating import Beats
from instride.saver.choosing import engine_for
from instride.saver.leaving import await_dropped, close_when_dropped, weakly
from instride.saver.options import Options
from instride.saver.parts import Part, check_parts, live_state, tells_at_any_time
from instride.saver.pending import Pending, Purpose
from instride.saver.raising import Raising
from instride.saver.randomness import random_states
from instride.saver.rhythm import Rhythm
from instride.saver.way_back import WayBack
from instride.store.directory import name_of
from instride.store.retention import Keep

FORMAT = 1
START_S = 20.0
"""How long the constructor waits for the writer; storage that hangs must not hang the training."""
READY_S = 2.0
"""How long it waits for what is prepared meanwhile."""

STOP_MISSED = (
    "SIGTERM has arrived, and training goes on: this loop does not look at `saver.should_stop`\n\n"
    "hint: `if saver.should_stop: break` behind the save; a second SIGTERM ends the program"
)


class Saver:
    """Saves the parts of a training without stopping it, and restores them.

    `save()` returns when the snapshot is taken, in the time that copying takes; a process of its
    own writes, verifies, commits and prunes. Failures are warned about once and raised by
    `Pending.wait()` and `close()`, or by the next `save()` with `on_error="raise"`.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        keep: Keep | None = None,
        when_busy: Literal["wait", "skip"] = "wait",
        on_error: Literal["warn", "raise"] = "warn",
        strict: bool = False,
        memory_bytes: int | None = None,
        stall_s: float = 60.0,
        pack: bool = False,
        budget: float | None = BUDGET,
        **parts: object,
    ) -> None:
        check_options(
            keep=keep,
            when_busy=when_busy,
            on_error=on_error,
            memory_bytes=memory_bytes,
            stall_s=stall_s,
            budget=budget,
            strict=strict,
            pack=pack,
        )
        if pack and importlib.util.find_spec("numpy") is None:
            raise MissingLibraryError("pack", "numpy", extra="pack")
        self._parts = check_parts(parts, options=Saver.__init__.__kwdefaults__ or ())
        self.directory = directory_of(directory)
        await_dropped(self.directory)
        self._raising = Raising(on_error, when_busy)
        self._strict = strict
        self.extra: dict[str, Any] = {}
        """What went along with the checkpoint that was restored."""
        self.restored: Path | None = None
        """The checkpoint that was restored."""
        self._engine = engine_for(
            self.directory,
            Options(
                keep=keep or Keep(),
                memory_bytes=memory_bytes,
                when_busy=when_busy,
                stall_s=stall_s,
                packs=pack,
                budget=budget,
            ),
        )
        self._way_back = WayBack(self.directory, self._parts, self._engine)
        self._rhythm = Rhythm()
        with ExitStack() as undoing:
            undoing.callback(self._engine.close)
            undoing.callback(self._rhythm.stop_listening)
            self._rhythm.hear_requests()
            self._beats = Beats(self._engine, self._parts.values(), weakly(self._prepare))
            undoing.callback(self._beats.stop)
            self._prepare()
            self._engine.await_store(min(START_S, stall_s))
            # Kernels are loaded and memory is locked while the writer starts, not beside steps.
            self._engine.await_prepared(READY_S)
            self._see_store()
            undoing.pop_all()
        close_when_dropped(self, self._engine, self.directory, self._beats.stop)

    def _see_store(self) -> None:
        """What can be mended while training runs is told, unless somebody wants it raised."""
        problem = self._engine.problem
        if problem is None:
            return
        # The writer has asked the disk before: it answers.
        if self.directory.exists() and not self.directory.is_dir():
            raise ValueError(
                f"directory={str(self.directory)!r}: it is a file; a Saver needs a folder of its "
                "own, as in Saver('checkpoints', ...)"
            )
        failed = SaveFailedError(
            self.directory, problem, message="message.store", hint="hint.store"
        )
        if self._raising.is_wanted:
            raise failed
        self._engine.warn_once(
            "problem",
            f"{failed}; each save will try again\n\nhint: {failed.hint}; "
            "with `Saver(on_error='raise')` training does not begin like that",
        )

    def _prepare(self) -> None:
        """Nobody has asked for a save yet: what a part does when it is asked too early, alone among
        its ranks, or in the middle of a step is not tried out. Only torch's own are known."""
        parts = {name: part for name, part in self._parts.items() if tells_at_any_time(part)}
        with suppress(Exception):  # the first save will say why it does not work
            self._engine.prepare(self._state(0, {}, parts), detached=True)

    def _state(self, step: int, extra: dict[str, Any], parts: Mapping[str, Part]) -> dict[str, Any]:
        return {
            **{name: live_state(part) for name, part in parts.items()},
            "step": step,
            "rng": random_states(),
            "extra": extra,
            "instride": {"format": FORMAT},
        }

    def due(self, step: int, *, every: int | str | None = None) -> bool:
        """Whether it is time: every so many steps or minutes, or because a signal asked for it."""
        step = whole_step(step)
        self._beats.step(step)
        is_due = self._rhythm.is_due(step, every)
        if self._rhythm.is_stop_missed:
            self._engine.warn_once("stop", STOP_MISSED)
        return is_due

    @property
    def prepare_cost_s(self) -> float:
        """What preparing may have cost so far: the seconds in which nothing could be launched on a
        GPU because memory of the host was being locked for it, less those in which kernels of the
        last step were still in its queue (that of the first GPU, where there are several). 0 where
        there is none."""
        return self._engine.prepare_cost_s

    @property
    def should_stop(self) -> bool:
        """Whether SIGTERM has arrived: save, then leave the loop."""
        return self._rhythm.should_stop

    def save(
        self, step: int, *, metric: float | None = None, extra: dict[str, Any] | None = None
    ) -> Pending:
        """Take a snapshot of all parts as they are now; it becomes `step_<step>.pt`.

        Call it from the thread that trains, after `optimizer.step()`.
        """
        step = whole_step(step)
        check_extra(extra)
        self._raising.raise_failed()
        purpose = Purpose(self.directory / name_of(step), step, self._metric(metric), self._strict)
        pending = self._engine.save(
            self._state(step, extra or {}, self._parts), purpose, detached=True
        )
        self._raising.watch(pending)
        self._rhythm.saved()
        return pending

    def _metric(self, metric: float | None) -> float | None:
        if metric is None:
            return None
        number = number_of(metric)
        if number is None:
            self._engine.warn_once(
                "metric", f"metric={metric} is no number to compare by: such checkpoints have none"
            )
        return number

    def restore(
        self, *, step: int | None = None, strict: bool = True, weights_only: bool = True
    ) -> int:
        """Put the newest whole checkpoint, or that of a step, back; the step to run next.

        0 where there is none yet. A save in flight is waited for; a warning says if it failed, and
        the one before it is used. A damaged one is reported, and the one before it used. One that
        does not fit raises MismatchError before anything is changed; with `strict=False` what fits
        is taken, and a warning says what was left out. Whatever else ends it, such as memory that
        is missing or Ctrl-C, may leave the parts with some of a checkpoint.
        """
        step = None if step is None else whole_step(step)
        check_flags(strict=strict, weights_only=weights_only)
        found = self._way_back.take(step, strict=strict, weights_only=weights_only)
        self._beats.restored(None if found is None else found.next_step - 1)
        if found is None:
            return 0
        self.extra, self.restored = found.extra, found.path
        return found.next_step

    def close(self) -> None:
        """Wait for the save in flight and release the directory. Raises why that save failed; with
        `on_error="raise"` also why one before it did, if no later `save()` has."""
        error = self._end()
        if error is not None:
            raise error
        self._raising.raise_failed()

    def _end(self) -> InstrideError | None:
        self._rhythm.stop_listening()
        self._beats.stop()
        error = self._engine.close()
        self._beats.stop()  # nothing is late any more
        return error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._end()  # what ended the training is what the person must see
