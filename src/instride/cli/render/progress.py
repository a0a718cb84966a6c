"""How far a long reading is, on a terminal only: a file or a pipe gets no bars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from instride.store.checking import Watcher


@contextmanager
def watching() -> Iterator[Watcher | None]:
    """Somebody to tell of bytes that were read; None where nobody looks."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=0)
        total = 0

        def begin(num_bytes: int) -> None:
            nonlocal total
            total += num_bytes
            progress.update(task, total=total)

        yield Watcher(begin, lambda num_bytes: progress.advance(task, num_bytes))
