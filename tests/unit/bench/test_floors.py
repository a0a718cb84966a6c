"""What no way of saving can be faster than."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from instride.bench import floors
from instride.bench.floors import DEALS, PIECE_BYTES, Deal, direct_read_s, direct_write_s

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("num_pieces", [0, 1, 7, 64, 3757])
def test_every_piece_is_written_once(deal: Deal, num_pieces: int) -> None:
    done: list[int] = []
    deal.work(done.append, num_pieces)
    assert sorted(done) == list(range(num_pieces))


def test_a_piece_that_fails_fails_all(tmp_path: Path) -> None:
    def fail(index: int) -> None:
        raise OSError(f"piece {index}")

    with pytest.raises(OSError, match="piece"):
        DEALS[0].work(fail, 8)


def test_the_floor_is_the_quickest_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    took_s = dict(zip(DEALS, [3.0, 1.0, 2.0], strict=True))
    asked: list[Deal] = []

    def ask(deal: Deal) -> None:
        asked.append(deal)

    monkeypatch.setattr(floors, "_took_s", lambda do: do() or took_s[asked[-1]])
    assert floors._quickest_s(ask, 3) == 1.0
    assert asked == [*DEALS] * 3


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    assert direct_write_s(3 * PIECE_BYTES, tmp_path) > 0
    assert direct_read_s(3 * PIECE_BYTES, tmp_path) > 0
    assert list(tmp_path.iterdir()) == []
