"""The lines of `instride agent`, and the screen of `instride agent status`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from instride.agent.status import Live, Status
from instride.agent.telling import Progress as Done
from instride.agent.telling import Reporter, saved_text, size_text
from instride.cli.render.characters import plainer
from instride.cli.render.text import make_console
from instride.doctor.printable import printable

BAR_WIDTH = 56
"""Of the line below the others, without the name of the file and the note."""
LEAST_NOTE = 20


class LogLines:
    """Plain lines with the date, for a file or a pipe; journald knows the time by itself."""

    def __init__(self) -> None:
        self._has_clock = "JOURNAL_STREAM" in os.environ

    def line(self, text: str) -> None:
        stamp = "" if self._has_clock else time.strftime("%Y-%m-%d %H:%M:%S ")
        print(stamp + _shown(text, sys.stdout.encoding), flush=True)

    def progress(self, progress: Done | None) -> None:
        """A log has no use for it."""


class Screen:
    """Lines with the time of day, and below them how far the file at work is."""

    def __init__(self, console: Console, bar: Progress) -> None:
        self._console = console
        self._bar = bar
        self._task: TaskID | None = None
        self._file = ""

    def line(self, text: str) -> None:
        stamp = time.strftime("%H:%M:%S")
        shown = escape(_shown(text, self._console.encoding))
        self._console.print(f"[dim]{stamp}[/dim] {shown}", highlight=False)

    def progress(self, progress: Done | None) -> None:
        if progress is None or progress.file != self._file:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task, self._file = None, ""
        if progress is None:
            return
        if self._task is None:
            self._file = progress.file
            self._task = self._bar.add_task("", total=progress.total_bytes, note="")
        self._bar.update(
            self._task,
            description=escape(printable(progress.file)),
            completed=progress.done_bytes,
            note=escape(self._cut(_shown(progress.note, self._console.encoding))),
        )

    def _cut(self, note: str) -> str:
        """What fits beside the bar, and leaves room for the `^C` that a terminal puts there."""
        room = self._console.width - len(self._file) - BAR_WIDTH
        if len(note) <= room:
            return note
        return note[: room - 3] + "..." if room >= LEAST_NOTE else ""


@contextmanager
def reporting() -> Iterator[Reporter]:
    """Somebody to tell: the terminal, or a log."""
    console = make_console()
    if not console.is_terminal or not sys.stdout.isatty():
        yield LogLines()
        return
    columns = (
        TextColumn("         {task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.fields[note]}[/dim]"),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as bar:
        yield Screen(console, bar)


def print_status(status: Status, console: Console | None = None) -> None:
    """What it does now, what it did, what that cost."""
    console = console or make_console()

    def line(text: str, stamp: str = "") -> None:
        dim = f"[dim]{stamp}[/dim] " if stamp else ""
        shown = escape(_shown(text, console.encoding))
        console.print(dim + shown, highlight=False, soft_wrap=True)

    console.print(f"[bold]{escape(printable(status.directory))}[/bold]", highlight=False)
    line(_owner(status))
    live = status.now
    if live is not None and live.doing != "stopped" and status.is_running is not False:
        line(_doing(live))
    line("")
    for text in _sums(status):
        line(text)
    if live is not None and live.others_prune:
        line("somebody else prunes here: the agent deletes only what it made itself")
    if status.recent:
        line("")
        for each in status.recent:
            stamp = time.strftime("%m-%d %H:%M:%S", time.localtime(each.t))
            line(each.text, stamp)
    console.print()
    following = "instride list" if status.is_running is not False else "instride agent"
    line(f"next: {following} {status.directory}")


def _shown(text: str, encoding: str) -> str:
    return printable(text).translate(plainer(encoding))


def _sums(status: Status) -> Iterator[str]:
    """What was done so far, by this agent and earlier ones, and what this one cost."""
    totals = status.totals
    if totals.num_compressed:
        before, after = size_text(totals.original_bytes), size_text(totals.compressed_bytes)
        yield f"compressed {totals.num_compressed}: {before} to {after}"
    else:
        yield "nothing was compressed yet"
    if totals.num_deleted:
        yield f"deleted {totals.num_deleted}: {size_text(totals.deleted_bytes)}"
    cost = status.now.cost if status.now is not None else None
    spent = [cost.text] if cost is not None and cost.seconds > 0 else []
    saved = [saved_text(status.saved_bytes)] if totals.num_compressed else []
    if spent or saved:
        yield ", ".join(spent + saved)


def _owner(status: Status) -> str:
    live, owner = status.now, status.owner
    if owner is not None and status.is_running:
        return f"an agent runs here: pid {owner.writer_pid} on {owner.host}"
    if live is None:
        return "no agent runs here now"
    if status.is_running is None:
        age_s = max(0, round(time.time() - live.updated_s))
        return f"an agent on {live.host} (pid {live.pid}) last said something {age_s} s ago"
    how = "ended in order" if live.doing == "stopped" else "was killed"
    return f"no agent runs here now; the last one (pid {live.pid}) {how}"


def _doing(live: Live) -> str:
    if live.file is None:
        return "waits for room on the disk" if live.doing == "waiting" else "waits for checkpoints"
    share = 100 * live.done_bytes // max(1, live.total_bytes)
    verb = "holds back" if live.doing == "waiting" else "compresses"
    return f"{verb} {live.file}: {share} %" + (f" ({live.why})" if live.why else "")
