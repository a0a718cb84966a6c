"""Intervals of saves and evaluations, from what a log shows that they cost."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from instride.doctor.model import Count, FixKind, Reading
from instride.doctor.request import Request
from instride.doctor.rules import CHECKS
from instride.errors import InstrideError
from tests.unit.doctor.rules.trying import found, lines, write


class Log:
    """A log of a trainer that saves after every so many steps of one second."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 2, 3, 4, 5)
        self._lines: list[str] = []

    def say(self, text: str, seconds: float = 0.0) -> None:
        self._now += timedelta(seconds=seconds)
        stamp = self._now.strftime("%Y-%m-%d %H:%M:%S,000")
        self._lines.append(f"[titan] {stamp} - root - INFO - {text}")

    def train(self, first: int, last: int, save_every: int, save_s: int) -> None:
        self.say("Starting job: a model", 60)
        self.say(f"Training starts at step {first}", 5)
        for step in range(first, last + 1):
            self.say(
                f"step: {step:2d}  loss:  7.1000  grad_norm:  1.2000  tps: 8,000  tflops: 1.0", 1
            )
            if step % save_every == 0:
                self.say("Saving the checkpoint (or staging if async is enabled).")
                self.say(f"Finished saving the checkpoint in {save_s}.00 seconds.", save_s)

    def write(self, path: Path) -> str:
        path.write_text("\n".join(self._lines) + "\n")
        return str(path)


def saving_log(tmp_path: Path, every: int = 100, cost_s: int = 10, steps: int = 1000) -> str:
    log = Log()
    log.train(1, steps, every, cost_s)
    return log.write(tmp_path / "train.log")


