"""Values that contradict each other, and values that only look as if they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Certainty
from tests.unit.doctor.rules.trying import found, lines

CODE = """\
import yaml


def main():
    config = yaml.safe_load(open("config.yaml"))
    names = ("lr", "batch_size", "compile", "fp16", "bf16", "warmup_steps", "max_steps", "min_lr")
    {override}
    for batch in loader:
        model(batch).backward()
        optimizer.step()
"""
CONFIG = "lr: 0.1\nbatch_size: 8\n"


def repository(config: str, override: str = "pass") -> dict[str, str]:
    return {
        "train.py": CODE.replace("{override}", override.replace("\n", "\n    ")),
        "config.yaml": CONFIG + config,
    }


def test_a_key_given_twice_is_found(tmp_path: Path) -> None:
    [finding] = found(
        "contradicting-values", tmp_path, repository("compile: true\ncompile: false\n")
    )
    assert finding.certainty is Certainty.SURE
    assert lines(finding) == [("config.yaml", 3), ("config.yaml", 4)]
    assert "-compile: true" in finding.fixes[0].text


@pytest.mark.parametrize(
    "config",
    [
        "fp16: true\nbf16: true\n",
        "warmup_steps: 1000\nmax_steps: 1000\n",
        "min_lr: 0.5\n",
    ],
)
def test_values_that_exclude_each_other_are_found(tmp_path: Path, config: str) -> None:
    assert len(found("contradicting-values", tmp_path, repository(config))) == 1


@pytest.mark.parametrize("override", ["config['compile'] = True", "config.compile = True"])
def test_a_value_that_the_trainer_replaces_is_found(tmp_path: Path, override: str) -> None:
    [finding] = found("contradicting-values", tmp_path, repository("compile: false\n", override))
    assert finding.facts["other_place"] == "train.py:7"
    assert finding.facts["other_value"] == "true"
    assert f"-    {override}" in finding.fixes[0].text


@pytest.mark.parametrize(
    ("config", "override"),
    [
        ("compile: true\n---\ncompile: false\n", "pass"),
        ("compile: true\ncompile: true\n", "pass"),
        ("a:\n  compile: true\nb:\n  compile: false\n", "pass"),
        ("fp16: true\nbf16: false\n", "pass"),
        ("warmup_steps: 10\nmax_steps: 1000\n", "pass"),
        ("warmup_steps: 10\nmax_steps: -1\n", "pass"),
        ("min_lr: 0.01\n", "pass"),
        ("compile: false\n", "if debug:\n    config['compile'] = True"),
        ("compile: false\n", "config['compile'] = compiles()"),
        ("compile: true\n", "config['compile'] = True"),
        ("compile: false\n", "other.thing = True"),
    ],
)
def test_values_that_go_together_are_left_alone(tmp_path: Path, config: str, override: str) -> None:
    assert found("contradicting-values", tmp_path, repository(config, override)) == []
