"""The screen of `instride verify`: each checkpoint, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from instride.cli.render.store import StoreScreen, step_or_name
from instride.cli.render.table import print_table
from instride.explain.languages.words import Words
from instride.store.checking import Verdict
from instride.store.directory import checkpoints_in, packs_in
from instride.store.journal import tells_of_steps


def print_verdict(verdict: Verdict, words: Words, console: Console | None = None) -> None:
    screen = StoreScreen(words, console)
    say, sheet, checked = screen.words, screen.sheet, verdict.checkpoints
    screen.title(verdict.path, say.store_contents(len(checked), sum(c.size_bytes for c in checked)))
    sheet.blank()
    print_table(
        sheet,
        [screen.phrases["step"], screen.phrases["size"]],
        [[step_or_name(c), say.bytes(c.size_bytes)] for c in checked],
        [screen.mark(c.state) for c in checked],
    )
    sheet.blank()
    num_whole = sum(c.state == "whole" for c in checked)
    if num_whole:
        sheet.paragraph(say.store_verdict(num_whole, verdict.num_bytes), "  ", "")
    num_foreign = sum(c.state == "foreign" for c in checked)
    if num_foreign:
        sheet.paragraph(say.store_not_compared(num_foreign), "  ", "")
    screen.problems(checked)
    if verdict.is_latest_stale:
        screen.stale_latest(verdict.directory)
    sheet.blank()
    closed = [c.name for c in checked if c.state == "unreadable"]
    if closed and not verdict.num_damaged:
        screen.next("ls -l DIR", str(Path(verdict.directory, closed[0])), "next.closed")
    elif not verdict.num_damaged and tells_of_steps(Path(verdict.directory)):
        screen.next("instride explain DIR", verdict.directory, "next.explain")
    elif _is_listed(verdict):
        screen.next("instride list DIR", verdict.directory, "next.list")


def _is_listed(verdict: Verdict) -> bool:
    """Not a single file that lies beside no checkpoints: of those nothing could be shown."""
    directory = Path(verdict.directory)
    return verdict.path == verdict.directory or bool(
        checkpoints_in(directory) or packs_in(directory)
    )
