"""Whether a file is all there: by its end where its format has one, by who has it open, by waiting.

A watcher that believes the first event reads half a checkpoint. Here a file counts as whole when
its format says so and nobody has it open for writing; where either cannot be known, it must not
have changed from one look to a later one.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection, Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO

import msgspec

from instride.system.filesystems import Kind, kind_of
from instride.system.mounts import mount_of

PROC = Path("/proc")
FIRST_PID_NAMESPACE = 0xEFFFFFFC
"""The inode of the namespace that a machine starts with: in another one, others are not seen."""
SEEN_BY_OTHERS = {Kind.WINDOWS, Kind.HOST, Kind.NETWORK, Kind.OBJECTS, Kind.FUSE, Kind.UNKNOWN}
"""Filesystems that another machine may write to."""
SETTLED_S = 2.0
"""A file that has an end, and somebody we cannot see might have open, must be the same for so
long."""
SETTLED_WITHOUT_END_S = 10.0
"""The same, for formats that do not tell whether they are complete."""
ZIP_START = b"PK\x03\x04"
LENGTH_BYTES = 8
MOST_HEADER_BYTES = 100 << 20


class End(Enum):
    """What the format of a file tells of its end."""

    THERE = "there"
    MISSING = "missing"
    UNKNOWN = "unknown"


class Identity(msgspec.Struct, frozen=True):
    """A file as it was at one look."""

    size_bytes: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


def end_of(path: Path) -> End:
    """Whether the last bytes are those that are written last."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(LENGTH_BYTES)
            if start.startswith(ZIP_START):
                return _end_of_zip(path)
            if path.suffix == ".safetensors":
                return _end_of_safetensors(start, file, size)
    except OSError:
        return End.MISSING
    return End.UNKNOWN if size else End.MISSING


def _end_of_zip(path: Path) -> End:
    """`torch.save` writes the directory last: a zip that has it has everything before it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return End.THERE if archive.infolist() else End.MISSING
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        # What looks like a directory may be numbers of a tensor, as long as the file is written:
        # zipfile finds names that are no text in it, and versions that there will never be.
        return End.MISSING


class _Tensor(msgspec.Struct):
    """What the header of a safetensors file says of one; of the other entry, nothing."""

    data_offsets: tuple[int, int] = (0, 0)


def _end_of_safetensors(start: bytes, file: BinaryIO, size: int) -> End:
    """The header says how long the file is."""
    header_bytes = int.from_bytes(start, "little")
    if len(start) < LENGTH_BYTES or header_bytes > min(size, MOST_HEADER_BYTES):
        return End.MISSING
    try:
        header = msgspec.json.decode(file.read(header_bytes), type=dict[str, _Tensor])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return End.MISSING
    last = max((tensor.data_offsets[1] for tensor in header.values()), default=0)
    return End.THERE if LENGTH_BYTES + header_bytes + last == size else End.MISSING


class Writers(msgspec.Struct, frozen=True):
    """Who has files open for writing, as far as this process may look."""

    pids: dict[tuple[int, int], set[int]]
    """By device and inode."""
    num_hidden: int
    """Processes that may not be looked at."""

    def of(self, path: Path) -> set[int]:
        try:
            status = path.stat()
        except OSError:
            return set()
        return self.pids.get((status.st_dev, status.st_ino), set())


def writers(paths: Collection[Path], proc: Path = PROC) -> Writers:
    """Look through the open files of every process for these."""
    wanted = set()
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        wanted.add((status.st_dev, status.st_ino))
    names = {path.name for path in paths}
    found: dict[tuple[int, int], set[int]] = {}
    num_hidden = 0
    for folder in proc.iterdir() if wanted else ():
        if not folder.name.isdigit() or folder.name == str(os.getpid()):
            continue
        try:
            for key in _written_by(folder, wanted, names):
                found.setdefault(key, set()).add(int(folder.name))
        except PermissionError:
            num_hidden += 1
        except OSError:
            continue  # it has just ended
    return Writers(found, num_hidden)


def _written_by(
    process: Path, wanted: set[tuple[int, int]], names: set[str]
) -> Iterator[tuple[int, int]]:
    for link in (process / "fd").iterdir():
        try:
            # By its name first: a status of anybody's file may hang on a dead server.
            if link.readlink().name not in names:
                continue
            status = link.stat()
            key = status.st_dev, status.st_ino
            if key in wanted and _is_for_writing(process / "fdinfo" / link.name):
                yield key
        except FileNotFoundError:
            continue  # closed while we looked


def _is_for_writing(fdinfo: Path) -> bool:
    for line in fdinfo.read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & os.O_ACCMODE != os.O_RDONLY
    return True


def unseen_writers(directory: Path, num_hidden: int, proc: Path = PROC) -> str | None:
    """Why somebody might have a file open without our seeing it; None if nobody can."""
    mount = mount_of(directory, proc / "self/mountinfo")
    if mount is None or kind_of(mount) in SEEN_BY_OTHERS:
        kind = "an unknown filesystem" if mount is None else mount.type
        return f"{kind} may be written from another machine"
    try:
        is_inside = (proc / "self/ns/pid").stat().st_ino != FIRST_PID_NAMESPACE
    except OSError:
        is_inside = True
    if is_inside:
        return "processes outside of this container cannot be seen"
    if num_hidden:
        others = "a process" if num_hidden == 1 else f"{num_hidden} processes"
        return f"{others} of other people may have it open unseen"
    return None
