"""Checkpoints told apart by the time of files, or by patterns that take too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Certainty, FixKind
from tests.unit.doctor.rules.trying import found, lines

BY_TIME = {
    "sorted": 'files = sorted(glob.glob("out/step_*.pt"), key=os.path.getmtime)\n',
    "max": 'last = max(glob.glob("out/ckpt_*"), key=os.path.getctime)\n',
    "a list that is sorted": "checkpoints.sort(key=os.path.getmtime)\n",
    "a path's own time": 'last = max(out.glob("*.pth"), key=lambda p: p.stat().st_mtime)\n',
    "any folder, to resume from": (
        "dirs = os.listdir('.')\ndirs.sort(key=os.path.getctime)\nresume_from = dirs[-1]\n"
    ),
}


@pytest.mark.parametrize("code", BY_TIME.values(), ids=BY_TIME.keys())
def test_an_order_by_time_is_found(tmp_path: Path, code: str) -> None:
    [finding] = found("orders-by-mtime", tmp_path, {"resume.py": "import glob\nimport os\n" + code})
    assert lines(finding)[0][0] == "resume.py"
    is_named = "dirs" not in code
    assert finding.certainty is (Certainty.LIKELY if is_named else Certainty.PERHAPS)


def test_the_step_in_the_name_is_the_key_instead(tmp_path: Path) -> None:
    text = "import glob\nimport os\n" + BY_TIME["sorted"]
    [finding] = found("orders-by-mtime", tmp_path, {"resume.py": text})
    assert finding.fixes[0].kind is FixKind.DIFF
    assert "[-1])" in finding.fixes[0].text
    assert "+import re" in finding.fixes[0].text


def test_ls_by_time_is_found(tmp_path: Path) -> None:
    text = "last=$(ls -t out/step_*.pt | head -1)\npython train.py --resume $last\n"
    [finding] = found("orders-by-mtime", tmp_path, {"run.sh": text})
    assert "+last=$(ls -vr out/step_*.pt | head -1)" in finding.fixes[0].text


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": 'import os\nlogs = sorted(glob("*.log"), key=os.path.getmtime)\n'},
        {"a.py": 'files = sorted(glob("step_*.pt"), key=step_of)\n'},
        {"a.py": "import os\nmodels.sort(key=os.path.getmtime)\nprint(models)\n"},
        {"run.sh": "ls -t logs | head -1\n"},
        {"run.sh": "ls -dt checkpoints/run_* | head -1\n"},
        {"run.sh": "ls -l out/step_*.pt\n"},
    ],
)
def test_other_orders_are_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    assert not found("orders-by-mtime", tmp_path, files)


LISTED = """\
import os
import re


def name_of(step):
    return f"{made}"


def latest_step(folder):
    steps = []
    for name in os.listdir(folder):
        match = re.{function}(r"{pattern}", name)
        if match:
            steps.append(int(match.group(1)))
    return max(steps)
"""


def listed(pattern: str, function: str = "search", made: str = "step-{step}") -> dict[str, str]:
    text = LISTED.replace("{made}", made).replace("{function}", function)
    return {"resume.py": text.replace("{pattern}", pattern)}


@pytest.mark.parametrize(
    ("pattern", "function", "made", "instead", "example"),
    [
        (r"step-(\d+)", "search", "step-{step}", r're.fullmatch(r"step-(\d+)"', "step-100.tmp"),
        (
            r"step_(\d+)",
            "match",
            "step_{step}.pt",
            r're.fullmatch(r"step_(\d+)\.pt"',
            "step_100.tmp",
        ),
        (r"ckpt_(\d+)\.pt", "match", "x", r're.fullmatch(r"ckpt_(\d+)\.pt"', "ckpt_100.pt.tmp"),
        (
            r"epoch([0-9]+)",
            "search",
            "epoch{step}",
            r're.fullmatch(r"epoch([0-9]+)"',
            "epoch100.tmp",
        ),
    ],
)
def test_a_pattern_without_an_end_is_found(
    tmp_path: Path, pattern: str, function: str, made: str, instead: str, example: str
) -> None:
    [finding] = found("unanchored-step-pattern", tmp_path, listed(pattern, function, made))
    assert finding.facts == {"pattern": pattern, "example": example}
    assert finding.fixes[0].kind is FixKind.DIFF
    assert instead in finding.fixes[0].text


def test_names_that_are_made_elsewhere_get_a_line_to_write(tmp_path: Path) -> None:
    [finding] = found("unanchored-step-pattern", tmp_path, listed(r"step-(\d+)", made="x"))
    assert finding.fixes[0].kind is FixKind.LINE


@pytest.mark.parametrize(
    "files",
    [
        listed(r"step-(\d+)$"),
        listed(r"step-(\d+)", "fullmatch"),
        listed(r"layer(\d+)"),
        {"a.py": listed(r"step-(\d+)")["resume.py"].replace("os.listdir(folder)", "names")},
        {
            "a.py": listed(r"step-(\d+)")["resume.py"].replace(
                "if match:", "if match and name.endswith('.pt'):"
            )
        },
        {
            "a.py": listed(r"step-(\d+)")["resume.py"].replace(
                "if match:", "if match and os.path.exists(f'{folder}/{name}/done'):"
            )
        },
        {"a.py": listed(r"step-(\d+)")["resume.py"].replace("latest_step", "read_predictions")},
    ],
)
def test_patterns_that_take_no_more_are_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    assert not found("unanchored-step-pattern", tmp_path, files)
