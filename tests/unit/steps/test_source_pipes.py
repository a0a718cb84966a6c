"""Pipes are read like files, and more than once."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from instride.errors import EmptyLogError, UnreadableLogError
from instride.steps import source as source_module
from instride.steps.source import Source

if sys.version_info >= (3, 14):
    pass
else:
    pass
from tests.unit.steps.sources import PACKS, numbered, steps


class Stdin:
    """Standard input that can be read once, like a pipe."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("in_memory_bytes", [1, 1 << 20], ids=["on disk", "in memory"])
def test_a_pipe_can_be_read_again_and_again(
    monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], in_memory_bytes: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(pack(steps(100).encode())))
    monkeypatch.setattr(source_module, "IN_MEMORY_BYTES", in_memory_bytes)
    source = Source("-")
    assert list(source.lines()) == numbered(steps(100))
    assert list(source.lines()) == numbered(steps(100))
    assert source.texts([1]) == {1: "iter 0: loss 2.5000, time 100.00ms"}
    assert source.name == "-"


def test_an_empty_pipe_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b""))
    with pytest.raises(EmptyLogError, match="`-` is empty"):
        list(Source("-").lines())


def test_a_closed_standard_input_is_an_error_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UnreadableLogError, match="`-`: standard input is closed"):
        Source("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of Unix")
def test_a_named_pipe_can_be_read_twice(tmp_path: Path) -> None:
    """The shell's `instride explain <(ssh host cat train.log)` is one."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a\nb\n",), daemon=True)
    writer.start()
    source = Source(str(path))
    writer.join(timeout=10)
    assert list(source.lines()) == [(1, "a"), (2, "b")]
    assert list(source.lines()) == [(1, "a"), (2, "b")]
