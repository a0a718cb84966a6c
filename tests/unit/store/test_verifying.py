"""Reading a file back: what the disk says is passed on."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from instride.store.verifying import pieces_of

PIECE_BYTES = 4096


@pytest.mark.parametrize("num_bytes", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES + 7])
def test_pieces_are_those_of_the_file(num_bytes: int, tmp_path: Path) -> None:
    data = bytes(range(256)) * (num_bytes // 256 + 1)
    (tmp_path / "x").write_bytes(data[:num_bytes])

    pieces = [bytes(piece) for piece in pieces_of(tmp_path / "x", PIECE_BYTES)]

    assert b"".join(pieces) == data[:num_bytes]
    assert [len(piece) for piece in pieces[:-1]] == [PIECE_BYTES] * (len(pieces) - 1)


def test_an_error_of_the_disk_is_not_hidden_by_another() -> None:
    with pytest.raises(OSError, match="Input/output") as error:
        list(pieces_of(Path("/proc/self/mem"), PIECE_BYTES))  # nothing is mapped at its beginning

    assert error.value.errno == errno.EIO
