"""Whole screens of doctor, in every language, compared with files that people have looked at.

After a change that was wanted, write them anew and look at what has changed:

    UPDATE_SCREENS=1 pytest tests/unit/cli/test_doctor_screens.py && git diff tests/unit/cli
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.doctor import print_diagnosis
from instride.cli.render.doctor_rules import print_rules
from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.examining import Diagnosis, examine
from instride.doctor.model import (
    Certainty,
    Count,
    Finding,
    Fix,
    FixKind,
    Place,
    Reading,
    Unknown,
)
from instride.doctor.request import Request
from instride.explain.languages import LANGUAGES
from tests.unit.doctor.case_repository import write_case

SCREENS = Path(__file__).parent / "doctor_screens"
IS_WRITTEN_ANEW = "UPDATE_SCREENS" in os.environ
COLUMNS = 80
HOME = Path("/home/ada/trainer")


def of_the_case(folder: Path) -> Diagnosis:
    """What the rules say of a repository with six faults, as if it were somewhere else."""
    rules = tuple(rule.id for rule in CATALOGUE if rule.about is About.REPOSITORY)
    diagnosis = examine(Request(repo=write_case(folder), only=rules))
    request = Request(repo=HOME, checkpoints=(HOME / "checkpoints",))
    return msgspec.structs.replace(diagnosis, request=request)


def of_nothing(folder: Path) -> Diagnosis:
    """Nothing was found, and not all could be told."""
    unknown = [
        Unknown("no-checkpoints"),
        Unknown("cut-short", {"rules": Count(1), "names": "unused-key"}),
        Unknown("skipped-too-large", {"files": Count(2), "path": "data/tokens.json"}),
        Unknown("skipped-broken", {"files": Count(1), "path": "old/train.py"}),
    ]
    request = Request(repo=HOME, log="train.log")
    return Diagnosis(request, [], unknown, ("save-in-place", "two-cleaners"), (), 1234)


DIAGNOSES: dict[str, Callable[[Path], Diagnosis]] = {"case": of_the_case, "nothing": of_nothing}


def printed(show: Callable[[Console], None], width: int = COLUMNS) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, color_system=None))
    return out.getvalue()


def screen_of(diagnosis: Diagnosis, code: str = "en", width: int = COLUMNS) -> str:
    return printed(lambda to: print_diagnosis(diagnosis, LANGUAGES[code], to), width)


def compare(name: str, screen: str) -> None:
    kept = SCREENS / name
    if IS_WRITTEN_ANEW:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(screen, encoding="utf-8")
    assert screen == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", sorted(LANGUAGES))
@pytest.mark.parametrize("name", sorted(DIAGNOSES))
def test_a_screen_is_as_it_was_when_somebody_looked_at_it(
    name: str, code: str, tmp_path: Path
) -> None:
    compare(f"{name}.{code}.txt", screen_of(DIAGNOSES[name](tmp_path), code))


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_the_list_of_rules_is_as_it_was(code: str) -> None:
    compare(f"rules.{code}.txt", printed(lambda to: print_rules(LANGUAGES[code], to)))


def test_every_screen_that_is_kept_is_compared() -> None:
    names = [*DIAGNOSES, "rules"]
    kept = {path.name for path in SCREENS.iterdir()}
    assert kept == {f"{name}.{code}.txt" for name in names for code in LANGUAGES}


def finding(**changes: object) -> Finding:
    found = Finding(
        "module-pickled",
        {"module": "model"},
        (Place("train.py", 7, "torch.save(model, path)"),),
        fixes=(Fix(FixKind.LINE, "torch.save(model.state_dict(), path)"),),
    )
    return msgspec.structs.replace(found, **changes)


def screen_with(*findings: Finding, width: int = COLUMNS) -> str:
    return screen_of(Diagnosis(Request(repo=HOME), list(findings), [], ()), width=width)


def test_evidence_is_a_file_with_the_line_or_a_counter_with_its_value() -> None:
    reading = Reading("/proc/4711/autogroup", "/autogroup-42 nice 0")
    screen = screen_with(finding(evidence=(Place("a.py", 7, "x = 1"), reading)))
    assert "       a.py:7: x = 1\n" in screen
    assert "       /proc/4711/autogroup: /autogroup-42 nice 0\n" in screen


def test_many_places_are_counted_and_not_listed() -> None:
    places = tuple(Place("a.py", line, "x") for line in range(1, 9))
    screen = screen_with(finding(evidence=places))
    assert "a.py:4: x" in screen
    assert "a.py:5: x" not in screen
    assert "and 4 more places" in screen


def test_long_paths_are_shown_by_their_end_and_long_lines_by_their_beginning() -> None:
    place = Place(f"{'deep/' * 30}train.py", 12, "call(" + "x, " * 100)
    lines = screen_with(finding(evidence=(place,))).splitlines()
    (line,) = [line for line in lines if "train.py:12: call(x" in line]
    assert line.lstrip().startswith("...")
    assert line.endswith("...")
    assert cell_len(line) <= COLUMNS


def test_a_measured_cost_is_told() -> None:
    screen = screen_with(finding(cost_s_per_hour=90.0))
    assert "takes 90.0 s from each hour of training" in " ".join(screen.split())


def test_how_sure_it_is_is_told() -> None:
    for certainty in Certainty:
        assert f"(module-pickled, {certainty})" in screen_with(finding(certainty=certainty))


def test_a_long_diff_is_shown_in_part() -> None:
    diff = "".join(f"+line {number}\n" for number in range(30))
    screen = screen_with(finding(fixes=(Fix(FixKind.DIFF, diff),)))
    assert "+line 23\n" in screen
    assert "+line 24\n" not in screen
    assert "and 6 more lines (--json has all)" in screen


def test_very_many_findings_are_shown_in_part() -> None:
    screen = screen_with(*[finding()] * 15)
    assert "15 findings, worst first" in screen
    assert " 12. " in screen
    assert " 13. " not in screen
    assert "and 3 more (--json has all)" in screen


def test_a_terminal_without_the_letters_gets_english() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    console = Console(file=out, width=COLUMNS, highlight=False, color_system=None)
    print_diagnosis(Diagnosis(Request(repo=HOME), [], [], ("x",)), LANGUAGES["ja"], console)
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    assert b"Nothing found" in out.buffer.getvalue()
