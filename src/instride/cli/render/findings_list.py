"""The findings, most expensive first, with what to try and the lines of the log that show them."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from rich.cells import cell_len

from instride.cli.render.sheet import Sheet
from instride.cli.render.wrapping import fit
from instride.explain.causes.curing import Cure
from instride.explain.explaining import Explanation
from instride.explain.findings import NOTABLE, Finding
from instride.explain.spans import Owner

STEP = re.compile(r"(?i)\b(step|iter|iteration|epoch)\b")
TELLING = {
    Owner.EVAL: re.compile(r"(?i)valid|\beval|testing|perplexity"),
    Owner.SAVE: re.compile(r"(?i)\bsav|_save|checkpoint"),
}
"""What to show of a line that is too long for the screen."""
MOST_FINDINGS = 5
MOST_EVIDENCE = 2
MOST_CHANGES = 2
MOST_ALTERNATIVES = 2
INDENT = " " * 5


def print_findings(sheet: Sheet, explanation: Explanation) -> None:
    """Print those that are worth a change; if there is none, say so and name the largest.

    Lines to change that are told later, with advice, are not told twice.
    """
    say = sheet.language
    told_later = frozenset(each.change for each in explanation.advice if each.change is not None)
    found, running_s = explanation.findings, explanation.ledger.running_s
    notable = _in_order([each for each in found if each.cost_s >= NOTABLE * running_s])
    if not notable:
        sheet.around(say.show_nothing(NOTABLE), "bold green")
    else:
        sheet.line((say.screen_phrases["findings"], "bold"), say.screen_phrases["order"])
    shown = (notable or found[:2])[:MOST_FINDINGS]
    for number, finding in enumerate(shown, 1):
        _print_sentence(sheet, explanation, number, finding)
        _print_cures(sheet, explanation.cures(finding), finding, told_later)
        _print_alternatives(sheet, finding)
        _print_evidence(sheet, explanation, finding)
    if len(found) > len(shown):
        sheet.line((f"  {say.show_more(len(found) - len(shown))}", "dim"))


def _print_sentence(sheet: Sheet, explanation: Explanation, number: int, finding: Finding) -> None:
    say, ledger = sheet.language, explanation.ledger
    is_of_wall = finding.owner is Owner.RESTART
    share = finding.cost_s / (ledger.wall_s if is_of_wall else ledger.running_s)
    verdict = say.show_verdict(share, is_of_wall, finding.confidence, finding.rung)
    sheet.paragraph(say.sentence(finding), INDENT, first=f"  {number}. ")
    sheet.paragraph(verdict + say.show_remedy(say.remedy(finding)), INDENT)


def _print_cures(
    sheet: Sheet, found: list[Cure], finding: Finding, told_later: frozenset[str]
) -> None:
    """Print lines and commands that are ready to be copied, each once.

    Beside them stands what they would save, or what they are for if that has not been said.
    """
    say = sheet.language
    ready: dict[str, Cure] = {}
    for cure in found:
        if cure.change is not None and cure.change not in told_later:
            ready.setdefault(cure.change, cure)
    for change, cure in islice(ready.items(), MOST_CHANGES):
        words = say.cure(cure)
        if cure.saves_s:
            sheet.command(change, say.show_saving(cure.saves_s), INDENT + "  ")
        else:
            sheet.command(change, "" if words in say.remedy(finding) else words, INDENT + "  ")


def _print_alternatives(sheet: Sheet, finding: Finding) -> None:
    """What else a guess may be; what is sure needs no doubt."""
    say = sheet.language
    if finding.confidence == "low":
        for what, how in say.alternatives[finding.id][:MOST_ALTERNATIVES]:
            sheet.paragraph(say.show_alternative(what, how), INDENT)


def _print_evidence(sheet: Sheet, explanation: Explanation, finding: Finding) -> None:
    for line in finding.lines[:MOST_EVIDENCE]:
        where = INDENT + _place(sheet, explanation, line)
        text = explanation.texts.get(line, "")
        sheet.line((where + _excerpt(text, finding, sheet.width - cell_len(where)), "dim"))


def _place(sheet: Sheet, explanation: Explanation, line: int) -> str:
    name, number = explanation.place(line)
    if len(explanation.sources) == 1:
        return sheet.language.show_line(number)
    return f"{fit(Path(name).name, sheet.width // 2)}:{number}: "


def _excerpt(line: str, finding: Finding, room: int) -> str:
    """A line of the log in `room` columns; a long one from where it gets interesting."""
    text = " ".join(line.split())
    if cell_len(text) <= room:
        return text
    found = TELLING.get(finding.owner, STEP).search(text) or STEP.search(text)
    begin = min(found.start(), max(0, len(text) - room + 3)) if found else 0
    return fit(("..." if begin > 3 else "") + text[begin if begin > 3 else 0 :], room)


def _in_order(notable: list[Finding]) -> list[Finding]:
    """Most expensive first, gaps between processes last: they are no time of the training.

    A save whose aftermath is told is not told again: that sentence has it.
    """
    told = {each.facts["save_step"] for each in notable if each.id == "aftermath"}
    kept = [
        each
        for each in notable
        if not (each.id == "save" and each.facts["count"] == 1 and each.facts["first_step"] in told)
    ]
    return sorted(kept, key=lambda each: (each.owner is Owner.RESTART, -each.cost_s))
