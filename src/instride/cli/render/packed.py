"""The lines of `instride pack` and `instride unpack`: each file when it is done, what to type next
at the end."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from instride.cli.render.store import StoreScreen
from instride.doctor.printable import printable
from instride.explain.languages.words import Words
from instride.pack.packing import Packed
from instride.pack.unpacking import Unpacked


class PackScreen:
    def __init__(self, words: Words, console: Console | None = None) -> None:
        self._screen = StoreScreen(words, console)

    def show(self, packed: Packed) -> None:
        say, sheet = self._screen.words, self._screen.sheet
        self._screen.title(packed.path, say.pack_made(packed.original_bytes, packed.pack_bytes))
        if packed.base is not None:
            sheet.paragraph(say.pack_base(printable(packed.base), packed.same_bytes), "  ", "  ")
        if packed.is_pointed_to:
            sheet.paragraph(say.pack_kept, "  ", "  ")

    def end(self, last: Packed) -> None:
        self._screen.sheet.blank()
        if last.is_original_kept:  # there is nothing to give back yet
            self._screen.next("instride list DIR", str(Path(last.path).parent), "next.list")
        else:
            self._screen.next("instride unpack FILE", last.path, "next.unpack", "FILE")


class UnpackScreen:
    def __init__(self, words: Words, console: Console | None = None) -> None:
        self._screen = StoreScreen(words, console)

    def show(self, unpacked: Unpacked) -> None:
        line = self._screen.words.pack_undone(printable(unpacked.path), unpacked.num_bytes)
        self._screen.sheet.paragraph(line, "  ", "")

    def end(self, last: Unpacked) -> None:
        self._screen.sheet.blank()
        self._screen.next("instride list DIR", str(Path(last.path).parent), "next.list")
