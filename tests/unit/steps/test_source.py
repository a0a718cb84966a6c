"""Lines come out the same from files, pipes, compressed files, in any encoding and any chunks."""

from __future__ import annotations

import gzip
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.errors import BinaryLogError, EmptyLogError, UnreadableLogError
from instride.steps import source as source_module
from instride.steps.source import Source

if sys.version_info >= (3, 14):
    pass
else:
    pass
from tests.unit.steps.sources import CHUNKS, ENDS, chunks_of, numbered, pieces_with_text, with_text


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_lines_are_counted_by_line_feeds(log: Callable[[bytes], Source], num_bytes: int) -> None:
    text = "first\n\nthird \u00e9\u4e2d\U0001f680\n  fourth"
    with chunks_of(num_bytes):
        source = log(text.encode())
        assert list(source.lines()) == numbered(text)


@pytest.mark.parametrize("end", ENDS)
def test_the_number_of_the_last_line_is_that_of_its_text(
    log: Callable[[bytes], Source], end: str
) -> None:
    """Lines of the next file count on from here, so nothing may be counted after it."""
    source = log(("a\nb\nc" + end).encode())
    lines = list(source.lines())
    assert [number for number, text in lines if text] == [1, 2, 3]
    assert lines[-1][0] == 3 + end.count("\n\n")


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_a_carriage_return_before_a_line_feed_belongs_to_it(
    log: Callable[[bytes], Source], num_bytes: int
) -> None:
    with chunks_of(num_bytes):
        source = log(b"one\r\ntwo\r\n\r\nfour\r\n")
        assert list(source.lines()) == [(1, "one"), (2, "two"), (3, ""), (4, "four")]
        assert source.texts([1, 2, 3, 4]) == {1: "one", 2: "two", 4: "four"}


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_a_progress_bar_gives_all_its_pieces_under_one_number(
    log: Callable[[bytes], Source], num_bytes: int
) -> None:
    content = b"start\n" + b"".join(b"\r%d/9 [00:0%d]" % (n, n) for n in range(10)) + b"\nend\n"
    with chunks_of(num_bytes):
        source = log(content)
        bar = [(2, f"{n}/9 [00:0{n}]") for n in range(10)]
        assert with_text(source.lines()) == [(1, "start"), *bar, (3, "end")]
        assert source.texts([1, 2, 3]) == {1: "start", 2: "9/9 [00:09]", 3: "end"}


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_a_bar_that_wipes_itself_shows_its_last_text(
    log: Callable[[bytes], Source], num_bytes: int
) -> None:
    with chunks_of(num_bytes):
        assert log(b"abc\rdefgh\r   \r\nnext\n").texts([1, 2]) == {1: "defgh", 2: "next"}


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_escape_sequences_are_left_out_also_at_the_border_of_a_chunk(
    log: Callable[[bytes], Source], num_bytes: int
) -> None:
    content = (
        b"\x1b[1;31mred\x1b[0m 1\n"
        b"\x1b]0;a title\x07named\x1b]0;b\x1b\\ 2\n"
        b"\x1b(B\x1b[mplain\x1b7\x1b8 3\n"
        b"\x1b[2K\rbar\x1b[K\rbar 4\x1b[?25h\n"
    )
    with chunks_of(num_bytes):
        source = log(content)
        assert with_text(source.lines()) == [
            (1, "red 1"),
            (2, "named 2"),
            (3, "plain 3"),
            (4, "bar"),
            (4, "bar 4"),
        ]
        assert source.texts([1, 4]) == {1: "red 1", 4: "bar 4"}


@pytest.mark.parametrize("broken", [b"\x1b", b"\x1b[", b"\x1b[31", b"\x1b]0;title without end"])
def test_an_escape_sequence_without_end_swallows_no_line(
    log: Callable[[bytes], Source], broken: bytes
) -> None:
    source = log(b"iter 1" + broken + b"\niter 2\niter 3\x1b[0m\n")
    lines = list(source.lines())
    assert [number for number, _ in lines] == [1, 2, 3]
    assert lines[0][1].startswith("iter 1")
    assert lines[1:] == [(2, "iter 2"), (3, "iter 3")]


def test_evidence_holds_nothing_that_a_terminal_would_obey(log: Callable[[bytes], Source]) -> None:
    source = log(b"\x1b\x1b[0m[31mred\x07 \x08\x9b2J \xe2\x80\xae\ttab\n")
    (text,) = source.texts([1]).values()
    assert text.isprintable()
    assert text.startswith("[31mred")
    assert text.endswith(" tab")


@pytest.mark.parametrize("num_bytes", CHUNKS)
def test_bytes_that_are_no_text_do_not_hide_the_rest(
    log: Callable[[bytes], Source], num_bytes: int
) -> None:
    with chunks_of(num_bytes):
        source = log(b"iter 1 \xff\xfe\xc3( end\n\xe4\xb8iter 2\n")
        assert list(source.lines()) == [
            (1, "iter 1 \ufffd\ufffd\ufffd( end"),
            (2, "\ufffditer 2"),
        ]


