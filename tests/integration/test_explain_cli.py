"""`instride explain` on good logs: files, directories, pipes; as a screen and as JSON."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import instride
from instride.cli.main import main
from instride.steps.readers import READERS

ANSWERED = (0, 1)
"""Exit codes with an answer on standard output."""
COLUMNS = 80
COMMAND = [sys.executable, "-m", "instride"]
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


def nanogpt(first: int, last: int, pause_every: int = 100, ms: float = 120.0) -> str:
    lines = []
    for step in range(first, last):
        if step % pause_every == 0:
            lines.append(f"step {step}: train loss 3.2110, val loss 3.3005")
        took = ms + step % 7 + (4000 if step % pause_every == 0 else 0)
        lines.append(f"iter {step}: loss 3.1000, time {took:.2f}ms, mfu 21.40%")
    return "\n".join(lines) + "\n"


def torchtitan(first: int, last: int, start_s: float, rank: int | None = None) -> str:
    """Every tenth step, with the time of day."""
    prefix = "" if rank is None else f"[rank{rank}]:"
    lines = []
    for step in range(first, last, 10):
        moment = MIDNIGHT + timedelta(seconds=start_s + (step - first) * 2.0)
        lines.append(
            f"{prefix}[titan] {moment:%Y-%m-%d %H:%M:%S},000 - root - INFO - step: {step:2}  "
            "loss:  4.1000  grad_norm:  0.5  memory: 10.00GiB(12.50%)  tps: 4,096  "
            "tflops: 100.00  mfu: 10.11%"
        )
    return "\n".join(lines) + "\n"


class Screen:
    """Runs the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def explain(self, *args: str) -> str:
        code = main(["explain", *args])
        captured = self._capsys.readouterr()
        assert code in ANSWERED, captured.err
        assert captured.err == ""
        return captured.out

    def answer(self, *args: str) -> dict[str, Any]:
        return strict_json(self.explain("--json", *args))


@pytest.fixture
def screen(capsys: pytest.CaptureFixture[str]) -> Screen:
    return Screen(capsys)


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def strict_json(text: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    answer = json.loads(text, parse_constant=refuse)
    assert isinstance(answer, dict)
    return answer


def run(
    args: list[str], env: Mapping[str, str] | None = None, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *args],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(env),
    )


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """For a process that finds the same package as this one."""
    return {**os.environ, "PYTHONPATH": str(Path(instride.__file__).parents[1]), **(env or {})}


def observed(answer: dict[str, Any]) -> tuple[int, int, int]:
    steps = answer["steps"]
    return steps["first"], steps["last"], steps["observed"]


NUMBER = (int, float)
LINE = {"line": int, "text": str}
EVIDENCE = [(LINE, {**LINE, "source": str})]
CONTRACT: dict[str, Any] = {
    "schema": int,
    "dialect": str,
    "source": [str],
    "steps": {"observed": int, "first": int, "last": int, "sampled_every": int},
    "baseline_s": NUMBER,
    "cadence": (None, {"period": int, "offset": int}),
    "owners": {str: {"seconds": NUMBER, "share": NUMBER, "steps": int}},
    "spans": [
        {
            "owner": str,
            "first_step": int,
            "last_step": int,
            "extra_s": NUMBER,
            "factor": NUMBER,
            "measured": bool,
            "evidence": EVIDENCE,
        }
    ],
    "restarts": [
        {
            "line": int,
            "resumed_at": int,
            "gap_s": (None, *NUMBER),
            "lost_steps": int,
            "lost_s": NUMBER,
        }
    ],
    "findings": [
        {
            "id": str,
            "owner": str,
            "cost_s": NUMBER,
            "share": NUMBER,
            "confidence": str,
            "rung": str,
            "part_of": (None, str),
            "sentence": str,
            "evidence": EVIDENCE,
            "remedies": [
                {"text": str, "change": (None, str), "saves_s": (None, *NUMBER)},
            ],
            "alternatives": [{"text": str, "check": str}],
        }
    ],
    "unknown": [str],
    "advice": [
        {"id": str, "text": str, "change": (str, None), "saves_s": (float, int, None)},
    ],
}
"""Schema 1: a type, a list of one shape, a dictionary of shapes, or a tuple of alternatives."""


