"""Real logs whose truth was measured beforehand, checked as their scoring program does."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from instride.cli.main import main

CASES = Path(__file__).parents[3] / "shared" / "cases"
EXPECTED: dict[str, Any] = (
    json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["cases"]
    if (CASES / "expected.json").is_file()
    else {}
)


@pytest.fixture(scope="module")
def scoring(cases: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", cases.parent / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(EXPECTED) or ["none"])
def test_every_check_of_a_real_log_passes(
    name: str, cases: Path, scoring: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(cases / name), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    checks = scoring.score(EXPECTED[name], answer)
    assert [check for check in checks if not check.passed] == []


def test_the_case_that_started_it_all(cases: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["explain", str(cases / "step-timing-log.txt"), "--json"])
    answer = json.loads(capfd.readouterr().out)
    assert round(answer["baseline_s"], 2) == 5.38
    assert answer["cadence"]["period"] == 16
    (save,) = [span for span in answer["spans"] if span["owner"] == "save"]
    assert (save["first_step"], round(save["extra_s"], 1)) == (3968, 31.6)
    (after,) = [span for span in answer["spans"] if span["owner"] == "aftermath"]
    assert (after["first_step"], after["last_step"]) == (3969, 3991)
    assert (round(after["extra_s"], 1), round(after["factor"], 1)) == (284.7, 3.2)
    warmups = [span for span in answer["spans"] if span["owner"] == "warmup"]
    assert [span["first_step"] for span in warmups] == [3473, 3969]
    (restart,) = answer["restarts"]
    assert (restart["resumed_at"], restart["lost_steps"]) == (3969, 23)
