"""Checkpoint directories that a repository names itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.checkpoint_paths import MOST, checkpoint_paths
from instride.doctor.repository import read_repository


def found(root: Path) -> list[Path]:
    return list(checkpoint_paths(read_repository(root)))


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", "train:\n  output_dir: out\n"),
        ("config.toml", '[save]\ncheckpoint_dir = "out"\n'),
        ("config.json", '{"ckpt-dir": "out"}'),
        ("train.py", "out_dir = 'out'\n"),
        ("train.py", "class Config:\n    save_dir: str = 'out'\n"),
        ("train.py", "def save(state, *, checkpoint_dir='out'): ...\n"),
        ("train.py", "def save(state, out_dir='out', n=1): ...\n"),
        ("train.py", "parser.add_argument('-o', '--output-dir', default='out')\n"),
        ("train.py", "config.save_dir = 'out'\n"),
        ("train.py", "checkpoint_path = 'out/last.pt'\n"),
        ("main.py", "out_dir = 'out'\ntorch.save(state, path)\n"),
    ],
)
def test_a_directory_is_found_where_it_is_named(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    assert found(tmp_path) == [tmp_path / "out"]


@pytest.mark.parametrize(
    "value",
    ["", "s3://bucket/run", "runs/${now}", "runs/{step}", "/no-such-disk/of/another-machine"],
)
def test_what_is_no_directory_of_this_machine_is_left_out(tmp_path: Path, value: str) -> None:
    write(tmp_path, "config.yaml", f'output_dir: "{value}"\n')
    assert found(tmp_path) == []


def test_what_no_file_can_be_called_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "train.py", "out_dir = 'a\\0b'\nsave_dir = '\\ud800'\n")
    assert found(tmp_path) == []


def test_values_that_are_worked_out_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "train.py", "out_dir = pick()\ndef f(save_dir=None, *, out_dir): ...\n")
    assert found(tmp_path) == []


def test_an_absolute_path_counts_where_its_parent_is(tmp_path: Path) -> None:
    write(tmp_path, "repo/config.yaml", f"output_dir: {tmp_path.as_posix()}/elsewhere\n")
    assert found(tmp_path / "repo") == [tmp_path / "elsewhere"]


def test_code_that_does_not_train_is_not_asked(tmp_path: Path) -> None:
    write(tmp_path, "detect.py", "save_dir = 'runs/detect'\n")
    assert found(tmp_path) == []


def test_tests_and_examples_are_not_asked(tmp_path: Path) -> None:
    write(tmp_path, "examples/config.yaml", "output_dir: out\n")
    write(tmp_path, "tests/test_it.py", "out_dir = 'out'\n")
    assert found(tmp_path) == []


def test_each_is_told_once_and_no_more_than_a_few(tmp_path: Path) -> None:
    names = [f"out_{number % 20}" for number in range(40)]
    write(tmp_path, "train.py", "".join(f"out_dir = '{name}'\n" for name in names))
    assert found(tmp_path) == [tmp_path / name for name in names[:MOST]]


def test_for_a_guess_by_names_no_other_file_is_asked(tmp_path: Path) -> None:
    write(tmp_path, "train.py", "save_dir = args.where\nout_dir = 'out'\n")
    write(tmp_path, "options.py", "parser.add_argument('--where', default='elsewhere')\n")
    assert found(tmp_path) == [tmp_path / "out"]
