"""The other ways explain answers: a page, a trace, another language, advice for failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instride.cli.main import main
from instride.cli.options import LANGUAGE_CODES
from instride.explain.languages import LANGUAGES


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Evaluations that cost much, and saves that cost little."""
    lines = []
    for step in range(400):
        took = 100.0
        if step % 50 == 0:
            lines.append(f"step {step}: train loss 2.1, val loss 2.2")
            took += 1500
        if step % 100 == 75:
            lines.append("saving checkpoint to out")
            took += 300
        lines.append(f"iter {step}: loss 2.0, time {took:.2f}ms, mfu 1.00%")
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_the_languages_of_the_help_are_those_there_are() -> None:
    assert tuple(LANGUAGES) == LANGUAGE_CODES


@pytest.mark.parametrize(
    ("code", "heading"),
    [("en", "Findings"), ("de", "Befunde"), ("fr", "Constats"), ("ja", "時間の内訳")],
)
def test_the_screen_is_in_the_language_asked_for(
    log: str, code: str, heading: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", log, "--lang", code]) == 0
    assert heading in capsys.readouterr().out


def test_the_locale_decides_where_nothing_was_asked(
    log: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_AT.UTF-8")
    assert main(["explain", log]) == 0
    assert "Befunde" in capsys.readouterr().out


def test_a_page_and_a_trace_are_written_beside_the_screen(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, trace = tmp_path / "report.html", tmp_path / "trace.json"
    assert main(["explain", log, "--html", str(page), "--perfetto", str(trace)]) == 0
    printed = capsys.readouterr()
    assert "Where the time went" in printed.out
    assert str(page) in printed.err
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]


@pytest.mark.parametrize("option", ["--html", "--perfetto"])
def test_a_file_that_cannot_be_written_is_named(
    log: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "missing" / "file"
    assert main(["explain", log, option, str(target)]) == 16
    said = capsys.readouterr().err
    assert str(target) in said
    assert "hint: " in said


def test_json_keeps_to_itself_when_a_page_is_written(
    log: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", log, "--json", "--html", str(tmp_path / "r.html")]) == 0
    assert json.loads(capfd.readouterr().out)["schema"] == 1


def test_advice_counts_with_the_failures_given(log: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", log, "--json", "--mtbf", "12h"]) == 0
    advice = {each["id"]: each for each in json.loads(capfd.readouterr().out)["advice"]}
    assert advice["save-by-failures"]["change"].startswith("eval_interval = ")
    assert "12 h" in advice["save-by-failures"]["text"]


@pytest.mark.parametrize("mtbf", ["soon", "-3h", "0"])
def test_a_time_to_failure_that_is_none_is_refused(
    log: str, mtbf: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", log, f"--mtbf={mtbf}"]) == 2
    assert mtbf in capsys.readouterr().err
