"""What the processes of this machine do within a moment: processors, disk traffic, open files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import psutil

from instride.doctor.machine.memory import Swapped, read_swapped
from instride.doctor.machine.programs import Trade, shown_name, trade_of

WINDOW_S = 0.5
BUSY_CORES = 0.1
BUSY_BYTES_PER_S = 1e6
"""Less is not worth a closer look."""
SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".distcp", ".tar")


class Activity(msgspec.Struct, frozen=True):
    """A process that is busy, or known by its name, or has a checkpoint open."""

    pid: int
    name: str
    trade: Trade
    cores: float
    """Processors it kept busy."""
    io_bytes_per_s: float | None
    """Read and written; None where that may not be seen."""
    nice: int
    is_idle_class: bool
    """Scheduled only when nobody else wants the processor: SCHED_IDLE of Linux."""
    io_class: int | None
    """As `ionice` counts them: 3 is idle; None where there are none."""
    folder: str | None
    """Where it was started, as far as that may be seen."""
    age_s: float
    """Since it was started."""
    open_checkpoints: tuple[str, ...] = ()
    """For reading."""

    @property
    def title(self) -> str:
        return f"{self.name} ({self.pid})"


class Sample(msgspec.Struct, frozen=True):
    seconds: float
    processes: tuple[Activity, ...]
    num_hidden: int
    """Processes that did something, and whose files and traffic may not be seen.

    The first process of a container hides them from root, too.
    """
    swapped: tuple[Swapped, Swapped] | None


NOTHING_SEEN = Sample(0.0, (), 0, None)


class _Counted(msgspec.Struct, frozen=True):
    at: float
    cpu_s: float
    io_bytes: int | None


def take_sample(
    folders: Sequence[Path], window_s: float = WINDOW_S, sleep: Callable[[float], None] = time.sleep
) -> Sample:
    """Look twice at all processes; folders are where checkpoints are."""
    begin, swapped_before = time.monotonic(), read_swapped()
    before = {process: counted for process in _others() if (counted := _count(process))}
    sleep(window_s)
    found: list[Activity] = []
    num_hidden = 0
    for process, earlier in before.items():
        later = _count(process)
        if later is None:
            continue
        # What takes no time of a processor moves no bytes that anybody would feel.
        num_hidden += psutil.LINUX and later.io_bytes is None and later.cpu_s > earlier.cpu_s
        opened = _open_checkpoints(process.pid, folders) if folders else []
        activity = _describe(process, earlier, later, tuple(opened))
        if activity is not None:
            found.append(activity)
    swapped_after = read_swapped()
    swapped = (swapped_before, swapped_after) if swapped_before and swapped_after else None
    return Sample(time.monotonic() - begin, tuple(found), num_hidden, swapped)


def _others() -> Iterator[psutil.Process]:
    """Without this process, and without threads of the kernel."""
    left_out = {0, os.getpid()}
    for process in psutil.process_iter():
        if process.pid not in left_out and not _is_of_kernel(process.pid):
            yield process


def _is_of_kernel(pid: int) -> bool:
    """A thread of the Linux kernel, or a process that has ended: they have no command line."""
    if not psutil.LINUX:
        return False
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


def _count(process: psutil.Process) -> _Counted | None:
    try:
        times = process.cpu_times()
    except (psutil.Error, OSError):
        return None
    return _Counted(time.monotonic(), times.user + times.system, _io_bytes(process))


def _io_bytes(process: psutil.Process) -> int | None:
    if not hasattr(process, "io_counters"):  # not on macOS
        return None
    try:
        counters = process.io_counters()
    except (psutil.Error, OSError):
        return None
    return int(counters.read_bytes + counters.write_bytes)


def _describe(
    process: psutil.Process, earlier: _Counted, later: _Counted, opened: tuple[str, ...]
) -> Activity | None:
    seconds = max(1e-3, later.at - earlier.at)
    cores = (later.cpu_s - earlier.cpu_s) / seconds
    io_bytes_per_s = None
    if earlier.io_bytes is not None and later.io_bytes is not None:
        io_bytes_per_s = (later.io_bytes - earlier.io_bytes) / seconds
    try:
        name = process.name()
        is_busy = cores >= BUSY_CORES or (io_bytes_per_s or 0) >= BUSY_BYTES_PER_S
        if not is_busy and not opened:
            return None
        command = process.cmdline()
        return Activity(
            pid=process.pid,
            name=shown_name(name, command),
            trade=trade_of(name, command),
            cores=cores,
            io_bytes_per_s=io_bytes_per_s,
            nice=int(process.nice() or 0),
            is_idle_class=_is_idle_class(process.pid),
            io_class=int(process.ionice().ioclass) if psutil.LINUX else None,
            folder=_folder(process),
            age_s=time.time() - process.create_time(),
            open_checkpoints=opened,
        )
    except (psutil.Error, OSError):  # gone meanwhile
        return None


def _is_idle_class(pid: int) -> bool:
    if not hasattr(os, "sched_getscheduler"):
        return False
    return os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_IDLE


def _folder(process: psutil.Process) -> str | None:
    try:
        return process.cwd() or None
    except (psutil.Error, OSError):
        return None


def _open_checkpoints(pid: int, folders: Sequence[Path]) -> list[str]:
    """Checkpoints that a process reads in some folders, as far as that may be seen.

    Those that it writes are its own affair: it is the training that does so.
    """
    if not psutil.LINUX:
        return []
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - thousands: pathlib is slow
            path = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115 - the same
            is_one = path.endswith(SUFFIXES)
            if is_one and any(Path(path).is_relative_to(folder) for folder in folders):
                found += [path] if _is_read(pid, name) else []
    except OSError:  # not to be seen, or gone meanwhile
        return []
    return found


def _is_read(pid: int, descriptor: str) -> bool:
    text = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text(encoding="ascii")
    flags = next((line.split()[1] for line in text.splitlines() if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE == os.O_RDONLY
