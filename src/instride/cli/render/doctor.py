"""The screen of `instride doctor`: what was looked at, findings, what could not be told."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.cli.render.wrapping import fit, fit_end
from instride.doctor.examining import Diagnosis
from instride.doctor.languages import LANGUAGES
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.model import (
    Certainty,
    Count,
    Evidence,
    Finding,
    Fix,
    FixKind,
    Place,
    Seconds,
)
from instride.doctor.printable import printable
from instride.explain.languages.screen import Around, ScreenWords, ended

COMMAND = "instride doctor"
INDENT = " " * 5
MOST_FINDINGS = 12
MOST_EVIDENCE = 4
MOST_FIX_LINES = 24
STYLES = {Certainty.SURE: "bold red", Certainty.LIKELY: "bold yellow", Certainty.PERHAPS: "bold"}
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_diagnosis(
    diagnosis: Diagnosis, language: ScreenWords, console: Console | None = None
) -> None:
    """Print one screen, as wide as the terminal up to 100 columns; 80 where there is none."""
    sheet = Sheet(console or make_console(), language)
    screen = _Screen(sheet, LANGUAGES[sheet.language.code])
    screen.print_subject(diagnosis)
    sheet.blank()
    screen.print_findings(diagnosis)
    screen.print_unknown(diagnosis)
    sheet.blank()
    screen.print_next(diagnosis)


class _Screen:
    def __init__(self, sheet: Sheet, words: DoctorWords) -> None:
        self._sheet = sheet
        self._words = words

    def print_subject(self, diagnosis: Diagnosis) -> None:
        """What was looked at."""
        say, request = self._words.phrase, diagnosis.request
        counts = {"files": Count(diagnosis.num_files), "rules": Count(len(diagnosis.checked))}
        if request.repo is None:
            name, note = say("machine"), say("machine-only", counts)
        else:
            name, note = printable(str(request.repo.resolve())), say("repository", counts)
        room = self._sheet.width - cell_len(note) - 4
        self._sheet.line((fit_end(name, room), "bold"), f"  ({note})")
        if request.checkpoints:
            paths = ", ".join(_shown(path, request.repo) for path in request.checkpoints)
            self._sheet.line(fit(say("checkpoints", {"paths": paths}), self._sheet.width))

    def print_findings(self, diagnosis: Diagnosis) -> None:
        say, findings = self._words.phrase, diagnosis.findings
        if not findings:
            is_cut = any(each.id == "cut-short" for each in diagnosis.unknown)
            self._sheet.line((say("clean-so-far" if is_cut else "clean"), "bold green"))
            return
        count = {"findings": Count(len(findings))}
        order = say("order") if len(findings) > 1 else ""
        self._sheet.line((say("findings", count), "bold"), order)
        for number, finding in enumerate(findings[:MOST_FINDINGS], 1):
            self._sheet.blank()
            self._print_finding(number, finding)
        if len(findings) > MOST_FINDINGS:
            more = {"findings": Count(len(findings) - MOST_FINDINGS)}
            self._sheet.line((f"  {say('more-findings', more)}", "dim"))

    def _print_finding(self, number: int, finding: Finding) -> None:
        self._print_title(number, finding)
        self._sheet.paragraph(self._words.sentence(finding), INDENT)
        for evidence in finding.evidence[:MOST_EVIDENCE]:
            self._print_evidence(evidence)
        others = len(finding.evidence) - MOST_EVIDENCE
        if others > 0:
            more = self._words.phrase("more-places", {"places": Count(others)})
            self._sheet.line((INDENT + "  " + more, "dim"))
        fix = self._words.phrase("fix", {"fix": self._words.fix(finding)})
        self._sheet.paragraph(fix, INDENT)
        for each in finding.fixes:
            self._print_fix(each)

    def _print_title(self, number: int, finding: Finding) -> None:
        """The title; beside it, or under it, the id, what it costs, and how sure that is."""
        verdict = [finding.rule, self._words.certainties[finding.certainty]]
        if finding.cost_s_per_hour is not None:
            cost = {"cost": Seconds(finding.cost_s_per_hour)}
            verdict.append(self._words.phrase("cost", cost))
        begin = f"{number:>3}. "
        title = fit(self._words.title(finding.rule), self._sheet.width - len(begin))
        note = f"({', '.join(verdict)})"
        beside = cell_len(begin + title) + 2 + cell_len(note) <= self._sheet.width
        self._sheet.line(begin, (title, STYLES[finding.certainty]), f"  {note}" if beside else "")
        if not beside:
            self._sheet.paragraph(note, INDENT)

    def _print_evidence(self, evidence: Evidence) -> None:
        if isinstance(evidence, Place):
            where, text = f"{evidence.path}:{evidence.line}: ", " ".join(evidence.text.split())
        else:
            where, text = f"{evidence.counter}: ", evidence.value
        room = self._sheet.width - len(INDENT) - 2
        where = fit_end(where, room * 2 // 3)
        shown = where + fit(text, room - cell_len(where))
        self._sheet.line((INDENT + "  " + shown.rstrip(), "dim"))

    def _print_fix(self, fix: Fix) -> None:
        lines = fix.text.rstrip("\n").split("\n")
        for line in lines[:MOST_FIX_LINES]:
            style = DIFF_STYLES.get(line[:1], "") if fix.kind is FixKind.DIFF else "bold"
            self._sheet.line(INDENT + "  ", (line, style))
        if len(lines) > MOST_FIX_LINES:
            more = {"lines": Count(len(lines) - MOST_FIX_LINES)}
            self._sheet.line((INDENT + "  " + self._words.phrase("more-lines", more), "dim"))

    def print_unknown(self, diagnosis: Diagnosis) -> None:
        if diagnosis.unknown:
            sentences = ended([self._words.unknown(each) for each in diagnosis.unknown])
            self._sheet.blank()
            told = self._words.phrase("not-told") + self._words.between.join(sentences)
            self._sheet.paragraph(told, "  ", "")

    def print_next(self, diagnosis: Diagnosis) -> None:
        """The command to type next: what would tell more than this did."""
        request = diagnosis.request
        if request.repo is None:
            options, note = "", "next-repository"
        elif request.log is None:
            options, note = " --log train.log", "next-log"
        else:
            options, note = " --json", "next-json"
        before, after = self._words.phrase("next"), f"   {self._words.phrase(note)}"
        named = printable(shlex.quote(str(request.repo or "REPO")))
        lines = [
            Around(before, f"{COMMAND} {name}{options}", end)
            for name in (named, "REPO")
            for end in (after, "")
        ]
        fitting = [line for line in lines if self._fits(line)]
        self._sheet.around((fitting or lines)[0], "bold")

    def _fits(self, line: Around) -> bool:
        return cell_len(line.before + line.part + line.after) <= self._sheet.width


def _shown(path: Path, repo: Path | None) -> str:
    """A path, without the part that the line above it has said."""
    if repo is not None and path.is_relative_to(repo):
        path = path.relative_to(repo)
    return printable(str(path))
