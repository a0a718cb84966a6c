"""What no way of saving can be faster than."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from instride.bench.floors import DEALS, PIECE_BYTES, Deal, InTurn, direct_reading, direct_write_s

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


def test_the_floor_is_the_quickest_way() -> None:
    took_s = dict(zip(DEALS, [3.0, 1.0, 2.0], strict=True))
    asked: list[Deal] = []

    def ask(deal: Deal) -> float:
        asked.append(deal)
        return took_s[deal] + 10 * (len(asked) <= len(DEALS))

    in_turn = InTurn(ask)
    for _ in range(3):
        in_turn.once_more()
    assert in_turn.quickest_s == 1.0
    assert asked == [*DEALS] * 3
    assert in_turn.by_deal()["16 threads apart"] == [12.0, 2.0, 2.0]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    assert direct_write_s(3 * PIECE_BYTES, tmp_path) > 0
    assert list(tmp_path.iterdir()) == []


def test_all_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.pt"
    path.write_bytes(b"x" * (2 * PIECE_BYTES + 17))
    reading = direct_reading(path)
    reading.once_more()
    assert reading.quickest_s > 0
    path.unlink()
    with pytest.raises(FileNotFoundError):
        reading.once_more()
