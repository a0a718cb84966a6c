"""Whatever is put in: a sentence with the value, a hint, an exit code of its own, no traceback."""

from __future__ import annotations

import os
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import instride
from instride.cli.main import main

ANSWERED = (0, 1)
EMPTY, BINARY, UNREADABLE, NO_STEPS, NO_TIMES, NO_LOGS = 11, 12, 10, 13, 14, 15
UNKNOWN_DIALECT, BAD_PATTERN, USAGE = 3, 4, 2
BAD_PATTERNS = [
    "(",
    "",
    "step",
    r"step (\d+)",
    r"(?P<stepp>\d+)",
    r"(?P<ms>\d+)",
    r"(?P<step>(\d+)+)+x(?P<ms>.)",
]
FUZZING = settings(
    deadline=None,
    # Smaller than what it found first is not clearer here, and takes minutes to find.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FUZZ = runpy.run_path(str(Path(__file__).parents[1] / "soak" / "fuzz_explain.py"))


def nanogpt(steps: Iterator[int] | range | list[int], time: str = "120.00ms") -> str:
    return "".join(f"iter {step}: loss 3.1000, time {time}, mfu 9.10%\n" for step in steps)


def stamped(step: int, seconds: float) -> str:
    moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%d %H:%M:%S} {nanogpt([step])}"


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Command:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def complaint(self, *args: str) -> tuple[int, str, str]:
        """Exit code, error and hint of a command that must fail."""
        code = main(["explain", *args])
        captured = self._capsys.readouterr()
        assert captured.out == ""
        found = re.fullmatch(r"error: ([^\n]+)\n\nhint: ([^\n]+)\n", captured.err)
        assert found is not None, captured.err
        return code, found[1], found[2]

    def answer(self, *args: str) -> str:
        """The screen of a command that must not fail."""
        code = main(["explain", *args])
        captured = self._capsys.readouterr()
        assert code in ANSWERED, captured.err
        assert captured.err == ""
        return captured.out


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def test_an_empty_file_is_empty(command: Command) -> None:
    Path("train.log").touch()
    code, error, hint = command.complaint("train.log")
    assert (code, error) == (EMPTY, "`train.log` is empty")
    assert "PYTHONUNBUFFERED=1" in hint


def test_several_empty_files_are_empty(command: Command) -> None:
    Path("a.log").touch()
    Path("b.log").touch()
    assert command.complaint("a.log", "b.log")[:2] == (EMPTY, "`a.log` is empty")


@pytest.mark.parametrize("content", [b"PK\x03\x04" + bytes(100), bytes(range(256)), b"iter 1\0\0"])
def test_a_binary_file_is_no_text(command: Command, content: bytes) -> None:
    Path("model.pt").write_bytes(content)
    code, error, hint = command.complaint("model.pt")
    assert (code, error) == (BINARY, "`model.pt` is not a text file")
    assert "tee train.log" in hint