def breaches(value: object, shape: object, where: str = "answer") -> Iterator[str]:
    """Where a value does not have its shape."""
    if isinstance(shape, tuple):
        if all(any(breaches(value, each)) for each in shape):
            yield f"{where} is {value!r}"
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from breaches(item, shape[0], f"{where}[{index}]")
    elif isinstance(shape, dict) and isinstance(value, dict):
        shapes = dict.fromkeys(value, shape[str]) if str in shape else shape
        if shapes.keys() != value.keys():
            yield f"{where} has {sorted(value)}"
        for key in shapes.keys() & value.keys():
            yield from breaches(value[key], shapes[key], f"{where}.{key}")
    elif value is not None if shape is None else type(value) is not shape:
        yield f"{where} is {value!r}"


def test_the_check_of_the_contract_finds_breaches() -> None:
    assert list(breaches({"a": 1}, {"a": str})) == ["answer.a is 1"]
    assert list(breaches({"a": True}, {"a": NUMBER})) == ["answer.a is True"]
    assert list(breaches({}, {"a": int})) == ["answer has []"]
    assert list(breaches([None, 2], [(None, int)])) == []


def test_a_log_is_explained_on_one_screen(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    printed = screen.explain("train.log")
    assert printed.startswith("train.log  (nanoGPT)\nsteps 0 to 499, all logged")
    assert "evaluation" in printed
    assert re.search(r"line \d+: step \d00: train loss 3\.2110, val loss 3\.3005", printed)
    assert printed.rstrip().endswith("all spans, for programs")


def test_the_json_keeps_its_contract(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 300) + nanogpt(250, 600))
    answer = screen.answer("train.log")
    assert list(breaches(answer, CONTRACT)) == []
    assert answer["schema"] == 1
    assert answer["dialect"] == "nanogpt"
    assert answer["source"] == ["train.log"]
    assert observed(answer) == (0, 599, 650)
    assert [restart["resumed_at"] for restart in answer["restarts"]] == [250]
    assert sum(owner["share"] for owner in answer["owners"].values()) == pytest.approx(1)
    assert answer["spans"]
    assert answer["findings"]


@pytest.mark.parametrize(
    "text",
    [nanogpt(0, 1), nanogpt(0, 2), torchtitan(10, 40, 0), nanogpt(5, 200, pause_every=10**9)],
    ids=["one step", "two steps", "torchtitan", "no pauses"],
)
def test_any_answer_keeps_the_contract(screen: Screen, text: str) -> None:
    Path("train.log").write_text(text)
    assert list(breaches(screen.answer("train.log"), CONTRACT)) == []


def test_json_is_utf_8_in_any_terminal() -> None:
    lines = nanogpt(0, 300).replace("val loss", "\u4e2d val loss")
    Path("train.log").write_text(lines, encoding="utf-8")
    done = run(["explain", "--json", "train.log"], {"PYTHONIOENCODING": "ascii"})
    assert done.returncode in ANSWERED, done.stderr
    assert "\u4e2d val loss" in str(strict_json(done.stdout.decode("utf-8")))


def test_a_packed_log_is_explained_like_a_plain_one(screen: Screen) -> None:
    Path("train.log.gz").write_bytes(gzip.compress(nanogpt(0, 500).encode()))
    Path("train.log").write_text(nanogpt(0, 500))
    packed, plain = screen.answer("train.log.gz"), screen.answer("train.log")
    assert packed.pop("source") == ["train.log.gz"]
    assert plain.pop("source") == ["train.log"]
    assert packed == plain


