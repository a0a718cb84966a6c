"""The screen of `instride explain`: the run, where the time went, findings, what is not known."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.advice_list import print_advice
from instride.cli.render.findings_list import print_findings
from instride.cli.render.owners_table import print_owners
from instride.cli.render.picture import print_picture
from instride.cli.render.sheet import Sheet
from instride.cli.render.wrapping import fit
from instride.explain.advice import advise
from instride.explain.explaining import Explanation
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.screen import RunFacts, ScreenWords

COMMAND = "instride explain"


def print_explanation(
    explanation: Explanation,
    console: Console | None = None,
    is_following: bool = False,
    language: ScreenWords = LANGUAGES[DEFAULT],
    mtbf_s: float | None = None,
) -> None:
    """Print one screen, as wide as the terminal up to 100 columns; 80 where there is none.

    `mtbf_s` is the time between failures, if that is known better than the log shows it.
    """
    sheet = Sheet(console or make_console(), language)
    _print_run(sheet, explanation)
    sheet.blank()
    print_owners(sheet, explanation.ledger)
    print_picture(sheet, explanation.ledger)
    sheet.blank()
    advice = advise(explanation.ledger, mtbf_s)
    told_later = frozenset(each.change for each in advice if each.change is not None)
    print_findings(sheet, explanation, told_later)
    print_advice(sheet, advice)
    _print_unknowns(sheet, explanation)
    sheet.blank()
    if is_following:
        sheet.line((sheet.language.screen_phrases["following"], "dim"))
    else:
        _print_next(sheet, explanation)


def make_console() -> Console:
    width = None if sys.stdout.isatty() else 80
    return Console(highlight=False, soft_wrap=False, width=width)


def _print_run(sheet: Sheet, explanation: Explanation) -> None:
    ledger, say = explanation.ledger, sheet.language
    run, processes = ledger.timeline.run, ledger.timeline.processes
    title = f"  ({run.dialect.title})"
    names = fit(_names(sheet, explanation), sheet.width - cell_len(title))
    facts = RunFacts(
        first_step=min(run.step),
        last_step=max(run.step),
        every=max(process.stride for process in processes),
        num_restarts=len(ledger.restarts),
        wall_s=ledger.wall_s,
    )
    sheet.line((names, "bold"), title)
    sheet.paragraph(say.show_run(facts), "")
    sheet.around(say.show_ordinary(ledger.baseline_s, ledger.main.spread_s), "bold")
    if ledger.rhythm is not None:
        longer = ledger.rhythm.factors[ledger.rhythm.offset] - 1
        sheet.paragraph(say.show_rhythm(ledger.rhythm.period, longer), "")


def _names(sheet: Sheet, explanation: Explanation) -> str:
    """What was read: a long path by its end, many files by their number."""
    sources = explanation.sources
    if len(sources) == 1:
        name = sources[0].name
        return name if cell_len(name) <= sheet.width // 2 else Path(name).name
    return sheet.language.show_files(Path(sources[0].name).name, len(sources) - 1)


def _print_unknowns(sheet: Sheet, explanation: Explanation) -> None:
    say = sheet.language
    if explanation.unknowns:
        sentences = [say.unknown(each) for each in explanation.unknowns]
        sheet.blank()
        sheet.paragraph(say.show_gaps(sentences), "  ", first="")


def _print_next(sheet: Sheet, explanation: Explanation) -> None:
    """The command to type next, with the names of the logs if they fit and can be read again."""
    names = [source.name for source in explanation.sources]
    command = f"{COMMAND} {' '.join(shlex.quote(name) for name in names)} --json"
    line = sheet.language.show_next(command)
    if names == ["-"] or cell_len(line.before + line.part + line.after) > sheet.width:
        line = sheet.language.show_next(f"{COMMAND} LOG --json")
    sheet.around(line, "bold")
