"""Putting a checkpoint back into the parts of a training."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from instride.errors import DamagedError, UnsafeCheckpointError
from instride.saver.fitting import Fitting
from instride.saver.loading import is_smaller_form, load_file
from instride.saver.parts import fillable_state, gpus_of, is_optimizer, kept_state
from instride.saver.placing import HOST, Homes, Placing, plain_tensors
from instride.saver.reading import filling
from instride.saver.structure import skeleton_of
from instride.snapshot.runtime import gpus_in_use
from instride.store.manifest import Manifest
from instride.store.verifying import verify

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def read_state(
    path: Path,
    manifest: Manifest | None,
    fitting: Fitting,
    *,
    weights_only: bool,
) -> dict[str, Any]:
    """The tree of a checkpoint, as far as it fits; tensors that a part has already are filled where
    they are, if it does not mind. What is whole and cannot be read, or does not fit, is told as
    what it is, not as damage."""
    try:
        # What is made here lives on in the parts, longer than any inference mode.
        with torch.inference_mode(False):
            if not is_smaller_form(path):
                tree = _read_where_room_is(path, manifest, fitting)
                if tree is not None:
                    return tree
            return _read_plainly(path, manifest, fitting, weights_only=weights_only)
    except (DamagedError, OSError):
        raise
    except Exception:
        if manifest is not None:
            verify(path, manifest)  # a bit that flipped may look like anything, malice included
        raise


def _read_where_room_is(
    path: Path, manifest: Manifest | None, fitting: Fitting
) -> dict[str, Any] | None:
    """The quick way; None if a GPU has no room for it, too.

    What it took so far is let go of with its frames, when the error is.
    """
    try:
        return _read_into(path, manifest, fitting)
    except torch.OutOfMemoryError:
        return None


def _read_into(path: Path, manifest: Manifest | None, fitting: Fitting) -> dict[str, Any] | None:
    """The quick way; None for trees that it is not sure to bring back as they were."""
    skeleton = skeleton_of(path)
    loaded = None if skeleton is None else plain_tensors(skeleton.tree)
    if skeleton is None or loaded is None:
        return None
    offsets = skeleton.offsets(loaded)
    if offsets is None:
        return None
    saved, parts = fitting.check(skeleton.tree), fitting.parts
    placing = Placing(loaded, offsets, skeleton.locations)
    everywhere = _homes(parts)
    for name, part in parts.items():
        if fitting.may_fill(part):
            placing.match(saved.get(name), fillable_state(part))
        # Optimizers bring what is elsewhere to their parameters.
        homes = Homes(gpus_of(part)) if is_optimizer(part) else everywhere
        placing.keep(kept_state(part, saved.get(name)), homes)
    placing.keep(saved.get("extra"), everywhere)
    devices = placing.devices_of(saved)
    gpu = next((device for device in devices.values() if device.type == "cuda"), None)
    spans = {offset: skeleton.ranges[offset] for offset in devices}
    with filling(path, manifest, spans, gpu) as targets:
        tree: dict[str, Any] = placing.rebuild(saved, targets.add)
    return tree


def _homes(parts: Mapping[str, Any]) -> Homes:
    """Where what was on a GPU may go that belongs to nobody in particular."""
    in_use = gpus_in_use()
    here = torch.device("cuda", torch.cuda.current_device()) if in_use else HOST
    return Homes(gpus_of(*parts.values()), in_use, here)


def _read_plainly(
    path: Path, manifest: Manifest | None, fitting: Fitting, *, weights_only: bool
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
    return fitting.check(tree)


def _in_short(text: str) -> str:
    """What torch refuses, without what it says about that at length, in bold."""
    plain = ESCAPES.sub("", text)
    return plain.partition("WeightsUnpickler error: ")[2].partition(" Please use")[0] or plain
