"""The lines of `instride pack` and `instride unpack`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from instride.cli.render.store import StoreScreen
from instride.doctor.printable import printable
from instride.explain.languages.words import Words
from instride.pack.packing import Packed
from instride.pack.unpacking import Unpacked


def print_packed(packed: Sequence[Packed], words: Words, console: Console | None = None) -> None:
    screen = StoreScreen(words, console)
    say, sheet = screen.words, screen.sheet
    for each in packed:
        screen.title(each.path, say.pack_made(each.original_bytes, each.pack_bytes))
        if each.base is not None:
            sheet.paragraph(say.pack_base(printable(each.base), each.same_bytes), "  ", "  ")
        if each.is_pointed_to:
            sheet.paragraph(say.pack_kept, "  ", "  ")
    sheet.blank()
    screen.next("instride unpack FILE", packed[-1].path, "next.unpack", "FILE")


def print_unpacked(
    unpacked: Sequence[Unpacked], words: Words, console: Console | None = None
) -> None:
    screen = StoreScreen(words, console)
    for each in unpacked:
        line = screen.words.pack_undone(printable(each.path), each.num_bytes)
        screen.sheet.paragraph(line, "  ", "")
    screen.sheet.blank()
    folder = str(Path(unpacked[-1].path).parent)
    screen.next("instride list DIR", folder, "next.list")
