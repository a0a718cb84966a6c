"""What the screens of verbs about checkpoints have in common."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.cli.render.wrapping import fit_end
from instride.doctor.printable import printable
from instride.explain.languages import LANGUAGES
from instride.explain.languages.screen import Around
from instride.explain.languages.words import Words
from instride.store.checking import Checked
from instride.store.directory import LATEST
from instride.store.listing import OwnerEntry
from instride.store.pruning import PrunedEntry

MOST_NAMES = 4
STYLES = {
    "newest": "bold green",
    "latest": "green",
    "whole": "green",
    "kept": "green",
    "gone": "red",
    "going": "red",
    "damaged": "bold red",
    "unreadable": "bold red",
    "baseless": "bold red",
    "foreign": "yellow",
}


class StoreScreen:
    """A sheet, and the words for it: English where the terminal lacks the letters of others."""

    def __init__(self, words: Words, console: Console | None = None) -> None:
        self.sheet = Sheet(console or make_console(), words)
        self.words = LANGUAGES[self.sheet.language.code]
        self.phrases = self.words.store_phrases

    def title(self, name: str, note: str) -> None:
        """What was looked at; a long path by its end."""
        room = self.sheet.width - cell_len(note) - 4
        self.sheet.line((fit_end(printable(name), room), "bold"), f"  ({note})" if note else "")

    def owner(self, owner: OwnerEntry) -> None:
        """Whose the directory is now."""
        pid = owner.trainer_pid if owner.is_training else owner.writer_pid
        host = printable(owner.host)
        said = self.words.store_owner(host, pid, owner.is_training, owner.is_here)
        self.sheet.paragraph(said, "")

    def mark(self, name: str) -> tuple[str, str]:
        return self.phrases[name], STYLES[name]

    def problems(self, checked: Sequence[Checked]) -> None:
        """Say which checkpoints are not as they should be, and why."""
        counted = {"damaged": self.words.store_damage, "unreadable": self.words.store_unreadable}
        for state, count in counted.items():
            found = [each for each in checked if each.state == state]
            if found:
                self.sheet.line((count(len(found)), "bold red"))
            for each in found:
                self._problem(each)

    def _problem(self, checked: Checked) -> None:
        why = self.words.filled(checked.reason or "os", checked.facts)
        if checked.damaged_pieces and checked.piece_bytes:
            num_pieces = -(-checked.size_bytes // checked.piece_bytes)
            why = self.words.store_pieces(why, len(checked.damaged_pieces), num_pieces)
        name = printable(checked.name)
        self.sheet.paragraph(f"{name}{self.words.colon}{why}", "    ", "  ")

    def stale_latest(self, directory: str) -> None:
        """Say that `latest` is a file that gets old, and what to do about it."""
        path = printable(shlex.quote(str(Path(directory, LATEST))))
        self.sheet.paragraph(self.phrases["stale"], "  ", "")
        self.sheet.command(f"mv -n {path} {path}.other", "", "    ")  # to be copied: never broken

    def next(self, command: str, path: str, note: str, word: str = "DIR") -> None:
        """Print the command to type next, with the path for the word that stands for it.

        Where that does not fit, the note goes first; a command is never broken.
        """
        line = self.words.store_next(command.replace(word, printable(shlex.quote(path))), note)
        if cell_len(line.before + line.part + line.after) > self.sheet.width:
            line = Around(line.before, line.part, "")
        self.sheet.around(line, "bold")

    def metric(self, value: float | None) -> str:
        return "" if value is None else f"{value:.5g}".replace(".", self.words.decimal_mark)


def some(names: Sequence[str], most: int = MOST_NAMES) -> tuple[str, int]:
    """A few names, and how many others there are."""
    shown = ", ".join(printable(name) for name in names[:most])
    return shown, max(0, len(names) - most)


def step_or_name(entry: Checked | PrunedEntry) -> str:
    """What a row of a table begins with."""
    return printable(entry.name) if entry.step is None else str(entry.step)
