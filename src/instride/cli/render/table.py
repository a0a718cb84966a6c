"""Tables of what lies in a store: numbers to the right, marks behind them, within the width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from instride.cli.render.sheet import Sheet
from instride.cli.render.wrapping import fit, pad_left

Row = Sequence[str]
INDENT = "  "
GAP = "  "


def print_table(
    sheet: Sheet,
    heads: Row,
    rows: Sequence[Row],
    marks: Sequence[tuple[str, str]],
    dispensable: int = 0,
) -> None:
    """Print rows under their heads; a mark, with its style, stands behind each row.

    Where the terminal is too narrow, as many of the last columns are left out as may be.
    """
    widths = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    widest_mark = max((cell_len(text) for text, _ in marks), default=0)
    for _ in range(dispensable):
        if _total(widths) + len(GAP) + widest_mark <= sheet.width:
            break
        widths.pop()
    sheet.line((_aligned(heads, widths), "dim"))
    room = sheet.width - _total(widths) - len(GAP)
    for row, (mark, style) in zip(rows, marks, strict=True):
        text = _aligned(row, widths)
        if mark:
            sheet.line(text + GAP, (fit(mark, room), style))
        else:
            sheet.line(text)


def _total(widths: Sequence[int]) -> int:
    return len(INDENT) + sum(widths) + len(GAP) * (len(widths) - 1)


def _aligned(row: Row, widths: Sequence[int]) -> str:
    cells = (pad_left(text, width) for text, width in zip(row, widths, strict=False))
    return INDENT + GAP.join(cells)
