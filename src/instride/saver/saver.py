"""`instride.Saver`: the three lines that a training script gets."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import torch

from instride.errors import (
    DamagedError,
    InstrideError,
    MismatchError,
    NoCheckpointError,
    UnsafeCheckpointError,
)
from instride.saver.beating import Beats
from instride.saver.engine import Engine, Purpose
from instride.saver.parts import check_parts, live_state
from instride.saver.pending import Pending
from instride.saver.randomness import random_states, restore_random_states
from instride.saver.restoring import read_state
from instride.saver.rhythm import Rhythm
from instride.store.directory import Checkpoint, checkpoints_in, name_of
from instride.store.retention import Keep
from instride.store.verifying import verify

FORMAT = 1
START_S = 20.0
"""How long the constructor waits for the writer; storage that hangs must not hang the training."""


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
        **parts: object,
    ) -> None:
        if when_busy not in ("wait", "skip"):
            raise ValueError(f"when_busy={when_busy!r}: must be 'wait' or 'skip'")
        if on_error not in ("warn", "raise"):
            raise ValueError(f"on_error={on_error!r}: must be 'warn' or 'raise'")
        self._parts = check_parts(parts)
        self.directory = Path(directory).absolute()
        self._on_error = on_error
        self._strict = strict
        self.extra: dict[str, Any] = {}
        """What went along with the checkpoint that was restored."""
        self.restored: Path | None = None
        """The checkpoint that was restored."""
        self._engine = Engine(
            self.directory,
            keep or Keep(),
            memory_bytes=memory_bytes,
            when_busy=when_busy,
            stall_s=stall_s,
        )
        self._rhythm = Rhythm()
        self._rhythm.listen()
        self._last: Pending | None = None
        self._beats = Beats(self._engine, self._parts.values(), self._prepare)
        self._prepare()
        try:
            self._engine.courier.await_ready(min(START_S, stall_s))
        except InstrideError:
            self._abandon()
            raise
        problem = self._engine.courier.problem
        if problem is not None:
            self._engine.warn_once("problem", f"nothing can be saved now: {problem}")

    def _prepare(self) -> None:
        self._engine.prepare(self._state(0, {}), detached=True)

    def _state(self, step: int, extra: dict[str, Any]) -> dict[str, Any]:
        parts = {name: live_state(part) for name, part in self._parts.items()}
        return {
            **parts,
            "step": step,
            "rng": random_states(),
            "extra": extra,
            "instride": {"format": FORMAT},
        }

    def due(self, step: int, *, every: int | str | None = None) -> bool:
        """Whether it is time: every so many steps or minutes, or because a signal asked for it."""
        self._beats.step(step)
        return self._rhythm.is_due(step, every)

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
        if type(step) is not int or step < 0:
            raise ValueError(f"step={step!r}: must be a whole number from 0 on")
        if self._on_error == "raise" and self._last is not None and self._last.error is not None:
            error, self._last = self._last.error, None
            raise error
        purpose = Purpose(
            self.directory / name_of(step),
            step,
            None if metric is None else float(metric),
            self._strict,
        )
        self._last = self._engine.save(self._state(step, extra or {}), purpose, detached=True)
        self._rhythm.saved()
        return self._last

    def restore(
        self, *, step: int | None = None, strict: bool = True, weights_only: bool = True
    ) -> int:
        """Put the newest whole checkpoint, or that of a step, back; the step to run next.

        0 where there is none yet. A damaged one is reported, and the one before it used; the parts
        may hold some of it until then. `strict=False` takes what fits.
        """
        self._await_store()
        candidates = self._candidates(step)
        for checkpoint in candidates:
            try:
                if checkpoint.is_damaged:
                    verify(checkpoint.path)
                tree = read_state(
                    checkpoint.path, checkpoint.manifest, self._parts, weights_only=weights_only
                )
            except (DamagedError, OSError) as error:
                self._engine.warn_once(f"damaged {checkpoint.path}", _how_damaged(error))
                continue
            return self._put_back(checkpoint, tree, strict=strict)
        if candidates or step is not None:
            raise NoCheckpointError(self.directory, step)
        return 0

    def _candidates(self, step: int | None) -> list[Checkpoint]:
        """What may be restored, the last commit first; before them what is known to be damaged, to
        be told of: of these nobody knows how new they are."""
        return sorted(
            (
                checkpoint
                for checkpoint in checkpoints_in(self.directory)
                if checkpoint.was_ours and step in (None, checkpoint.step)
            ),
            key=lambda checkpoint: (checkpoint.is_damaged, checkpoint.serial),
            reverse=True,
        )

    def _put_back(self, checkpoint: Checkpoint, tree: dict[str, Any], *, strict: bool) -> int:
        missing = sorted(self._parts.keys() - tree.keys())
        if missing and strict:
            raise MismatchError(checkpoint.path, f"it has no part `{missing[0]}`")
        for name in missing:
            self._engine.warn_once(f"missing {name}", f"`{checkpoint.path}` has no part `{name}`")
        for name, part in self._parts.items():
            if name in tree:
                self._load(checkpoint, name, part, tree[name], strict=strict)
        restore_random_states(tree["rng"])
        self.extra = tree["extra"]
        self.restored = checkpoint.path
        return int(tree["step"]) + 1

    def _load(
        self, checkpoint: Checkpoint, name: str, part: Any, state: Any, *, strict: bool
    ) -> None:
        try:
            if isinstance(part, torch.nn.Module):
                part.load_state_dict(state, strict=strict)
            else:
                part.load_state_dict(state)
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            if strict:
                raise MismatchError(checkpoint.path, f"part `{name}`: {error}") from error
            self._engine.warn_once(f"part {name}", f"part `{name}` was not restored: {error}")

    def _await_store(self) -> None:
        """A writer of a run that was killed may still be committing what is to be restored."""
        courier = self._engine.courier
        start_s = time.monotonic()
        while not courier.await_ready(1.0):
            if courier.waits_for is not None:
                self._engine.warn_once(
                    "waiting",
                    f"waiting for writer {courier.waits_for}, which still commits a checkpoint of "
                    "the training before",
                )
            elif time.monotonic() - start_s > START_S:
                self._engine.warn_once("slow", f"`{self.directory}` does not answer yet")

    def close(self) -> None:
        """Wait for the save in flight and release the directory. Raises why that save failed."""
        self._rhythm.stop_listening()
        self._beats.stop()
        error = self._engine.close()
        if error is not None:
            raise error

    def _abandon(self) -> None:
        self._rhythm.stop_listening()
        self._beats.stop()
        self._engine.close()

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
            self._abandon()  # what ended the training is what the person must see


def _how_damaged(error: Exception) -> str:
    if isinstance(error, UnsafeCheckpointError | DamagedError):
        return f"{error}; the checkpoint before it is used"
    return f"a checkpoint cannot be read: {error}; the one before it is used"
