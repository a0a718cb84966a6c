"""The lines of `instride export`: what was written, and what could not go along."""

from __future__ import annotations

from rich.console import Console

from instride.cli.render.store import StoreScreen, some
from instride.doctor.printable import printable
from instride.explain.languages.words import Words
from instride.store.exported import Export

SHOW = "python -c 'import sys, safetensors.torch as s; print(*s.load_file(sys.argv[1]))' FILE"


def print_export(export: Export, words: Words, console: Console | None = None) -> None:
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    target = printable(export.target)
    sheet.line((say.store_exported(len(export.tensors), export.size_bytes, target), "bold green"))
    if export.copied:
        sheet.paragraph(say.store_copied(*some(export.copied)), "  ")
    if export.left_out:
        sheet.paragraph(say.store_left_out(*some(export.left_out)), "  ")
    sheet.blank()
    screen.next(SHOW, export.target, "next.load", "FILE")
