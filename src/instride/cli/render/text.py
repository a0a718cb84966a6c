"""The screen of `instride explain`: the run, where the time went, findings, what is not known."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.advice_list import print_advice
from instride.cli.render.findings_list import print_findings
from instride.cli.render.next_command import about_logs
from instride.cli.render.owners_table import print_owners
from instride.cli.render.picture import print_picture
from instride.cli.render.sheet import Sheet
from instride.cli.render.wrapping import fit
from instride.explain.explaining import Explanation
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.screen import RunFacts, ScreenWords

COMMAND = "instride explain LOG --json"
PLAIN_WIDTH = 80
FAINTEST_BEAT = 0.005
"""Share by which a step must be longer for the rhythm of the loop to be worth a line."""


def print_explanation(
    explanation: Explanation,
    console: Console | None = None,
    is_following: bool = False,
    language: ScreenWords = LANGUAGES[DEFAULT],
) -> None:
    """Print one screen, as wide as the terminal up to 100 columns; 80 where there is none."""
    sheet = Sheet(console or make_console(), language)
    _print_run(sheet, explanation)
    sheet.blank()
    print_owners(sheet, explanation.ledger)
    print_picture(sheet, explanation.ledger)
    sheet.blank()
    print_findings(sheet, explanation)
    print_advice(sheet, explanation.advice)
    _print_unknowns(sheet, explanation)
    sheet.blank()
    if is_following:
        sheet.line((sheet.language.screen_phrases["following"], "dim"))
    else:
        _print_next(sheet, explanation)


def make_console() -> Console:
    """As wide as the terminal; into a file or a pipe, as wide as COLUMNS says, or 80."""
    is_told = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    width = None if is_told else PLAIN_WIDTH
    return Console(highlight=False, soft_wrap=False, width=width)


def _print_run(sheet: Sheet, explanation: Explanation) -> None:
    ledger, say = explanation.ledger, sheet.language
    run, processes = ledger.timeline.run, ledger.timeline.processes
    title = f"  ({say.trainer(run.dialect.title)})"
    names = fit(_names(sheet, explanation), sheet.width - cell_len(title))
    facts = RunFacts(
        first_step=run.step.lowest,
        last_step=run.step.highest,
        every=max(process.stride for process in processes),
        num_restarts=sum(not restart.is_new_run for restart in ledger.restarts),
        num_runs=1 + sum(restart.is_new_run for restart in ledger.restarts),
        wall_s=ledger.wall_s,
    )
    sheet.line((names, "bold"), title)
    sheet.paragraph(say.show_run(facts), "")
    sheet.around(say.show_ordinary(ledger.baseline_s, ledger.spread_s), "bold")
    longer = ledger.rhythm.factors[ledger.rhythm.offset] - 1 if ledger.rhythm else 0.0
    if ledger.rhythm is not None and longer >= FAINTEST_BEAT:
        sheet.paragraph(say.show_rhythm(ledger.rhythm.period, longer), "")


def _names(sheet: Sheet, explanation: Explanation) -> str:
    """What was read: a long path by its end, many files by their number."""
    sources = explanation.sources
    if len(sources) == 1:
        name = sheet.language.show_name(sources[0].name)
        return name if cell_len(name) <= sheet.width // 2 else Path(name).name
    return sheet.language.show_files(Path(sources[0].name).name, len(sources) - 1)


def _print_unknowns(sheet: Sheet, explanation: Explanation) -> None:
    say = sheet.language
    if explanation.unknowns:
        sentences = [say.unknown(each) for each in explanation.unknowns]
        sheet.blank()
        sheet.paragraph(say.show_gaps(sentences), "  ", first="")


def _print_next(sheet: Sheet, explanation: Explanation) -> None:
    names = [source.name for source in explanation.sources]
    sheet.around(about_logs(COMMAND, names, sheet.language.show_next, sheet.width), "bold")
