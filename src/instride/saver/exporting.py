"""The tensors of a checkpoint in a safetensors file: nothing is unpickled that could run code."""

from __future__ import annotations

import os
import pickle
import re
import shlex
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from instride.errors import (
    DamagedError,
    InstrideError,
    NotExportableError,
    UnsafeCheckpointError,
    UnwritableError,
)
from instride.reasons import Reason
from instride.saver.loading import is_smaller_form, load_file
from instride.store.atomic import give_name, removed_on_failure, sync_file, temporary_beside
from instride.store.exported import SCHEMA, Export
from instride.store.verifying import known_manifest, verify

USUAL_PART = "model"
MOST_PARTS = 8
REFUSED = re.compile(r"GLOBAL (\S+) (?:was not an allowed|whose module)")
"""How torch names what it would have to import, and does not."""


def export(source: Path, target: Path, part: str | None) -> Export:
    """Write the tensors of a part; dots in its name lead deeper. Raises InstrideError."""
    found = source.resolve()
    if (manifest := known_manifest(found)) is not None:
        verify(found, manifest)
    tree = _read(found, target, part)
    if part is None and isinstance(tree, dict) and isinstance(tree.get(USUAL_PART), dict):
        part = USUAL_PART
    chosen = tree if part is None else _part(source, tree, part)
    tensors, left_out = _flattened(source, chosen)
    copied = _shared(tensors)
    ready = {name: _plain(source, name, tensor, copied) for name, tensor in tensors.items()}
    step = tree.get("step") if isinstance(tree, dict) else None
    step = step if type(step) is int else None
    size_bytes = _write(target, ready, step)
    return Export(
        SCHEMA, str(source), str(target), part, step, list(ready), size_bytes, copied, left_out
    )


def _read(path: Path, target: Path, part: str | None) -> Any:
    try:
        if is_smaller_form(path):
            return load_file(path, "cpu")
        return torch.load(
            path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
        )
    except pickle.UnpicklingError as error:
        raise _refused(path, str(error), target, part) from error
    except DamagedError:
        raise
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        why = str(error).partition("\n")[0]
        reason = Reason("no-archive", {"text": why})
        raise NotExportableError(str(path), reason, hint="hint.file") from error


def _refused(path: Path, text: str, target: Path, part: str | None) -> InstrideError:
    """What torch says at length, in a sentence; what is no checkpoint at all it refuses too."""
    named = REFUSED.search(text)
    if named is None and not zipfile.is_zipfile(path) and not is_smaller_form(path):
        _, _, short = text.partition("WeightsUnpickler error:")
        reason = Reason("no-archive", {"text": short.strip().partition("\n")[0]})
        return NotExportableError(str(path), reason, hint="hint.file")
    why = Reason("unsafe-name", {"name": named[1]}) if named else Reason("unsafe-form")
    tensors = target.with_name(f"{target.stem}-tensors.pt")
    state = f"instride.load({str(path)!r}, weights_only=False)"
    chosen = f"{state}[{(part or USUAL_PART).partition('.')[0]!r}]"
    python = f"import instride, torch; torch.save({chosen}, {str(tensors)!r})"
    command = shlex.join(["instride", "export", str(tensors), str(target)])
    return UnsafeCheckpointError(path, why, hint="hint.export", python=python, command=command)


def _part(path: Path, tree: Any, part: str) -> Any:
    """What a name with dots leads to; a key may hold dots itself."""
    if not isinstance(tree, dict):
        raise NotExportableError(str(path), Reason("no-parts"))
    for name in (key for key in tree if isinstance(key, str)):
        if part == name:
            return tree[name]
        if part.startswith(f"{name}.") and isinstance(tree[name], dict):
            return _part(path, tree[name], part.removeprefix(f"{name}."))
    names = ", ".join(f"`{key}`" for key in list(tree)[:MOST_PARTS])
    raise NotExportableError(str(path), Reason("no-part", {"part": part, "parts": names}))


def _flattened(path: Path, tree: Any) -> tuple[dict[str, torch.Tensor], list[str]]:
    tensors: dict[str, torch.Tensor] = {}
    left_out = []
    for name, value in _leaves(tree, "", frozenset()):
        if not isinstance(value, torch.Tensor):
            left_out.append(name)
        elif name in tensors:
            raise NotExportableError(str(path), Reason("same-name", {"name": name}))
        else:
            tensors[name] = value.detach()
    if not tensors:
        raise NotExportableError(str(path), Reason("no-tensors"))
    return tensors, left_out


def _leaves(value: Any, name: str, above: frozenset[int]) -> Iterator[tuple[str, Any]]:
    """Everything that is neither a mapping nor a sequence, by the names that lead to it."""
    if not isinstance(value, dict | list | tuple):
        yield name or "tensor", value
        return
    if id(value) in above:
        return  # a tree that holds itself
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in items:
        yield from _leaves(each, f"{name}.{key}" if name else str(key), above | {id(value)})


def _shared(tensors: dict[str, torch.Tensor]) -> list[str]:
    """Names of tensors that lie in the memory of another one."""
    storages = {
        name: tensor.untyped_storage().data_ptr()
        for name, tensor in tensors.items()
        if tensor.layout is torch.strided and tensor.numel()
    }
    users = Counter(storages.values())
    return [name for name, storage in storages.items() if users[storage] > 1]


def _plain(path: Path, name: str, tensor: torch.Tensor, copied: list[str]) -> torch.Tensor:
    """A tensor as the format has it: dense, in order, in memory of its own."""
    is_dense = tensor.layout is torch.strided
    if not is_dense or not _is_known(tensor.dtype):
        kind = str(tensor.dtype if is_dense else tensor.layout)
        raise NotExportableError(str(path), Reason("no-such-kind", {"name": name, "kind": kind}))
    is_whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    if name in copied or not is_whole or not tensor.is_contiguous():
        return tensor.clone(memory_format=torch.contiguous_format)
    return tensor


@cache
def _is_known(dtype: torch.dtype) -> bool:
    """Whether the format has a name for it; asked by trying, as the list is not public."""
    try:
        safetensors.torch.save({"": torch.empty(0, dtype=dtype)})
    except Exception:  # which one differs from version to version
        return False
    return True


def _write(target: Path, tensors: dict[str, torch.Tensor], step: int | None) -> int:
    """Put the file in place: all of it or nothing."""
    metadata = {"format": "pt"} if step is None else {"format": "pt", "step": str(step)}
    temporary = temporary_beside(target)
    try:
        with removed_on_failure(temporary):
            # Made here, so that it gets the permissions that every new file gets.
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            mode = temporary.stat().st_mode & 0o777
            safetensors.torch.save_file(tensors, temporary, metadata)
            temporary.chmod(mode)
            with temporary.open("rb") as file:
                sync_file(file.fileno())
            size_bytes = temporary.stat().st_size
            give_name(temporary, target)
    except OSError as error:
        raise UnwritableError(str(target), Reason.of(error)) from error
    except safetensors.SafetensorError as error:  # how it tells of a full disk
        raise UnwritableError(str(target), Reason("os", {"text": str(error)})) from error
    return size_bytes
