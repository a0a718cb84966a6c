"""`instride bench interference`: a short run of every row, with the real agent."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

torch = pytest.importorskip("torch")

from instride.bench.interference.names import (  # noqa: E402 - needs torch
    NAMES,
    NOTHING,
    NOTHING_AGAIN,
    OURS,
    Scenario,
)
from instride.cli.main import main  # noqa: E402

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("scenario", list(Scenario))
def test_a_short_run_fits_the_schema_and_leaves_nothing_behind(
    scenario: Scenario, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "interference.md"
    rows = NAMES if scenario is Scenario.CPU else (NAMES[0], OURS)
    options = [part for name in rows for part in ("--rows", name)]
    seconds = "1" if scenario is Scenario.CPU else "0.5"  # of a busy training, steps are few
    options += ["--megabytes", "1", "--blocks", "2", "--seconds", seconds]
    options += ["--folder", str(tmp_path)]
    asked = ["bench", "interference", "--scenario", scenario.value, *options]
    assert main([*asked, "--record", str(page), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    schema = ROOT / "docs/reference/bench-interference.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    assert [row["name"] for row in answer["rows"]] == list(rows)
    assert all(row["median_inflation"] > 0 for row in answer["rows"])
    assert answer["rows"][-1]["peak_bytes"] > 0
    assert answer["rows"][-1]["said"].startswith("cost training")
    rivals = [row for row in answer["rows"] if row["name"] not in (NOTHING, NOTHING_AGAIN)]
    assert all(row["finish_s"] >= row["alone_s"] >= 0 for row in rivals)
    assert "instride" in page.read_text(encoding="utf-8")
    assert page.with_suffix(".svg").read_text(encoding="utf-8").startswith("<svg")
    assert sorted(tmp_path.iterdir()) == sorted([page, page.with_suffix(".svg")])
