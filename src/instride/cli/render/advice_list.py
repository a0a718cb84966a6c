"""How often to evaluate and to save, with the line to change."""

from __future__ import annotations

from collections.abc import Sequence

from instride.cli.render.sheet import Sheet
from instride.explain.advice import Advice

INDENT = " " * 4


def print_advice(sheet: Sheet, found: Sequence[Advice]) -> None:
    """Print what to set and why, if there is anything."""
    say = sheet.language
    if not found:
        return
    sheet.blank()
    sheet.line((say.screen_phrases["advice"], "bold"))
    for advice in found:
        sheet.paragraph(say.advice(advice), INDENT, first="  - ")
        if advice.change is not None:
            saving = say.show_saving(advice.saves_s) if advice.saves_s else ""
            sheet.command(advice.change, saving, INDENT + "  ")
