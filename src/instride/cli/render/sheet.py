"""What the parts of a screen print on: a console, its width, its characters, and a language."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from instride.cli.render.characters import can_show, plainer
from instride.cli.render.wrapping import wrap
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.screen import Around, ScreenWords
from instride.explain.spans import Owner

WIDEST = 100
STYLES = {
    Owner.COMPUTE: "green",
    Owner.WARMUP: "cyan",
    Owner.EVAL: "blue",
    Owner.SAVE: "magenta",
    Owner.AFTERMATH: "red",
    Owner.DATA: "yellow",
    Owner.STARTUP: "cyan",
    Owner.RESTART: "bright_black",
    Owner.LOST: "bright_red",
    Owner.UNKNOWN: "white",
}


class Sheet:
    def __init__(self, console: Console, language: ScreenWords) -> None:
        self.console = console
        self.width = min(console.width, WIDEST)
        self._encoding = console.encoding or "ascii"
        self.is_unicode = "utf" in self._encoding.lower()
        # A terminal without its letters would show question marks; English it can show.
        is_fit = can_show(language.letters, self._encoding)
        self.language = language if is_fit else LANGUAGES[DEFAULT]
        self._plainer = plainer(self._encoding)

    def blank(self) -> None:
        self.console.print()

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print a line of texts, and texts with a style."""
        plain = [
            part.translate(self._plainer)
            if isinstance(part, str)
            else (part[0].translate(self._plainer), part[1])
            for part in parts
        ]
        self.console.print(Text.assemble(*plain), soft_wrap=True)

    def around(self, line: Around, style: str) -> None:
        """Print a line of which a part stands out."""
        self.line(line.before, (line.part, style), line.after)

    def command(self, command: str, note: str, indent: str) -> None:
        """Print what is to be copied, never broken, with a note beside it or under it."""
        beside = f"{indent}{command}   {note}"
        if not note:
            self.line(indent, (command, "bold"))
        elif cell_len(beside) <= self.width:
            self.line(indent, (command, "bold"), f"   {note}")
        else:
            self.line(indent, (command, "bold"))
            self.paragraph(note, indent + "  ")

    def paragraph(self, text: str, rest: str, first: str | None = None) -> None:
        """Print a text over as many lines as it needs, the first one indented by `first`."""
        for line in wrap(text, self.width, rest if first is None else first, rest):
            self.line(line)
