"""The way back: which checkpoint is restored, and how the parts of a training get it."""

from __future__ import annotations

import errno
import shlex
import time
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import torch

from instride.errors import (
    DamagedError,
    MismatchError,
    NoCheckpointError,
    NoStoreError,
)
from instride.reasons import Reason
from instride.saver.choosing import Awaited
from instride.saver.fitting import Fitting
from instride.saver.misfits import ModuleMisfits
from instride.saver.parts import Part
from instride.saver.randomness import restore_random_states
from instride.saver.restoring import read_state
from instride.store.directory import Checkpoint, checkpoints_in
from instride.store.manifest import PRIVATE
from instride.store.presence import is_gone
from instride.store.verifying import verify

DISK_LOST = {errno.EIO, errno.ENODATA, errno.EBADMSG, getattr(errno, "EUCLEAN", errno.EIO)}
"""What a disk answers that has lost what was written."""
SLOW_S = 20.0
"""How long a store may take to answer before that is worth a word."""


class Restored(NamedTuple):
    """What was put back."""

    path: Path
    next_step: int
    extra: dict[str, Any]


class WayBack:
    """Puts checkpoints of a store back into the parts of a training."""

    def __init__(self, directory: Path, parts: Mapping[str, Part], engine: Awaited) -> None:
        self._directory = directory
        self._parts = parts
        self._engine = engine

    def take(self, step: int | None, *, strict: bool, weights_only: bool) -> Restored | None:
        """Put the newest whole checkpoint, or that of a step, back; None if there is none yet.

        Raises NoCheckpointError if there are some and none of them is whole.
        """
        self._await_saved()
        self._await_store()
        tried: set[Path] = set()
        while (checkpoint := self._next_candidate(step, tried)) is not None:
            tried.add(checkpoint.path)
            try:
                if not checkpoint.is_ours:
                    verify(checkpoint.path)
                fitting = Fitting(checkpoint.path, self._parts, strict=strict)
                with self._engine.resting():  # the next save can wait, whoever restores does
                    tree = read_state(
                        checkpoint.path, checkpoint.manifest, fitting, weights_only=weights_only
                    )
            except FileNotFoundError as error:
                if not is_gone(checkpoint.path):  # a link to a disk that is not there just now
                    path, why = str(checkpoint.path), Reason.of(error)
                    raise NoStoreError(path, why, hint="hint.away") from error
                continue  # it was packed meanwhile, and its pack is next
            except PermissionError as error:
                # It may be whole: to go back to the one before would give up work.
                raise NoStoreError(str(checkpoint.path), Reason.of(error)) from error
            except (DamagedError, OSError) as error:
                if isinstance(error, OSError) and error.errno not in DISK_LOST:
                    raise  # it is not the checkpoint's fault, and may pass: no work is given up
                self._engine.warn_once(
                    f"damaged {checkpoint.path}", _how_damaged(checkpoint.path, error)
                )
                continue
            if step is None:
                self._tell_of_strangers(checkpoint.step)
            return self._put_back(checkpoint, tree, fitting)
        self._tell_of_strangers(-1, step, begins_anew=not tried)
        if tried or step is not None:
            raise NoCheckpointError(self._directory, step)
        return None

    def _next_candidate(self, step: int | None, tried: set[Path]) -> Checkpoint | None:
        """What may be restored, the last commit first; before them what is known to be damaged, to
        be told of: of these nobody knows how new they are."""
        try:
            present = checkpoints_in(self._directory)
        except PermissionError as error:
            where = str(error.filename or self._directory)
            raise NoStoreError(where, Reason.of(error)) from error
        return max(
            (
                checkpoint
                for checkpoint in present
                if checkpoint.was_ours and step in (None, checkpoint.step)
                if checkpoint.path not in tried
            ),
            key=lambda checkpoint: (checkpoint.is_damaged, checkpoint.serial),
            default=None,
        )

    def _tell_of_strangers(
        self, restored: int, step: int | None = None, *, begins_anew: bool = False
    ) -> None:
        """Nothing is restored, or an older step: whoever sees checkpoints lie there must not wonder
        why."""
        strangers = [
            checkpoint.path
            for checkpoint in checkpoints_in(self._directory)
            if not checkpoint.was_ours and step in (None, checkpoint.step)
            if checkpoint.step > restored
        ]
        if strangers:
            begins = "; training begins at step 0" if begins_anew and step is None else ""
            self._engine.warn_once(
                "strangers",
                f"`{strangers[-1]}` is not restored, nor is any other that has no manifest: nobody "
                f"can tell whether it is whole{begins}\n\nhint: a copy of checkpoints needs the "
                f"hidden `{PRIVATE}` beside them, as in `cp -a checkpoints/. copy`; what has lost "
                f"it can be read with `instride.load({str(strangers[-1])!r})`",
            )

    def _put_back(self, checkpoint: Checkpoint, tree: dict[str, Any], fitting: Fitting) -> Restored:
        for note in fitting.notes:
            self._engine.warn_once(note, note)
        # Modules first: what they refuse, an optimizer must not have moments of.
        for name in sorted(self._parts, key=lambda name: not _is_module(self._parts[name])):
            if name in tree:
                self._load(checkpoint, name, tree[name], fitting)
        for why in restore_random_states(tree.get("rng", {})):
            self._engine.warn_once(f"random {why}", why)
        next_step = int(tree.get("step", checkpoint.step)) + 1
        return Restored(checkpoint.path, next_step, tree.get("extra", {}))

    def _load(self, checkpoint: Checkpoint, name: str, state: Any, fitting: Fitting) -> None:
        part: Any = self._parts[name]
        why = None
        try:
            if _is_module(part):
                keys = part.load_state_dict(state, **_strictness(part, strict=fitting.strict))
                why = None if fitting.has_compared(name) else _what_differs(keys)
            elif fitting.is_in_doubt(part):
                why = "not all of its parameters may have been: it stays as it was"
            else:
                part.load_state_dict(state)
        except Exception as error:  # what code of its own does with a state is its own affair
            told = f"{type(error).__name__}: {error}"
            if fitting.strict:
                raise MismatchError(checkpoint.path, f"part `{name}`: {told}") from error
            why = told
        if why is not None:
            fitting.doubt(name)
            note = f"part `{name}` was not restored as a whole from `{checkpoint.path}`: {why}"
            self._engine.warn_once(note, note)

    def _await_saved(self) -> None:
        """What was saved last is the newest, and may be on its way still. Nor may it be changed by
        what is restored, where something of it is yet to be copied."""
        failed = self._engine.await_saved()
        if failed is not None:
            self._engine.warn_once(f"restored without {failed}", f"{failed}\n\nhint: {failed.hint}")
        self._engine.fence()

    def _await_store(self) -> None:
        """A writer of a run that was killed may still be committing what is to be restored."""
        start_s = time.monotonic()
        while not self._engine.await_store(1.0):
            if self._engine.waits_for is not None:
                self._engine.warn_once(
                    "waiting",
                    f"waiting for writer {self._engine.waits_for}, which still commits a "
                    "checkpoint of the training before",
                )
            elif time.monotonic() - start_s > SLOW_S:
                self._engine.warn_once("slow", f"`{self._directory}` does not answer yet")


def _is_module(part: object) -> bool:
    return isinstance(part, torch.nn.Module)


def _strictness(module: Any, *, strict: bool) -> dict[str, bool]:
    """What to say of it to a module: nothing, where it is what modules do by themselves anyway, and
    a module with code of its own may have no word for it."""
    parameters = signature(module.load_state_dict).parameters.values()
    is_known = any(each.name == "strict" or each.kind is each.VAR_KEYWORD for each in parameters)
    return {} if strict or not is_known else {"strict": False}


def _what_differs(keys: Any) -> str | None:
    """What a module with code of its own says that it did without."""
    only_saved = list(getattr(keys, "unexpected_keys", ()))
    only_live = list(getattr(keys, "missing_keys", ()))
    misfits = ModuleMisfits(only_saved, only_live, {})
    return misfits.told(strict=False) if misfits.are_there else None


def _how_damaged(path: Path, error: DamagedError | OSError) -> str:
    what = f"`{path}` cannot be read: {error}" if isinstance(error, OSError) else str(error)
    return (
        f"{what}; it is passed over\n\nhint: `instride verify {shlex.quote(str(path))}` reads all "
        "of it again, and says what differs"
    )
