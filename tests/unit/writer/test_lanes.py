"""Lanes of an image: whatever is done beside each other, the bytes are those of one after the
other."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st
from isal.isal_zlib import crc32

from instride.image.finishing import Finisher
from instride.image.layout import Layout, lay_out
from instride.store.manifest import PIECE_BYTES
from instride.store.staggering import Staggered
from instride.writer.direct import PieceFile
from instride.writer.lanes import FEWEST_PIECES, MOST_LANES, cut_into_lanes, one_lane
from instride.writer.page import SharedPage
from instride.writer.pieces import ImagePieces, StreamEndedError

MIB = 1 << 20
SIZES = st.lists(
    st.one_of(
        st.integers(0, 300), st.integers(1, 40 * MIB), st.just(PIECE_BYTES), st.just(200 * MIB)
    ),
    max_size=60,
)


@given(SIZES)
def test_lanes_hold_every_piece_once_and_in_order(sizes: list[int]) -> None:
    layout = lay_out(sizes)
    num_pieces = layout.num_bytes // PIECE_BYTES
    lanes = cut_into_lanes(layout, num_pieces)

    assert [index for lane in lanes for index in lane.pieces] == list(range(num_pieces))
    assert 1 <= len(lanes) <= MOST_LANES
    for lane in lanes[1:]:
        assert len(lane.ahead) < PIECE_BYTES
        assert len(lane.ahead) == 0 or lane.ahead.stop <= lane.pieces.start * PIECE_BYTES
        assert len(lane.pieces) >= FEWEST_PIECES


def test_one_storage_that_is_longer_than_all_lanes_has_one() -> None:
    layout = lay_out([400 * MIB])
    assert len(cut_into_lanes(layout, layout.num_bytes // PIECE_BYTES)) == 1


@pytest.mark.parametrize("size", [1000, PIECE_BYTES, 16 * MIB, 64 * MIB, 65 * MIB + 3])
def test_many_storages_have_as_many_lanes_as_there_may_be(size: int) -> None:
    layout = lay_out([size] * (4096 * MIB // size))
    num_pieces = layout.num_bytes // PIECE_BYTES
    lanes = cut_into_lanes(layout, num_pieces)
    assert len(lanes) == MOST_LANES
    assert max(len(lane.pieces) for lane in lanes) <= 2 * num_pieces // MOST_LANES


def test_what_is_no_zip_is_cut_anywhere() -> None:
    assert len(cut_into_lanes(lay_out([]), 200)) == MOST_LANES


def test_what_streams_has_one_lane() -> None:
    layout = lay_out([PIECE_BYTES] * 200)
    assert [lane.pieces for lane in one_lane(layout, 200)] == [range(200)]


def unfinished(layout: Layout) -> bytearray:
    """The storages of an image, in memory that was used before."""
    noise = random.Random(3)
    return bytearray(noise.randbytes(MIB) * (layout.num_bytes // MIB + 1))[: layout.num_bytes]


# Ends of storages lie at, right before and right behind the borders of pieces, and their headers
# and checksums across them.
AWKWARD = [
    [PIECE_BYTES - 100] * 40,
    [PIECE_BYTES] * 40,
    [PIECE_BYTES - 4096 - 8, 17, 300] * 30,
    [3 * MIB + 5, 0, 6 * MIB, 1] * 15,
    [100 * MIB, 3, 9 * MIB, 50 * MIB],
    [20 * MIB, 20 * MIB - 4096 - 30, 40 * MIB] * 2,
]


@pytest.mark.parametrize("sizes", AWKWARD, ids=range(len(AWKWARD)))
def test_threads_that_work_at_lanes_write_what_one_of_them_would(
    sizes: list[int], tmp_path: Path
) -> None:
    layout = lay_out(sizes)
    num_pieces, rest_bytes = divmod(layout.num_bytes, PIECE_BYTES)
    expected = unfinished(layout)
    one = Finisher(layout)
    one.finish(memoryview(expected), 0)

    arena = unfinished(layout)
    file = PieceFile(tmp_path / "image", layout.num_bytes)
    pieces = ImagePieces(
        memoryview(arena),
        layout,
        num_pieces,
        file,
        SharedPage.create(),
        lambda: False,
        Staggered(4),
        False,
    )

    def work(_: int) -> None:
        while pieces.do_one():
            pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    rest = memoryview(arena)[num_pieces * PIECE_BYTES :]
    pieces.complete_rest(rest)
    file.close()

    assert arena == expected
    assert pieces.crcs() == one.crcs
    written = (tmp_path / "image").read_bytes()
    assert written[: layout.num_bytes - rest_bytes] == expected[: layout.num_bytes - rest_bytes]
    for index, (digest, checksum) in enumerate(pieces.sums()):
        piece = expected[index * PIECE_BYTES : (index + 1) * PIECE_BYTES]
        assert digest == blake3(piece).hexdigest()
        assert checksum == f"{crc32(piece):08x}"


def test_who_waits_for_a_lane_goes_on_when_it_is_given_back(tmp_path: Path) -> None:
    """Two pieces are one lane, and both threads get to work at it."""
    layout = lay_out([3 * PIECE_BYTES + 100])
    is_first, may_go_on = threading.Event(), threading.Event()

    class SlowFile(PieceFile):
        def write(self, piece: memoryview, offset: int) -> None:
            if offset == 0:
                is_first.set()
                assert may_go_on.wait(60)
            super().write(piece, offset)

    file = SlowFile(tmp_path / "image", layout.num_bytes)
    pieces = ImagePieces(
        memoryview(unfinished(layout)),
        layout,
        3,
        file,
        SharedPage.create(),
        lambda: False,
        Staggered(4),
        False,
    )
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(pieces.do_one)
        assert is_first.wait(60)
        assert pieces.do_one()  # the lane is free again while its first pieces are being written
        may_go_on.set()
        assert slow.result(60)
    assert not pieces.do_one()
    assert len(pieces.sums()) == 3
    file.close()


def test_an_image_that_was_given_up_is_not_written_to_its_end(tmp_path: Path) -> None:
    layout = lay_out([8 * PIECE_BYTES])
    file = PieceFile(tmp_path / "image", layout.num_bytes)
    pieces = ImagePieces(
        memoryview(unfinished(layout)),
        layout,
        8,
        file,
        SharedPage.create(),
        lambda: True,
        Staggered(4),
        False,
    )
    with pytest.raises(StreamEndedError):
        pieces.do_one()
    file.close()
