"""`instride explain` on one log: plain, packed, from a pipe, described by the user."""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instride.steps.readers import READERS
from tests.integration.commands import (
    ANSWERED,
    Screen,
    observed,
    run,
    strict_json,
)
from tests.integration.logs import nanogpt, torchtitan

pytestmark = pytest.mark.usefixtures("own_directory")


def test_a_log_is_explained_on_one_screen(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    printed = screen.show("train.log")
    assert printed.startswith("train.log  (nanoGPT)\nsteps 0 to 499, all logged")
    assert "evaluation" in printed
    assert re.search(r"line \d+: step \d00: train loss 3\.2110, val loss 3\.3005", printed)
    assert printed.rstrip().endswith("all spans, for programs")


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
    printed = screen.show("-")
    assert printed.startswith("standard input  (nanoGPT)\n")
    assert re.search(r"line \d+: step \d00: train loss", printed)
    assert "next: instride explain LOG --json" in printed


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_real_pipe_is_explained(pack: Callable[[bytes], bytes]) -> None:
    done = run(["explain", "--json", "-"], stdin=pack(nanogpt(0, 500).encode()))
    assert done.returncode in ANSWERED, done.stderr
    assert observed(strict_json(done.stdout.decode())) == (0, 499, 500)


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
    printed = screen.show("--dialects")
    for reader in READERS:
        assert reader.dialect.name in printed
        assert reader.dialect.title in printed
        assert reader.dialect.sample in printed
