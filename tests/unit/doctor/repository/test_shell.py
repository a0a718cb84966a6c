"""What shell code and recipes leave running in the background."""

from __future__ import annotations

import pytest

from instride.doctor.repository import ScriptFile
from instride.doctor.repository.shell import background_jobs, read_lists


def jobs(text: str) -> list[list[str]]:
    lists = read_lists(enumerate(text.split("\n"), 1))
    return [[command.text for command in job.commands] for job in background_jobs(lists)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a &", [["a"]]),
        ("a & b &", [["a"], ["b"]]),
        ("a | b &", [["a", "b"]]),
        ("a && b &", [["a", "b"]]),
        ("a; b &", [["b"]]),
        ("(a; b) &", [["(", "a", "b", ")"]]),
        ("{ a; b; } &", [["{ a", "b", "}"]]),
        ("while x; do a; done &", [["while x", "do a", "done"]]),
        ("while x; do\n  a &\ndone &", [["while x", "do", "a", "done"]]),
        ("f() {\n  a\n}\nf &", [["a", "}", "f"]]),
        ("a > x 2>&1 &", [["a > x 2>&1"]]),
    ],
)
def test_a_job_is_found(text: str, found: list[list[str]]) -> None:
    assert jobs(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "a && b",
        "a 2>&1",
        "a &> log",
        "a >& log",
        "echo 'a &'",
        'echo "a & b"',
        "x=$(a & b)",
        "# a &",
        "a # b &",
        "a \\& b",
        "cat <<EOF\na &\nEOF",
    ],
)
def test_what_is_no_job_is_left_alone(text: str) -> None:
    assert jobs(text) == []


def test_recipes_belong_to_their_targets() -> None:
    text = "X := 1\nall: train\n\ntrain:\n\t@-echo $$X\n\tpython \\\n\t  train.py\nclean: ; rm x\n"
    commands = ScriptFile("Makefile", text, "make").commands
    assert [(each.line, each.text, each.target) for each in commands] == [
        (5, "echo $X", "train"),
        (6, "python train.py", "train"),
    ]


def test_a_procfile_has_a_command_for_each_name() -> None:
    text = "# web\nweb: serve --port 1\nworker: work\n"
    commands = ScriptFile("Procfile", text, "procfile").commands
    assert [(each.target, each.text) for each in commands] == [
        ("web", "serve --port 1"),
        ("worker", "work"),
    ]


def test_a_line_without_end_is_left_out() -> None:
    script = ScriptFile("run.sh", "echo " + "x" * 100_000 + "\npython train.py\n", "shell")
    assert [each.text for each in script.commands] == ["python train.py"]
