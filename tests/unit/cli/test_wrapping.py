"""Lines are broken by columns of the terminal, and only where people would."""
# ruff: noqa: RUF001

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from instride.cli.render.wrapping import fit, fit_end, pad_left, pad_right, wrap

PHRASES = ("ステップ3968の", "保存で", "学習が", "31.6秒停止しました。")
TEXTS = st.text(alphabet="ab 1%,.()あア漢、。（）\u00a0\u202f", max_size=80)


def test_words_fill_a_line_and_the_rest_is_indented() -> None:
    assert wrap("one two three four", 9, "- ", "  ") == ["- one two", "  three", "  four"]


def test_nothing_is_one_empty_line() -> None:
    assert wrap("", 20, "- ") == ["- "]


@pytest.mark.parametrize("unit", ["s", "ms", "min", "h", "%"])
def test_a_number_stays_with_its_unit(unit: str) -> None:
    assert wrap(f"it took 31.6 {unit} longer", 12) == ["it took", f"31.6 {unit}", "longer"]


def test_a_number_does_not_stay_with_a_word() -> None:
    assert wrap("it took 31 steps", 12) == ["it took 31", "steps"]


@pytest.mark.parametrize("space", ["\u00a0", "\u202f"])
def test_a_no_break_space_keeps_a_line_together(space: str) -> None:
    assert wrap(f"durait 31,6{space}s ici", 12) == ["durait", f"31,6{space}s ici"]


def test_a_word_longer_than_a_line_is_cut() -> None:
    assert wrap("see abcdefghij", 6, "", " ") == ["see", " abcde", " fghij"]


def test_japanese_is_broken_by_phrases_and_counts_two_columns_a_character() -> None:
    text = "".join(PHRASES)
    assert wrap(text, 80) == [text]
    assert wrap(text, 26) == ["".join(PHRASES[:3]), PHRASES[3]]
    assert wrap(text, 25) == ["".join(PHRASES[:2]), PHRASES[2], PHRASES[3]]


def test_no_line_begins_with_what_closes_nor_ends_with_what_opens() -> None:
    assert wrap("圧縮（送信）、", 13) == ["圧縮", "（送信）、"]
    assert wrap("待つ（送信）。", 13) == ["待つ", "（送信）。"]


@given(TEXTS, st.integers(4, 30))
def test_every_line_fits_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(TEXTS, st.integers(3, 30))
def test_what_is_cut_fits(text: str, room: int) -> None:
    assert cell_len(fit(text, room)) <= room


@given(st.text("ab/\u6587", max_size=40), st.integers(4, 20))
def test_what_is_cut_to_its_end_fits_and_ends_as_it_did(text: str, room: int) -> None:
    cut = fit_end(text, room)
    assert cell_len(cut) <= room
    assert text.endswith(cut.removeprefix("..."))
    assert cut == text or cell_len(cut) >= room - 1


@given(st.text(alphabet="a漢", max_size=10))
def test_padding_counts_columns(text: str) -> None:
    assert cell_len(pad_left(text, 20)) == cell_len(pad_right(text, 20)) == 20
    assert pad_left(text, 20).strip() == pad_right(text, 20).strip() == text
