"""The screen of `instride prune`: what is gone, or would go, and what stays."""

from __future__ import annotations

from rich.console import Console

from instride.cli.render.store import StoreScreen
from instride.cli.render.table import print_table
from instride.explain.languages.words import Words
from instride.store.pruning import PrunedEntry, Pruning


def print_pruning(
    pruning: Pruning, command: str, words: Words, console: Console | None = None
) -> None:
    """`command` does what this dry run only tells."""
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    entries = sorted([*pruning.deleted, *pruning.kept], key=lambda entry: entry.step)
    size = sum(entry.size_bytes for entry in entries)
    screen.title(pruning.directory, say.store_contents(len(entries), size))
    if pruning.owner is not None:
        screen.owner(pruning.owner)
    sheet.blank()
    gone = "going" if pruning.is_dry else "gone"
    print_table(
        sheet,
        [screen.phrases[head] for head in ("step", "size", "metric")],
        [_cells(screen, entry) for entry in entries],
        [screen.mark(gone if entry in pruning.deleted else "kept") for entry in entries],
    )
    sheet.blank()
    count, num_kept = len(pruning.deleted), len(pruning.kept)
    said = say.store_pruned(count, pruning.freed_bytes, num_kept, pruning.is_dry)
    sheet.line((said, "bold"))
    if pruning.num_foreign:
        sheet.paragraph(say.store_foreign(pruning.num_foreign), "  ", "")
    screen.problems(pruning.damaged)
    sheet.blank()
    if pruning.is_dry and pruning.deleted:
        screen.next(command, pruning.directory, "next.prune")
    else:
        screen.next("instride list DIR", pruning.directory, "next.list")


def _cells(screen: StoreScreen, entry: PrunedEntry) -> list[str]:
    return [str(entry.step), screen.words.bytes(entry.size_bytes), screen.metric(entry.metric)]
