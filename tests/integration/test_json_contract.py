"""What `--json` prints fits the schema that is documented, for logs of every kind of finding."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from instride.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    path = ROOT / "docs/reference/explain.schema.json"
    contract: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(contract)
    return contract


def steady(num_steps: int) -> str:
    return "".join(f"iter {i}: loss 2.0, time 100.00ms, mfu 1.00%\n" for i in range(num_steps))


def eventful() -> str:
    """Warm-up, evaluations, saves with a plateau after them, slow steps, a resume."""
    dice = Random(3)
    lines = []
    for first, last in ((0, 640), (600, 900)):
        lines.append("tokens per iteration will be: 512")
        for step in range(first, last):
            took = 100 + dice.random()
            if step % 100 == 0:
                lines.append(f"step {step}: train loss 2.1, val loss 2.2")
                took += 900
            if step % 200 == 0:
                lines.append("saving checkpoint to out")
                took += 3000
            if 0 < step % 200 <= 20:
                took *= 3
            if step in (first, 350):
                took += 5000
            lines.append(f"iter {step}: loss 2.0, time {took:.2f}ms, mfu 1.00%")
    return "\n".join(lines)


@pytest.mark.parametrize("text", [steady(2), steady(500), eventful()], ids=["two", "flat", "rich"])
def test_an_answer_fits_the_schema(
    text: str, schema: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(text, encoding="utf-8")
    assert main(["explain", str(log), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    jsonschema.validate(answer, schema)
    assert sum(owner["share"] for owner in answer["owners"].values()) == pytest.approx(1.0)


def test_several_files_say_which_one_a_line_is_in(
    schema: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = eventful().splitlines(keepends=True)
    half = len(lines) // 2
    paths = [tmp_path / "a.log", tmp_path / "b.log"]
    paths[0].write_text("".join(lines[:half]), encoding="utf-8")
    paths[1].write_text("".join(lines[half:]), encoding="utf-8")
    assert main(["explain", *map(str, paths), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    jsonschema.validate(answer, schema)
    texts = {str(path): path.read_text(encoding="utf-8").splitlines() for path in paths}
    cited = [evidence for span in answer["spans"] for evidence in span["evidence"]]
    assert {evidence["source"] for evidence in cited} == set(texts)
    for evidence in cited:
        assert texts[evidence["source"]][evidence["line"] - 1] == evidence["text"]