def test_a_packed_log_that_is_cut_is_explained_and_the_cut_is_told(screen: Screen) -> None:
    lines = "".join(
        f"iter {n}: loss {hash((n, 3)) % 9973}, time {100 + hash((n,)) % 97}.00ms\n"
        for n in range(20_000)
    )
    packed = gzip.compress(lines.encode())
    Path("train.log.gz").write_bytes(packed[: len(packed) // 2])
    answer = screen.answer("train.log.gz")
    assert 1000 < answer["steps"]["observed"] < 20_000
    assert any("train.log.gz ends in the middle" in sentence for sentence in answer["unknown"])


def test_a_pipe_is_explained(
    screen: Screen, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(nanogpt(0, 500).encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    printed = screen.explain("-")
    assert printed.startswith("-  (nanoGPT)\n")
    assert re.search(r"line \d+: step \d00: train loss", printed)
    assert "next: instride explain LOG --json" in printed


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_real_pipe_is_explained(pack: Callable[[bytes], bytes]) -> None:
    done = run(["explain", "--json", "-"], stdin=pack(nanogpt(0, 500).encode()))
    assert done.returncode in ANSWERED, done.stderr
    assert observed(strict_json(done.stdout.decode())) == (0, 499, 500)


def test_several_files_are_parts_of_one_run_in_the_order_given(screen: Screen) -> None:
    Path("z.log").write_text(nanogpt(0, 300))
    Path("a.log").write_text(nanogpt(280, 500))
    answer = screen.answer("z.log", "a.log")
    assert answer["source"] == ["z.log", "a.log"]
    assert observed(answer) == (0, 499, 520)
    (restart,) = answer["restarts"]
    assert (restart["resumed_at"], restart["lost_steps"]) == (280, 20)


@pytest.mark.parametrize("end", ["", "\x1b[0m", "no line feed"])
def test_evidence_of_several_files_names_the_file(screen: Screen, end: str) -> None:
    Path("1.log").write_text(nanogpt(0, 250) + end)
    Path("2.log").write_text(nanogpt(250, 660))
    answer = screen.answer("1.log", "2.log")
    evidence = [
        each for part in ("findings", "spans") for one in answer[part] for each in one["evidence"]
    ]
    assert {each["source"] for each in evidence} == {"1.log", "2.log"}
    for each in evidence:
        assert Path(each["source"]).read_text().splitlines()[each["line"] - 1] == each["text"]
    assert list(breaches(answer, CONTRACT)) == []


def test_an_empty_part_is_left_out_and_told(screen: Screen) -> None:
    Path("1.log").write_text(nanogpt(0, 100))
    Path("2.log").touch()
    Path("3.log").write_text(nanogpt(90, 200))
    answer = screen.answer("1.log", "2.log", "3.log")
    assert answer["source"] == ["1.log", "3.log"]
    assert "Left out, for it is empty: 2.log." in answer["unknown"]


def test_one_file_named_twice_is_read_once(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    answer = screen.answer("train.log", "train.log")
    assert observed(answer) == (0, 99, 100)
    assert answer["restarts"] == []


@pytest.mark.parametrize(
    "names",
    [
        ("rank0.log", "rank1.log", "rank2.log"),
        ("train_rank_00.txt", "train_rank_01.txt", "train_rank_10.txt"),
        ("run.node0.gpu0.out", "run.node0.gpu1.out", "run.node1.gpu0.out"),
        ("job-local-rank3.log", "job-local-rank4.log", "job-local-rank11.log"),
        ("att/0/stdout.log", "att/1/stdout.log", "att/10/stdout.log"),
    ],
)
def test_ranks_of_one_run_are_read_once_and_that_is_told(
    screen: Screen, names: tuple[str, ...]
) -> None:
    for number, name in enumerate(names):
        path = Path("logs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nanogpt(0, 200, ms=120.0 + number))
    paths = [f"logs/{name}" for name in names]
    for args in (["logs"], paths, paths[::-1]):
        answer = screen.answer(*args)
        assert answer["source"] == [paths[0]]
        assert observed(answer) == (0, 199, 200)
        assert answer["restarts"] == []
        (told,) = [sentence for sentence in answer["unknown"] if "Left out" in sentence]
        assert "same steps as" in told
        assert all(name in told for name in names[1:])


def test_ranks_of_each_part_are_read_once(screen: Screen) -> None:
    Path("logs").mkdir()
    for part, (first, last) in enumerate([(0, 100), (90, 200), (200, 300)]):
        for rank in range(8):
            Path(f"logs/part{part}_rank{rank}.log").write_text(
                nanogpt(first, last, ms=100.0 + rank)
            )
    answer = screen.answer("logs")
    assert answer["source"] == [f"logs/part{part}_rank0.log" for part in range(3)]
    assert len([each for each in answer["unknown"] if "and 4 more" in each]) == 3


def test_files_of_nodes_that_took_over_from_each_other_are_parts(screen: Screen) -> None:
    Path("node1.log").write_text(torchtitan(10, 900, start_s=0))
    Path("node0.log").write_text(torchtitan(10, 2000, start_s=7200))
    answer = screen.answer(".")
    assert answer["source"] == ["node1.log", "node0.log"]
    assert len(answer["restarts"]) == 1


def test_ranks_with_clocks_that_differ_a_little_are_read_once(screen: Screen) -> None:
    for rank in range(4):
        Path(f"rank{rank}.log").write_text(torchtitan(10, 900, start_s=3.0 * rank, rank=rank))
    answer = screen.answer(".")
    assert answer["source"] == ["rank0.log"]


def test_two_copies_of_one_log_are_read_once(screen: Screen) -> None:
    Path("nohup.out").write_text("nohup: ignoring input\n" + nanogpt(0, 200))
    Path("train.log").write_text(nanogpt(0, 200))
    answer = screen.answer(".")
    assert answer["source"] == ["nohup.out"]
    assert observed(answer) == (0, 199, 200)


def test_files_of_a_directory_are_ordered_by_their_first_time(screen: Screen) -> None:
    Path("b.log").write_text(torchtitan(10, 500, start_s=0))
    Path("c.log").write_text(torchtitan(400, 800, start_s=5000))
    Path("a.log").write_text(torchtitan(700, 900, start_s=9000))
    answer = screen.answer(".")
    assert answer["source"] == ["b.log", "c.log", "a.log"]
    assert [restart["resumed_at"] for restart in answer["restarts"]] == [400, 700]


def test_files_without_times_are_ordered_by_the_numbers_in_their_names(screen: Screen) -> None:
    for part in (1, 2, 10):
        Path(f"part{part}.log").write_text(nanogpt(part * 100, part * 100 + 150))
    answer = screen.answer(".")
    assert answer["source"] == ["part1.log", "part2.log", "part10.log"]


def test_rotated_logs_are_read_oldest_first(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(200, 300))
    Path("train.log.1").write_text(nanogpt(100, 200))
    Path("train.log.2.gz").write_bytes(gzip.compress(nanogpt(0, 100).encode()))
    answer = screen.answer(".")
    assert answer["source"] == ["train.log.2.gz", "train.log.1", "train.log"]


def test_other_files_of_a_directory_are_passed_over(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    Path("empty.log").touch()
    Path("model.log").write_bytes(b"PK\x03\x04" + bytes(1000))
    Path("notes.txt").write_text("lr 3e-4 was too high\n")
    Path("broken.gz").write_bytes(b"\x1f\x8b\x08\x00")
    Path("config.json").write_text('{"lr": 0.1}')
    Path("iter.py").write_text(nanogpt(0, 100))
    Path("gone.log").symlink_to("nowhere")
    Path("deeper").mkdir()
    Path("deeper/other.log").write_text(nanogpt(0, 50))
    assert screen.answer(".")["source"] == ["train.log"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_passed_over_in_a_directory(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    Path("secret.log").write_text(nanogpt(100, 200))
    Path("secret.log").chmod(0)
    assert screen.answer(".")["source"] == ["train.log"]


def test_a_link_to_the_latest_log_is_not_read_again(screen: Screen) -> None:
    Path("run1.log").write_text(nanogpt(0, 100))
    Path("latest.log").symlink_to("run1.log")
    answer = screen.answer(".")
    assert answer["source"] == ["run1.log"]
    assert not any("Left out" in sentence for sentence in answer["unknown"])


def test_the_dialect_of_most_files_is_that_of_the_directory(screen: Screen) -> None:
    Path("a.log").write_text(torchtitan(10, 300, start_s=0))
    Path("b.log").write_text(nanogpt(0, 100))
    Path("c.log").write_text(nanogpt(100, 200))
    assert screen.answer(".")["source"] == ["b.log", "c.log"]


def test_the_dialect_or_pattern_asked_for_picks_the_files_of_a_directory(screen: Screen) -> None:
    Path("a.log").write_text(torchtitan(10, 300, start_s=0))
    Path("b.log").write_text(nanogpt(0, 100))
    Path("c.log").write_text("".join(f"tick {n} took {n % 5 + 20}\n" for n in range(50)))
    assert screen.answer(".", "--dialect", "torchtitan")["source"] == ["a.log"]
    pattern = r"tick (?P<step>\d+) took (?P<ms>\d+)"
    assert screen.answer(".", "--pattern", pattern)["source"] == ["c.log"]


def test_a_directory_of_an_unknown_trainer_is_guessed(screen: Screen) -> None:
    def strange(first: int, last: int) -> str:
        return "".join(
            f"<< update={n} | objective=0.51 | step_time={0.4 + n % 3 / 100:.3f}s >>\n"
            for n in range(first, last)
        )

    Path("run1.log").write_text(strange(0, 60))
    Path("run2.log").write_text(strange(60, 100))
    Path("readme.txt").write_text("how to train\n")
    answer = screen.answer(".")
    assert answer["source"] == ["run1.log", "run2.log"]
    assert observed(answer) == (0, 99, 100)


def test_a_directory_and_a_file_can_be_named_together(screen: Screen) -> None:
    Path("old").mkdir()
    Path("old/train.log").write_text(nanogpt(0, 100))
    Path("train.log").write_text(nanogpt(100, 200))
    assert screen.answer("old", "train.log")["source"] == ["old/train.log", "train.log"]


def test_a_dialect_can_be_asked_for_by_name(screen: Screen) -> None:
    Path("both.log").write_text(nanogpt(0, 100) + torchtitan(10, 300, start_s=0))
    assert observed(screen.answer("both.log", "--dialect", "nanogpt")) == (0, 99, 100)
    assert observed(screen.answer("both.log", "--dialect", "torchtitan")) == (10, 290, 29)


def test_a_step_can_be_described_by_a_pattern(screen: Screen) -> None:
    Path("train.log").write_text("".join(f"tick {n} took {n % 5 + 20}\n" for n in range(50)))
    answer = screen.answer("train.log", "--pattern", r"tick (?P<step>\d+) took (?P<ms>\d+)")
    assert observed(answer) == (0, 49, 50)
    assert answer["dialect"] == "pattern"
    assert answer["baseline_s"] == pytest.approx(0.022, abs=0.003)


def test_all_dialects_are_listed_with_a_line_of_each(screen: Screen) -> None:
    printed = screen.explain("--dialects")
    for reader in READERS:
        assert reader.dialect.name in printed
        assert reader.dialect.title in printed
        assert reader.dialect.sample in printed


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_output_that_is_no_terminal_has_no_escape_codes(env: dict[str, str]) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    for args in (["train.log"], ["--json", "train.log"], ["--dialects"]):
        done = run(["explain", *args], env)
        assert done.returncode in ANSWERED, done.stderr
        assert b"\x1b" not in done.stdout


def in_terminal(args: list[str], env: Mapping[str, str] | None = None) -> bytes:
    """What the command prints into a terminal of 80 columns."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment({"TERM": "xterm-256color", "COLUMNS": "80", **(env or {})}),
    )
    os.close(theirs)
    printed = b""
    try:
        while block := os.read(ours, 1 << 16):
            printed += block
    except OSError:
        # Linux says so instead of ending the stream.
        pass
    os.close(ours)
    assert process.wait(60) in ANSWERED
    return printed


def test_a_terminal_gets_colours_unless_they_are_not_wanted() -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    coloured = in_terminal(["explain", "train.log"])
    plain = in_terminal(["explain", "train.log"], {"NO_COLOR": "1"})
    colour = rb"\x1b\[[0-9;]*3[0-9][0-9;]*m"
    assert re.search(colour, coloured)
    assert not re.search(colour, plain)


@pytest.mark.parametrize(
    "text",
    [
        nanogpt(0, 500),
        nanogpt(0, 300) + nanogpt(250, 600),
        nanogpt(10**9, 10**9 + 400, pause_every=50, ms=1e7),
        torchtitan(10, 3000, start_s=0) + torchtitan(2500, 4000, start_s=90_000),
        nanogpt(0, 500).replace("3.3005", "3.3005" + " \u4e2d\u6587" * 40),
        nanogpt(0, 3),
    ],
    ids=["nanogpt", "restart", "huge numbers", "torchtitan", "wide characters", "short"],
)
def test_every_line_fits_into_80_columns(screen: Screen, text: str) -> None:
    Path("train.log").write_text(text, encoding="utf-8")
    printed = screen.explain("train.log")
    assert [line for line in printed.splitlines() if cell_len(line) > COLUMNS] == []


@pytest.mark.parametrize("length", [20, 30, 40, 50, 60, 70, 90, 150])
def test_every_line_fits_whatever_the_log_is_called(screen: Screen, length: int) -> None:
    name = "x" * (length - 4) + ".log"
    Path(name).write_text(nanogpt(0, 300))
    printed = screen.explain(name)
    assert [line for line in printed.splitlines() if cell_len(line) > COLUMNS] == []


def test_every_line_fits_however_many_parts_there_are(screen: Screen) -> None:
    for part in range(30):
        Path(f"part{part}.log").write_text(nanogpt(part * 50, part * 50 + 50))
    printed = screen.explain(".")
    assert [line for line in printed.splitlines() if cell_len(line) > COLUMNS] == []


def test_every_line_fits_for_real_logs(
    cases: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cases)
    too_wide = []
    for log in sorted(cases.iterdir()):
        code = main(["explain", log.name])
        captured = capsys.readouterr()
        assert code in (*ANSWERED, 13), (log.name, captured.err)
        lines = captured.out.splitlines()
        too_wide += [(log.name, line) for line in lines if cell_len(line) > COLUMNS]
    assert too_wide == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_terminals_with_few_characters_get_what_they_can_show(encoding: str) -> None:
    text = nanogpt(0, 500).replace("val loss", "val \u4e2d\U0001f680 loss")
    Path("train.log").write_text(text, encoding="utf-8")
    done = run(["explain", "train.log"], {"PYTHONIOENCODING": encoding})
    assert done.returncode in ANSWERED, done.stderr
    assert done.stderr == b""
    printed = done.stdout.decode(encoding)
    assert "Where the time went" in printed
    assert all(cell_len(line) <= COLUMNS for line in printed.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no head")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_error(option: list[str]) -> None:
    Path("train.log").write_text(nanogpt(0, 20_000, pause_every=10))
    process = subprocess.Popen(
        [*COMMAND, "explain", *option, "train.log"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), complaint) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of Unix")
def test_ctrl_c_ends_with_130_and_without_a_traceback() -> None:
    process = subprocess.Popen(
        [*COMMAND, "explain", "--follow", "train.log"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"PYTHONUNBUFFERED": "1"}),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting for train.log\n"
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in complaint
