"""Putting a checkpoint back into the parts of a training."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from instride.errors import DamagedError, MismatchError, UnsafeCheckpointError
from instride.saver.loading import is_smaller_form, load_file
from instride.saver.parts import RESERVED, fillable_state, gpus_of, kept_state
from instride.saver.placing import HOST, Homes, Placing, plain_tensors
from instride.saver.reading import fill, skeleton_of
from instride.snapshot.runtime import gpus_in_use
from instride.store.manifest import Manifest
from instride.store.verifying import verify

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def read_state(
    path: Path,
    manifest: Manifest | None,
    parts: Mapping[str, Any],
    *,
    weights_only: bool,
    strict: bool = True,
) -> dict[str, Any]:
    """The tree of a checkpoint; tensors that a part has already are filled where they are, if it
    does not mind. What is whole and cannot be read is told as what it is, not as damage."""
    try:
        # What is made here lives on in the parts, longer than any inference mode.
        with torch.inference_mode(False):
            if not is_smaller_form(path):
                tree = _read_where_room_is(path, manifest, parts, strict=strict)
                if tree is not None:
                    return tree
            return _read_plainly(path, manifest, weights_only=weights_only, strict=strict)
    except (DamagedError, OSError):
        raise
    except Exception:
        if manifest is not None:
            verify(path, manifest)  # a bit that flipped may look like anything, malice included
        raise


def _read_where_room_is(
    path: Path, manifest: Manifest | None, parts: Mapping[str, Any], *, strict: bool
) -> dict[str, Any] | None:
    """The quick way; None if a GPU has no room for it, too.

    What it took so far is let go of with its frames, when the error is.
    """
    try:
        return _read_into(path, manifest, parts, strict=strict)
    except torch.OutOfMemoryError:
        return None


def _read_into(
    path: Path, manifest: Manifest | None, parts: Mapping[str, Any], *, strict: bool
) -> dict[str, Any] | None:
    """The quick way; None for trees that it is not sure to bring back as they were."""
    skeleton = skeleton_of(path)
    loaded = None if skeleton is None else plain_tensors(skeleton.tree)
    if skeleton is None or loaded is None:
        return None
    offsets = skeleton.offsets(loaded)
    if offsets is None:
        return None
    saved = _checked(path, skeleton.tree, strict=strict)
    placing = Placing(loaded, offsets, skeleton.locations)
    everywhere = _homes(parts)
    for name, part in parts.items():
        placing.match(saved.get(name), fillable_state(part))
        # Optimizers bring what is elsewhere to their parameters.
        is_optimizer = isinstance(part, torch.optim.Optimizer)
        homes = Homes(gpus_of(part)) if is_optimizer else everywhere
        placing.keep(kept_state(part, saved.get(name)), homes)
    placing.keep(saved.get("extra"), everywhere)
    tree: dict[str, Any] = placing.rebuild(saved)
    fill(path, manifest, placing.targets)
    return tree


def _homes(parts: Mapping[str, Any]) -> Homes:
    """Where what was on a GPU may go that belongs to nobody in particular."""
    in_use = gpus_in_use()
    here = torch.device("cuda", torch.cuda.current_device()) if in_use else HOST
    return Homes(gpus_of(*parts.values()), in_use, here)


def _read_plainly(
    path: Path, manifest: Manifest | None, *, weights_only: bool, strict: bool
) -> dict[str, Any]:
    """The way of `torch.load`, for everything else."""
    if manifest is not None:
        verify(path, manifest)
    try:
        tree = load_file(path, "cpu", weights_only=weights_only)
    except pickle.UnpicklingError as error:
        if not weights_only:
            raise
        raise UnsafeCheckpointError(path, _in_short(str(error))) from error
    return _checked(path, tree, strict=strict)


def _in_short(text: str) -> str:
    """What torch refuses, without what it says about that at length, in bold."""
    plain = ESCAPES.sub("", text)
    return plain.partition("WeightsUnpickler error: ")[2].partition(" Please use")[0] or plain


def _checked(path: Path, tree: object, *, strict: bool) -> dict[str, Any]:
    """The tree, if a Saver made it, or somebody else who names parts in the same way."""
    if not isinstance(tree, dict):
        raise MismatchError(path, f"it holds a `{type(tree).__qualname__}`, not named parts")
    if strict and not tree.keys() >= RESERVED:
        raise MismatchError(
            path, "it was not saved by a Saver: it says neither step nor state of the generators"
        )
    return tree
