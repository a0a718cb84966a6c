"""Why something cannot be packed or unpacked: it is no file, or the system refuses."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instride.errors import InstrideError, PackError, UnwritableError
from instride.places import PACK
from instride.reasons import Reason

PACKED_BEST = ("step_*.pt", "*.pt", "*.ckpt", "*.safetensors", "*.bin")
"""What checkpoints are called; the first that a directory has is what was probably meant."""

WRITING_FAILED = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}


def not_to_pack(path: Path) -> PackError:
    """For what is no file, or no file any more."""
    packed = f"{path}{PACK}"
    if not path.exists() and Path(packed).is_file():
        why = Reason("is-packed", {"pack": packed})
        return PackError(str(path), why, hint="hint.packed", pack=packed)
    pattern = next((each for each in PACKED_BEST if _has(path, each)), "")
    hint = "hint.directory" if pattern else "hint"
    return PackError(str(path), _why_no_file(path), hint=hint, pattern=pattern)


def not_to_unpack(path: Path) -> PackError:
    """For what is no pack."""
    why, hint = _why_no_pack(path), "hint.unpack"
    if path.is_dir():
        hint = "hint.unpack.directory" if _has(path, f"*{PACK}") else "hint"
    return PackError(str(path), why, message="message.unpack", hint=hint)


@contextmanager
def naming_what_failed(source: Path, target: Path, message: str = "message") -> Iterator[None]:
    """Tell what cannot be read from what cannot be written: by the name in the error, which
    reading and writing themselves do not have, or by what only writing can fail with."""
    try:
        yield
    except InstrideError:
        raise  # many are an OSError too
    except OSError as error:
        is_elsewhere = error.filename is not None and str(error.filename) != str(source)
        if is_elsewhere or error.errno in WRITING_FAILED:
            raise UnwritableError(str(target), Reason.of(error)) from error
        raise PackError(str(source), Reason.of(error), message=message) from error


def _why_no_pack(path: Path) -> Reason:
    if not path.is_file():
        return _why_no_file(path)
    try:
        path.open("rb").close()
    except OSError as error:
        return Reason.of(error)
    return Reason("no-pack")


def _why_no_file(path: Path) -> Reason:
    if path.is_dir():
        return Reason("os.EISDIR")
    return Reason("no-file" if path.exists() else "os.ENOENT")


def _has(directory: Path, pattern: str) -> bool:
    """Whether a shell would find a file by the pattern: it leaves out names that begin with a
    dot."""
    found = directory.glob(pattern) if directory.is_dir() else ()
    return any(path.is_file() and not path.name.startswith(".") for path in found)
