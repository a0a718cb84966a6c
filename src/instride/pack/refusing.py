"""Why something is no file that could be packed or unpacked, and which files could be."""

from __future__ import annotations

from pathlib import Path

from instride.errors import PackError
from instride.places import PACK
from instride.reasons import Reason

PACKED_BEST = ("step_*.pt", "*.pt", "*.ckpt", "*.safetensors", "*.bin")
"""What checkpoints are called; the first that a directory has is what was probably meant."""


def not_to_pack(path: Path) -> PackError:
    """For what is no file."""
    pattern = next((each for each in PACKED_BEST if _has(path, each)), "")
    hint = "hint.directory" if pattern else "hint"
    return PackError(str(path), _why_no_file(path), hint=hint, pattern=pattern)


def not_to_unpack(path: Path) -> PackError:
    """For what is no pack."""
    why, hint = Reason("no-pack"), "hint.unpack"
    if not path.is_file():
        why = _why_no_file(path)
    if path.is_dir():
        hint = "hint.unpack.directory" if _has(path, f"*{PACK}") else "hint"
    return PackError(str(path), why, message="message.unpack", hint=hint)


def _why_no_file(path: Path) -> Reason:
    if path.is_dir():
        return Reason("os.EISDIR")
    return Reason("no-file" if path.exists() else "os.ENOENT")


def _has(directory: Path, pattern: str) -> bool:
    """Whether a shell would find a file by the pattern: it leaves out names that begin with a
    dot."""
    found = directory.glob(pattern) if directory.is_dir() else ()
    return any(path.is_file() and not path.name.startswith(".") for path in found)
