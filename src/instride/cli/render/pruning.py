"""The screen of `instride prune`: what is gone, or would go, and what stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rich.console import Console

from instride.cli.render.store import StoreScreen, some, step_or_name
from instride.cli.render.table import print_table
from instride.explain.languages.words import Words
from instride.store.checking import Checked
from instride.store.pruning import PrunedEntry, Pruning

MOST_STEPS = 3
NOTHING: Mapping[str, Sequence[int]] = MappingProxyType({})


def print_pruning(
    pruning: Pruning,
    command: str,
    words: Words,
    console: Console | None = None,
    needed_by: Mapping[str, Sequence[int]] = NOTHING,
) -> None:
    """`command` does what this dry run only tells; `needed_by` has the steps that are nothing
    without a file that stays."""
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    gone = "going" if pruning.is_dry else "gone"
    rows: list[tuple[PrunedEntry | Checked, tuple[str, str]]]
    rows = [(entry, screen.mark(gone)) for entry in pruning.deleted]
    rows += [(entry, _why_kept(screen, needed_by.get(entry.name, ()))) for entry in pruning.kept]
    rows += [(checked, screen.mark(checked.state)) for checked in pruning.damaged]
    rows.sort(key=lambda row: (row[0].step is None, row[0].step or 0, row[0].name))
    size = sum(entry.size_bytes for entry, _ in rows)
    screen.title(pruning.directory, say.store_contents(len(rows), size))
    if pruning.owner is not None:
        screen.owner(pruning.owner)
    sheet.blank()
    print_table(
        sheet,
        [screen.phrases[head] for head in ("step", "size", "metric")],
        [_cells(screen, entry) for entry, _ in rows],
        [mark for _, mark in rows],
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


def _cells(screen: StoreScreen, entry: PrunedEntry | Checked) -> list[str]:
    metric = entry.metric if isinstance(entry, PrunedEntry) else None
    return [step_or_name(entry), screen.words.bytes(entry.size_bytes), screen.metric(metric)]


def _why_kept(screen: StoreScreen, steps: Sequence[int]) -> tuple[str, str]:
    """A rule says that it stays, or what cannot be read without it."""
    text, style = screen.mark("kept")
    if steps:
        text = screen.words.store_base_of(*some([str(step) for step in steps], MOST_STEPS))
    return text, style