def test_a_binary_file_among_others_is_named(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    Path("model.pt").write_bytes(bytes(100))
    assert command.complaint("train.log", "model.pt")[:2] == (
        BINARY,
        "`model.pt` is not a text file",
    )


@pytest.mark.parametrize("args", [["no.log"], ["no.log", "--json"], ["no/such/directory/"]])
def test_a_file_that_is_missing_is_named(command: Command, args: list[str]) -> None:
    code, error, hint = command.complaint(*args)
    assert code == UNREADABLE
    assert error == f"cannot read `{args[0]}`: No such file or directory"
    assert "ls -l" in hint


def test_one_missing_file_of_several_is_named(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    assert "`no.log`" in command.complaint("train.log", "no.log")[1]


def test_names_that_cannot_be_are_answered(command: Command) -> None:
    assert command.complaint("x" * 5000)[0] == UNREADABLE
    assert command.complaint("")[0] == UNREADABLE


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so for a moment we are not root."""
    if sys.platform == "win32":
        pytest.skip("permissions are a thing of Unix")
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_file_that_may_not_be_read_is_named(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    command.answer("train.log")
    Path("train.log").chmod(0)
    Path.cwd().chmod(0o755)
    with as_nobody():
        code, error, _ = command.complaint("train.log")
    assert (code, error) == (UNREADABLE, "cannot read `train.log`: Permission denied")


def test_a_directory_that_may_not_be_read_is_named(command: Command) -> None:
    Path("logs").mkdir()
    Path("logs/train.log").write_text(nanogpt(range(50)))
    command.answer("logs")
    Path("logs").chmod(0)
    Path.cwd().chmod(0o755)
    try:
        with as_nobody():
            directory = command.complaint("logs")
            inside = command.complaint("logs/train.log")
    finally:
        Path("logs").chmod(0o755)
    Path("logs").chmod(0o744)
    with as_nobody():
        assert command.complaint("logs")[0] == NO_LOGS
    assert directory[:2] == (UNREADABLE, "cannot read `logs`: Permission denied")
    assert inside[:2] == (UNREADABLE, "cannot read `logs/train.log`: Permission denied")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux")
def test_a_file_that_breaks_while_it_is_read_is_named(command: Command) -> None:
    code, error, _ = command.complaint("/proc/self/mem")
    assert (code, error) == (UNREADABLE, "cannot read `/proc/self/mem`: Input/output error")


def test_a_directory_without_logs_is_named(command: Command) -> None:
    Path("logs").mkdir()
    assert command.complaint("logs")[:2] == (NO_LOGS, "there is no file in `logs`")
    for name in ("notes.txt", "train.py", "empty.log"):
        Path("logs", name).write_text("" if "empty" in name else "nothing\n")
    code, error, hint = command.complaint("logs")
    assert (code, error) == (NO_LOGS, "no training log among the 3 files in `logs`")
    assert "instride explain path/to/train.log" in hint


@pytest.mark.parametrize("content", ["hello\n", "\n\n\n", "loss 2.5\nloss 2.4\n", "\ufffd" * 50])
def test_a_log_without_steps_is_told_how_to_describe_them(command: Command, content: str) -> None:
    Path("train.log").write_text(content, encoding="utf-8")
    code, error, hint = command.complaint("train.log")
    assert code == NO_STEPS
    assert error.startswith("no training steps found in `train.log`")
    assert "--pattern" in hint


def test_a_log_of_another_dialect_than_asked_for_has_no_steps(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, _ = command.complaint("train.log", "--dialect", "torchtitan")
    assert code == NO_STEPS
    assert "torchtitan" in error


def test_a_pattern_that_matches_nothing_finds_no_steps(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, _, _ = command.complaint("train.log", "--pattern", r"tick (?P<step>\d+) (?P<ms>\d+)")
    assert code == NO_STEPS


@pytest.mark.parametrize("num_steps", [1, 2])
def test_one_or_two_steps_are_enough_for_an_answer(command: Command, num_steps: int) -> None:
    Path("train.log").write_text(nanogpt(range(num_steps)))
    assert "an ordinary step takes 120 ms" in command.answer("train.log")


def test_times_of_zero_are_of_no_use(command: Command) -> None:
    Path("train.log").write_text(nanogpt(range(50), "0.00ms"))
    code, error, hint = command.complaint("train.log")
    assert (code, error) == (NO_TIMES, "`train.log` has 50 steps, but all their times are zero")
    assert "ts " in hint


@pytest.mark.parametrize("time", ["nanms", "infms"])
@pytest.mark.parametrize("num_steps", [1, 50])
def test_times_that_are_no_numbers_are_of_no_use(
    command: Command, time: str, num_steps: int
) -> None:
    Path("train.log").write_text(nanogpt(range(num_steps), time))
    code, error, _ = command.complaint("train.log")
    assert code == NO_TIMES
    assert error.startswith(f"`train.log` has {num_steps} step")
    assert "no time of a step could be read" in error


def test_a_few_times_that_are_no_numbers_do_no_harm(command: Command) -> None:
    times = ["nanms", "infms", "0.00ms"]
    odd = "".join(nanogpt([50 + number], time) for number, time in enumerate(times))
    Path("train.log").write_text(nanogpt(range(50)) + odd + nanogpt(range(53, 100)))
    assert "an ordinary step takes 120 ms" in command.answer("train.log")


@pytest.mark.parametrize(
    "steps",
    [range(50, 0, -1), [5] * 50, [0, 10**15, 1, 10**15 + 1] * 20, [*range(9)] * 9],
    ids=["down", "one", "jumps", "again and again"],
)
def test_steps_that_go_backwards_are_answered(command: Command, steps: list[int]) -> None:
    Path("train.log").write_text(nanogpt(steps))
    assert "Where the time went" in command.answer("train.log")


@pytest.mark.parametrize("jump_s", [-3600, -86400 * 400, 86400 * 4000])
def test_a_clock_that_jumps_is_answered(command: Command, jump_s: float) -> None:
    lines = [stamped(step, step * 0.12 + (jump_s if step >= 50 else 0)) for step in range(100)]
    Path("train.log").write_text("".join(lines))
    printed = command.answer("train.log")
    assert "an ordinary step takes 120 ms" in printed or "an ordinary step takes 1" in printed
    assert ("clock goes back once" in printed) == (jump_s < 0)


def test_ten_megabytes_on_one_line_do_not_hide_the_steps(command: Command) -> None:
    Path("train.log").write_text(
        nanogpt(range(50)) + "x" * (10 << 20) + "\n" + nanogpt(range(50, 100))
    )
    assert "steps 0 to 99" in command.answer("train.log")


def test_ten_megabytes_on_one_line_and_nothing_else_have_no_steps(command: Command) -> None:
    Path("train.log").write_text("iter 1: loss " * ((10 << 20) // 13))
    assert command.complaint("train.log")[0] == NO_STEPS


def test_fifty_ranks_in_one_log_are_one_run(command: Command) -> None:
    dice = random.Random(5)
    behind = [dice.randint(0, 3) for _ in range(50)]
    steps = [
        now - late for now in range(103) for late in sorted(behind, key=lambda _: dice.random())
    ]
    Path("train.log").write_text(nanogpt([step for step in steps if 0 <= step < 100]))
    printed = command.answer("train.log")
    assert "steps 0 to 99, all logged; " in printed
    assert "Several ranks print the same steps: 4,900 left out." in printed


@pytest.mark.parametrize(("name", "nearest"), [("nanogtp", "nanogpt"), ("torchtian", "torchtitan")])
def test_an_unknown_dialect_is_answered_with_the_nearest(
    command: Command, name: str, nearest: str
) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, hint = command.complaint("train.log", "--dialect", name)
    assert (code, error) == (UNKNOWN_DIALECT, f"no dialect is called `{name}`")
    assert f"did you mean `--dialect {nearest}`?" in hint
    assert "instride explain --dialects" in hint


@pytest.mark.parametrize("name", ["?", "foo", "x"])
def test_a_dialect_that_resembles_none_is_answered_with_the_list(
    command: Command, name: str
) -> None:
    code, _, hint = command.complaint("train.log", "--dialect", name)
    assert code == UNKNOWN_DIALECT
    assert "did you mean" not in hint


@pytest.mark.parametrize("pattern", BAD_PATTERNS)
def test_a_bad_pattern_is_shown_with_what_is_wrong(command: Command, pattern: str) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, hint = command.complaint("train.log", "--pattern", pattern)
    assert code == BAD_PATTERN
    assert error.startswith(f"the pattern `{pattern}` cannot be used: ")
    assert "(?P<step>" in hint


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], ["no log given"]),
        (["a.log", "--dialect", "nanogpt", "--pattern", "x"], ["--dialect", "--pattern"]),
        (["a.log", "--follow", "--json"], ["--follow", "--json"]),
        (["a.log", "b.log", "--follow"], ["--follow", "one"]),
        (["-", "-"], ["- can be given once"]),
        (["a.log", "--jsno"], ["--jsno"]),
        (["a.log", "--dialect"], ["--dialect"]),
    ],
)
def test_options_that_exclude_each_other_are_refused_by_name(
    command: Command, args: list[str], words: list[str]
) -> None:
    code, error, hint = command.complaint(*args)
    assert code == USAGE
    assert all(word in error for word in words)
    assert re.search(r"`instride (explain )?--help`", hint)


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["exlpain"], "instride explain"),
        (["compaer", "a.log", "b.log"], "instride compare"),
        (["explain", "--jsno", "a.log"], "instride explain --json"),
        (["compare", "--langg", "de"], "instride compare --lang"),
        (["--verson"], "instride --version"),
    ],
)
def test_a_misspelt_verb_or_option_is_answered_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], args: list[str], meant: str
) -> None:
    assert main(args) == USAGE
    assert f"did you mean `{meant}`?" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["foo"], ["--wrong"], ["explain", "--wrong"], ["-x"]])
def test_what_resembles_nothing_gets_no_suggestion(
    capsys: pytest.CaptureFixture[str], args: list[str]
) -> None:
    assert main(args) == USAGE
    complaint = capsys.readouterr().err
    assert f"`{args[-1]}`" in complaint
    assert "mean" not in complaint


def test_a_log_without_a_verb_is_answered_with_the_verb(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    assert main(["train.log"]) == USAGE
    assert "did you mean `instride explain train.log`?" in capsys.readouterr().err


def run_in_shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `$@` is the command."""
    return subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-m", "instride", "explain", "train.log"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(instride.__file__).parents[1])},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("option", ["", "--json"])
def test_an_answer_that_cannot_be_printed_is_an_error(option: str) -> None:
    Path("train.log").write_text(nanogpt(range(500)))
    done = run_in_shell(f'"$@" {option} > /dev/full')
    assert done.returncode == USAGE
    assert done.stderr.startswith("error: cannot go on: No space left on device\n\nhint: ")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_nowhere_to_print_is_no_error() -> None:
    Path("train.log").write_text(nanogpt(range(500)))
    done = run_in_shell('"$@" >&-')
    assert done.returncode in ANSWERED
    assert done.stderr == ""


def judge(case: Any) -> None:
    code, problem = FUZZ["try_case"](case)
    assert problem == "", f"exit code {code} for {case}"


@given(st.binary(max_size=300))
@settings(FUZZING, max_examples=200)
def test_any_bytes_get_an_answer_or_a_sentence(content: bytes) -> None:
    judge(FUZZ["Case"]({"a.log": content}, ["a.log"]))


@given(st.randoms(use_true_random=False))
@settings(FUZZING, max_examples=1000)
def test_any_mixture_of_lines_gets_an_answer_or_a_sentence(dice: random.Random) -> None:
    judge(FUZZ["make_case"](dice))
