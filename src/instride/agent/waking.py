"""Waking up early: events of the kernel only ever say that it is time to look.

They are lost on network filesystems, on 9p, and when too many come at once; the next look comes
all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path

from instride.system.filesystems import Kind, kind_of
from instride.system.mounts import MOUNTINFO, mount_of

WITH_EVENTS = {Kind.LOCAL, Kind.MEMORY, Kind.LAYER}
DEBOUNCE_MS = 400


class Waker:
    """Ends a wait when something happens in one of the directories, or when it is asked to."""

    def __init__(self) -> None:
        self._awake = threading.Event()
        self._watched: dict[Path, int] = {}
        self._stop: threading.Event | None = None

    def wake(self) -> None:
        self._awake.set()

    def wait(self, seconds: float) -> None:
        self._awake.wait(seconds)
        self._awake.clear()

    def watch(self, directories: Collection[Path]) -> None:
        """Watch those that are there now; one that was deleted and made anew is another one."""
        now = {path: inode for path in directories if (inode := _inode(path)) is not None}
        if now == self._watched:
            return
        self.close()
        self._watched = now
        self._stop = threading.Event()
        if now:
            arguments = (list(now), self._stop, self._awake)
            threading.Thread(target=_watch, args=arguments, daemon=True).start()

    def close(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None


def has_events(directory: Path, mountinfo: Path = MOUNTINFO) -> bool:
    """Whether the kernel hears of everything that happens in a directory."""
    mount = mount_of(directory, mountinfo)
    return mount is not None and kind_of(mount) in WITH_EVENTS


def can_watch() -> bool:
    """Whether the library for it is installed."""
    try:
        import watchfiles  # noqa: F401 - only whether it can be
    except ImportError:
        return False
    return True


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _watch(paths: list[Path], stop: threading.Event, awake: threading.Event) -> None:
    try:
        from watchfiles import watch

        for _ in watch(
            *paths,
            stop_event=stop,
            recursive=False,
            debounce=DEBOUNCE_MS,
            raise_interrupt=False,
            watch_filter=None,
        ):
            awake.set()
    except (ImportError, OSError, RuntimeError):
        return  # the next look comes all the same
