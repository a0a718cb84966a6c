"""The manifest of a checkpoint: what its bytes are, so that anyone can tell whether they still are.

A manifest is found by the last 64 KiB of the file that it describes. They hold the end of the
directory, and in it the checksum of a record that follows from every byte of every storage, so that
a file that was overwritten has another manifest or none: neither is ever taken for the other,
whatever moment a crash chose.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from blake3 import blake3

from instride.places import PRIVATE as PRIVATE
from instride.store.atomic import make_directory, write_whole
from instride.store.small_files import read_small

SCHEMA = 1
PIECE_BYTES = 4 << 20
TAIL_BYTES = 64 << 10
NO_CHECK = "0" * 64


class Timings(msgspec.Struct, frozen=True):
    call_s: float = 0.0
    """What the training thread paid for `save()`."""
    waited_s: float = 0.0
    """Of these, waiting for the snapshot before to be written."""
    staged_s: float = 0.0
    """From the call until the snapshot would survive the trainer."""
    durable_s: float = 0.0
    """From the call until the file had its name, fsynced."""


class Manifest(msgspec.Struct, frozen=True):
    name: str
    """Of the file."""
    token: str
    """BLAKE3 of the last 64 KiB, 16 hexadecimal digits."""
    size_bytes: int
    pieces: list[str]
    """BLAKE3 of each 4 MiB."""
    created_s: float
    """Seconds since 1970, by the clock of the machine."""
    serial: int = 0
    """Counts the commits of a store: what is newest does not depend on a clock or on the step."""
    step: int | None = None
    metric: float | None = None
    original_bytes: int | None = None
    """Of the file that a pack was made from."""
    base: str | None = None
    """The pack beside it that a pack was made against, and is nothing without."""
    by_agent: bool = False
    """The agent made it from a file that a script wrote: it counts whatever its name is."""
    unsafe: list[str] = []
    """Where in the state there are values that `torch.load(weights_only=True)` refuses."""
    timings: Timings = Timings()
    versions: dict[str, str] = {}
    piece_bytes: int = PIECE_BYTES
    schema: int = SCHEMA
    check: str = NO_CHECK
    """BLAKE3 of the manifest itself, as it lies on the disk with zeros here."""


def token_of(tail: bytes) -> str:
    """What a manifest is found by."""
    return blake3(tail).hexdigest()[:16]


def read_token(path: Path) -> str:
    """The token of a file as it lies there."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        return token_of(file.read(TAIL_BYTES))


def manifests_folder(checkpoint: Path) -> Path:
    return checkpoint.parent / PRIVATE / "manifests"


def manifest_path(checkpoint: Path, token: str) -> Path:
    return manifests_folder(checkpoint) / f"{checkpoint.name}.{token}.json"


def manifests_of(checkpoint: Path) -> list[Path]:
    """Every manifest that was written for files of this name."""
    folder = manifests_folder(checkpoint)
    # By the length of a token: `a.pt.pack` has manifests of its own beside those of `a.pt`.
    pattern = f"{_escaped(checkpoint.name)}.{'[0-9a-f]' * 16}.json"
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def write_manifest(
    checkpoint: Path, manifest: Manifest, temporary_in: Callable[[Path], Path] | None = None
) -> Path:
    """Make a manifest durable; it comes before the name of the file."""
    path = manifest_path(checkpoint, manifest.token)
    make_directory(path.parent)
    unsealed = msgspec.structs.replace(manifest, check=NO_CHECK)
    raw = msgspec.json.format(msgspec.json.encode(unsealed), indent=1)
    sealed = raw.replace(NO_CHECK.encode(), blake3(raw).hexdigest().encode())
    write_whole(path, sealed, temporary=temporary_in(path.parent) if temporary_in else None)
    return path


def read_manifest(checkpoint: Path) -> Manifest | None:
    """The manifest of the file as it lies there; None where there is none that can be read."""
    try:
        token = read_token(checkpoint)
        raw = read_small(manifest_path(checkpoint, token))
    except OSError:
        return None
    manifest = decode_manifest(raw)
    if manifest is None or (manifest.name, manifest.token) != (checkpoint.name, token):
        return None
    return manifest if _is_sealed(raw, manifest.check) else None


def last_written(checkpoint: Path) -> Manifest | None:
    """The last manifest that was written for files of this name, whatever lies there now; None if
    there is none, or one that cannot be read and might be the last."""
    found = []
    for path in manifests_of(checkpoint):
        try:
            manifest = decode_manifest(read_small(path))
        except OSError:
            return None
        if manifest is not None and manifest.name == checkpoint.name:
            found.append(manifest)
    return max(found, key=lambda manifest: manifest.serial, default=None)


def may_be_read(checkpoint: Path) -> bool:
    """Whether a file without a manifest, and the manifest that it may have, are open to us."""
    try:
        read_small(manifest_path(checkpoint, read_token(checkpoint)))
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def decode_manifest(raw: bytes) -> Manifest | None:
    """What the bytes of a manifest say; None if nothing that could be true of a file."""
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_sound = (
        manifest.piece_bytes == PIECE_BYTES
        and manifest.size_bytes >= 0
        and len(manifest.pieces) == -(-manifest.size_bytes // PIECE_BYTES)
        and _is_name(manifest.base)
    )
    return manifest if is_sound else None


def _is_name(base: str | None) -> bool:
    """A base lies beside the file: a way to somewhere else is no name."""
    return base is None or (base not in ("", ".", "..") and not set(base) & {"/", "\0"})


def _is_sealed(raw: bytes, check: str) -> bool:
    return blake3(raw.replace(check.encode(), NO_CHECK.encode())).hexdigest() == check


def versions_here(torch_version: str | None = None) -> Mapping[str, str]:
    """What wrote a checkpoint."""
    import platform

    from instride import __version__

    found = {"instride": __version__, "python": platform.python_version()}
    return {**found, "torch": torch_version} if torch_version else found
