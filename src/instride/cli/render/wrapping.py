"""Fitting text into columns of a terminal, where some characters take two, and some none.

Japanese has no spaces: a line may be broken after punctuation, and where a word begins after
hiragana, which is where a phrase ends. Numbers stay with their units.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells, set_cell_size

# No line begins with what closes or lengthens; none ends with what opens.
CLOSING = (
    r"\u3001\u3002\uff0c\uff0e\uff09\uff1a\uff1b\uff01\uff1f\u300d\u300f\u30fb\u30fc"
    r".,;:!?)\]}%"
)
OPENING = r"\uff08\u300c\u300e"
HIRAGANA = r"\u3041-\u3096"
WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\u3040-\u30ff"
UNITS = r"(?:ms|s|min|h|d|%)(?![\w%])"
BREAK = re.compile(
    rf"(?<![0-9]) +"
    rf"|(?<=[0-9]) +(?!{UNITS})"
    rf"|(?<=[\u3001\u3002])(?=[^{CLOSING} ])"
    rf"|(?<=[{HIRAGANA}])(?=[^{HIRAGANA}{CLOSING} ])"
    rf"|(?<=[{WIDE}])(?=[{OPENING}])"
)
"""Spaces that a line may end at, and places without any."""


def fit(text: str, room: int) -> str:
    """Cut a text to so many columns of the terminal."""
    if cell_len(text) <= room:
        return text
    return set_cell_size(text, max(0, room - 3)).rstrip() + "..."


def fit_end(text: str, room: int) -> str:
    """The same, with the end of it, which tells most of a path."""
    while cell_len(text) > max(room, 4):
        text = "..." + text[4:] if text.startswith("...") else "..." + text[1:]
    return text


def pad_left(text: str, width: int) -> str:
    """Align a text to the right end of so many columns."""
    return " " * (width - cell_len(text)) + text


def pad_right(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines of at most `width` columns; `first` and `rest` indent them."""
    lines: list[str] = []
    line, gap = first, ""
    is_empty = True
    for chunk, space in _chunks(text):
        if not is_empty and cell_len(line) + len(gap) + cell_len(chunk) > width:
            lines.append(line)
            line, gap, is_empty = rest, "", True
        for piece in _pieces(chunk, width - cell_len(line + gap)):
            if not is_empty and cell_len(line + gap + piece) > width:
                lines.append(line)
                line, gap = rest, ""
            line, gap, is_empty = line + gap + piece, "", False
        gap = space
    return [*lines, line]


def _chunks(text: str) -> list[tuple[str, str]]:
    """Pieces that stay together, each with the spaces after it."""
    found = []
    begin = 0
    for place in BREAK.finditer(text):
        if place.start() > begin:
            found.append((text[begin : place.start()], place[0]))
        begin = place.end()
    if begin < len(text):
        found.append((text[begin:], ""))
    return found


def _pieces(chunk: str, room: int) -> list[str]:
    """A chunk as it is; one that is longer than a line, cut."""
    return [chunk] if cell_len(chunk) <= room else chop_cells(chunk, max(2, room))