def test_saves_that_take_a_tenth_of_the_time_are_too_many(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    files = {"train.py": "interval = 3\n", "config.yaml": "lr: 1\ncheckpoint_interval: 100\n"}
    [finding] = found("saves-too-often", repo, files, saving_log(tmp_path))
    assert finding.facts["every"] == Count(100)
    assert finding.facts["steps"] == Count(1000)
    assert finding.cost_s_per_hour == pytest.approx(3600 * (10 / 110 - 10 / 1010), rel=0.1)
    assert lines(finding) == [("config.yaml", 2)]
    assert "+checkpoint_interval: 1000" in finding.fixes[0].text
    assert any(isinstance(each, Reading) for each in finding.evidence)


def test_without_a_setting_in_sight_the_trainers_own_option_is_named(tmp_path: Path) -> None:
    files = {"train.py": "save_interval = 77\n"}
    [finding] = found("saves-too-often", tmp_path / "repo", files, saving_log(tmp_path))
    assert finding.fixes[0].kind is FixKind.LINE
    assert "interval=1000" in finding.fixes[0].text


@pytest.mark.parametrize(
    "setting",
    [
        "save_interval = 100\n",
        "class Config:\n    save_every: int = 100\n",
        "parser.add_argument('--save-steps', type=int, default=100)\n",
    ],
)
def test_an_interval_that_the_code_has_by_default_is_evidence(tmp_path: Path, setting: str) -> None:
    [finding] = found(
        "saves-too-often", tmp_path / "repo", {"train.py": setting}, saving_log(tmp_path)
    )
    assert finding.fixes[0].kind is FixKind.DIFF
    assert len(lines(finding)) == 1


def journal(tmp_path: Path) -> str:
    """What a Saver writes of steps of a second, and of saves that take ten."""
    now, rows = 1767225600.0, []
    for step in range(1000):
        seconds = 11.0 if step % 100 == 1 and step > 1 else 1.0
        now += seconds
        rows.append({"t": now, "kind": "step", "step": step, "s": seconds})
        if step and step % 100 == 0:
            rows.append({"t": now, "kind": "call", "id": step, "step": step, "s": 10.0})
    path = tmp_path / "journal.jsonl"
    texts = (json.dumps(row, separators=(",", ":")) for row in rows)
    path.write_text("\n".join(texts) + "\n")
    return str(path)


SAVER = """\
import instride

saver = instride.Saver("out", model=model)
for step in range(1000):
    if saver.due(step, every={every}):
        saver.save(step)
"""


@pytest.mark.parametrize("every", [100, 101])
def test_what_a_saver_is_asked_for_is_the_interval(tmp_path: Path, every: int) -> None:
    files = {"train.py": SAVER.format(every=every)}
    [finding] = found("saves-too-often", tmp_path / "repo", files, saving_log(tmp_path))
    assert "+    if saver.due(step, every=1000):" in finding.fixes[0].text


@pytest.mark.parametrize("every", ["500", "args.every"])
def test_a_saver_that_was_asked_for_something_else_is_asked_in_its_own_words(
    tmp_path: Path, every: str
) -> None:
    files = {"train.py": SAVER.format(every=every)}
    [finding] = found("saves-too-often", tmp_path / "repo", files, journal(tmp_path))
    assert lines(finding) == []
    steps = finding.facts["steps"]
    assert isinstance(steps, Count)
    assert finding.fixes[0].text == f"if saver.due(step, every={steps.value}):"


def test_a_single_save_counts_at_the_interval_that_the_repository_sets(tmp_path: Path) -> None:
    log = saving_log(tmp_path, every=100, steps=160)
    files = {"train.py": "save_interval = 100\n"}
    [finding] = found("saves-too-often", tmp_path / "repo", files, log)
    assert finding.facts["every"] == Count(100)
    assert found("saves-too-often", tmp_path / "other", {"train.py": "pass\n"}, log) == []


def test_cheap_saves_are_left_alone(tmp_path: Path) -> None:
    log = saving_log(tmp_path, every=500, cost_s=2)
    assert found("saves-too-often", tmp_path / "repo", {"train.py": "pass\n"}, log) == []


def test_evaluations_are_weighed_like_saves(tmp_path: Path) -> None:
    text = ["step 0: train loss 9.0000, val loss 9.0000"]
    for step in range(600):
        is_after = step % 100 == 0 and step
        if is_after:
            text.append(f"step {step}: train loss 3.0000, val loss 3.1000")
        text.append(f"iter {step}: loss 3.0000, time {11000 if is_after else 1000}.00ms, mfu 1.00%")
    (tmp_path / "train.log").write_text("\n".join(text) + "\n")
    files = {"train.py": "eval_interval = 100\n"}
    [finding] = found("evaluates-too-often", tmp_path / "repo", files, str(tmp_path / "train.log"))
    assert finding.facts["steps"] == Count(1000)
    assert "+eval_interval = 1000" in finding.fixes[0].text


def failing_log(tmp_path: Path, every: int, save_s: int) -> str:
    log = Log()
    for turn in range(4):
        log.train(turn * 600 + 1, (turn + 1) * 600, every, save_s)
    return log.write(tmp_path / "train.log")


def test_rare_saves_of_a_training_that_fails_often_are_too_few(tmp_path: Path) -> None:
    log = failing_log(tmp_path, every=300, save_s=1)
    files = {"train.py": "save_interval = 300\n"}
    [finding] = found("saves-too-rarely", tmp_path / "repo", files, log)
    steps = finding.facts["steps"]
    assert isinstance(steps, Count)
    assert steps.value < 100
    assert finding.cost_s_per_hour is not None
    assert finding.cost_s_per_hour > 0
    assert found("saves-too-often", tmp_path / "repo", files, log) == []


def test_frequent_saves_of_a_training_that_fails_are_too_many_by_daly(tmp_path: Path) -> None:
    log = failing_log(tmp_path, every=20, save_s=5)
    files = {"train.py": "save_interval = 20\n"}
    [finding] = found("saves-too-often", tmp_path / "repo", files, log)
    steps = finding.facts["steps"]
    assert isinstance(steps, Count)
    assert 20 < steps.value < 200
    assert found("saves-too-rarely", tmp_path / "repo", files, log) == []


def test_without_a_log_nothing_is_said(tmp_path: Path) -> None:
    for rule in ("saves-too-often", "evaluates-too-often", "saves-too-rarely"):
        assert found(rule, tmp_path, {"train.py": "save_interval = 1\n"}) == []


def test_a_log_that_cannot_be_read_is_an_error_with_a_hint(tmp_path: Path) -> None:
    repository = write(tmp_path, {"train.py": "pass\n"})
    request = Request(log=str(tmp_path / "missing.log"))
    with pytest.raises(InstrideError):
        list(CHECKS["saves-too-often"](repository, request))