def test_an_empty_file_is_said_to_be_empty(log: Callable[[bytes], Source]) -> None:
    for content in (b"", b"\xef\xbb\xbf", gzip.compress(b"")):
        with pytest.raises(EmptyLogError, match=r"train\.log` is empty"):
            list(log(content).lines())


def test_a_binary_file_is_said_to_be_no_text(log: Callable[[bytes], Source]) -> None:
    for content in (b"PK\x03\x04\0\0\0\0data.pkl", bytes(range(256)) * 20, b"\0" * 100):
        with pytest.raises(BinaryLogError, match=r"train\.log` is not a text file"):
            list(log(content).lines())


def test_a_file_that_is_not_there_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLogError, match=r"no\.log`: No such file"):
        list(Source(str(tmp_path / "no.log")).lines())
    with pytest.raises(UnreadableLogError, match="Is a directory"):
        list(Source(str(tmp_path)).lines())
    with pytest.raises(UnreadableLogError, match="File name too long"):
        list(Source("x" * 5000).lines())


def test_a_name_that_no_terminal_can_show_is_made_printable(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/tr\xffain\x1b.log")
    Path(path).write_bytes(b"a\n")
    source = Source(path)
    assert source.name.endswith("/tr?ain?.log")
    assert list(source.lines()) == [(1, "a")]


def test_texts_are_cut_and_lines_that_are_not_there_are_left_out(
    log: Callable[[bytes], Source],
) -> None:
    source = log(("\u4e2d" * 50 + "\nshort\n\n").encode())
    assert source.texts([1, 2, 3, 4, 99], longest=10) == {1: "\u4e2d" * 10, 2: "short"}
    assert source.texts([]) == {}


def test_ten_megabytes_on_one_line_take_little_memory(log: Callable[[bytes], Source]) -> None:
    source = log(b"iter 1\n" + b"x" * (10 << 20) + b"\niter 2\n")
    tracemalloc.start()
    try:
        lengths = [(number, len(text)) for number, text in source.lines()]
        texts = source.texts([2, 3])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lengths == [(1, 6), (2, 10 << 20), (3, 6)]
    assert texts == {2: "x" * 400, 3: "iter 2"}
    assert peak < 60 << 20


def test_a_bar_of_ten_megabytes_is_never_held_as_a_whole(log: Callable[[bytes], Source]) -> None:
    source = log(b"\r".join(b"%07d/9999999 [10:00<00:10]" % n for n in range(400_000)))
    tracemalloc.start()
    try:
        count = sum(1 for _, text in source.lines() if text)
        texts = source.texts([1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 400_000
    assert texts == {1: "0399999/9999999 [10:00<00:10]"}
    assert peak < 16 << 20


def test_an_endless_line_is_cut_and_numbers_stay_right(
    log: Callable[[bytes], Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "LONGEST_LINE_BYTES", 1000)
    with chunks_of(100):
        source = log(b"iter 1\n" + b"y" * 12_345 + b"\niter 2\n")
        lines = list(source.lines())
        assert max(len(text) for _, text in lines) <= 1100
        assert "".join(text for number, text in lines if number == 2) == "y" * 12_345
        assert lines[-1] == (3, "iter 2")
        assert source.texts([2, 3], longest=20) == {2: "y" * 20, 3: "iter 2"}


texts = st.text(
    st.one_of(st.sampled_from("\r\n\r\n\ta :1"), st.characters(exclude_categories=("Cs", "Cc"))),
    min_size=1,
    max_size=60,
).filter(lambda text: "\ufeff" not in text)


@given(text=texts, num_bytes=st.integers(4, 24))
@settings(max_examples=300, deadline=None)
def test_any_text_in_any_chunks_gives_the_lines_of_the_whole(
    scratch: Path, text: str, num_bytes: int
) -> None:
    scratch.write_bytes(text.encode())
    source = Source(str(scratch))
    with chunks_of(num_bytes):
        lines = list(source.lines())
        assert [(n, part) for n, part in lines if part] == pieces_with_text(text)
        assert lines[-1][0] == len(text.removesuffix("\n").split("\n"))
        in_chunks = source.texts(range(1, 70))
    assert in_chunks == source.texts(range(1, 70))


@given(text=texts)
@settings(max_examples=100, deadline=None)
def test_evidence_is_the_last_text_of_each_line(scratch: Path, text: str) -> None:
    scratch.write_bytes(text.encode())
    shown = Source(str(scratch)).texts(range(1, 70))
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        seen = ["".join(filter(is_visible, part)) for part in line.split("\r")]
        last = ([part for part in seen if part] or [""])[-1]
        assert shown.get(number, "").replace(" ", "") == last


def is_visible(char: str) -> bool:
    return char.isprintable() and not char.isspace()


@given(content=st.binary(min_size=1, max_size=200), num_bytes=st.integers(4, 24))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_lines_or_a_sentence(scratch: Path, content: bytes, num_bytes: int) -> None:
    scratch.write_bytes(content)
    source = Source(str(scratch))
    with chunks_of(num_bytes):
        try:
            numbers = [number for number, _ in source.lines()]
        except (BinaryLogError, UnreadableLogError, EmptyLogError):
            return
        assert sorted(numbers) == numbers
        assert set(numbers) == set(range(1, len(set(numbers)) + 1))
