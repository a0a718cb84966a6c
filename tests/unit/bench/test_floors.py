"""What no way of saving can be faster than."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from instride.bench.floors import (
    NUMS_OF_THREADS,
    InTurn,
    deal,
    direct_reading,
    direct_write_s,
)
from instride.store.manifest import PIECE_BYTES

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("num_threads", NUMS_OF_THREADS)
@pytest.mark.parametrize("num_pieces", [0, 1, 7, 64, 3757])
def test_every_piece_is_written_once(num_pieces: int, num_threads: int) -> None:
    done: list[int] = []
    deal(done.append, num_pieces, num_threads)
    assert sorted(done) == list(range(num_pieces))


def test_a_piece_that_fails_fails_all(tmp_path: Path) -> None:
    def fail(index: int) -> None:
        raise OSError(f"piece {index}")

    with pytest.raises(OSError, match="piece"):
        deal(fail, 8, 4)


def test_the_floor_is_the_quickest_way() -> None:
    took_s = dict(zip(NUMS_OF_THREADS, [3.0, 1.0], strict=True))
    asked: list[int] = []

    def ask(num_threads: int) -> float:
        asked.append(num_threads)
        return took_s[num_threads] + 10 * (len(asked) <= len(NUMS_OF_THREADS))

    in_turn = InTurn(ask)
    for _ in range(3):
        in_turn.once_more()
    assert in_turn.quickest_s == [11.0, 1.0, 1.0]
    assert asked == [*NUMS_OF_THREADS, *NUMS_OF_THREADS[::-1], *NUMS_OF_THREADS]
    assert in_turn.took_s[NUMS_OF_THREADS[0]] == [13.0, 3.0, 3.0]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    assert direct_write_s(3 * PIECE_BYTES, tmp_path) > 0
    assert list(tmp_path.iterdir()) == []


def test_all_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.pt"
    path.write_bytes(b"x" * (2 * PIECE_BYTES + 17))
    reading = direct_reading(path)
    reading.once_more()
    assert reading.quickest_s[0] > 0
    path.unlink()
    with pytest.raises(FileNotFoundError):
        reading.once_more()
