"""A pack that was cut, changed or made up is refused, and never read as something else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.errors import DamagedError
from instride.pack.container import MOST_BLOCK_BYTES, MOST_META_BYTES, Method, is_pack, read_index
from instride.pack.reading import Pack
from tests.unit.pack.packs import container, entry, packed, safetensors, weights


def refused(path: Path) -> str:
    """Read all of a pack that must not be readable; why it is not."""
    with pytest.raises(DamagedError) as raised:
        read_all(path)
    return str(raised.value)


def read_all(path: Path) -> None:
    with Pack(path) as pack:
        for number in range(len(pack.index)):
            pack.block(number)


def test_a_pack_says_what_it_holds(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.bin", b"some text, some more text " * 9)
    with Pack(path) as pack:
        assert pack.index.meta.name == "a.bin"
        assert pack.size_bytes == 26 * 9
        assert len(pack.index) == 1
    assert is_pack(path)
    assert not is_pack(tmp_path)


def test_a_pack_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = packed(tmp_path / "a.bin", weights(50) + b"and text").read_bytes()
    cut = tmp_path / "cut.pack"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        refused(cut)


def test_no_changed_bit_goes_unnoticed(tmp_path: Path) -> None:
    data = weights(40)
    path = packed(tmp_path / "a.bin", data)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            refused(path)


def test_bytes_behind_the_end_make_it_no_pack(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.bin", b"text")
    path.write_bytes(path.read_bytes() + b"\0")
    assert "its end is missing" in refused(path)


def test_another_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    path.write_bytes(container([b"abc"], [entry(b"abc")], version=7))
    assert "its version is 7" in refused(path)


DATA = b"abcdefgh"
HOSTILE = {
    "an empty block": container([b""], [entry(b"")]),
    "a block larger than blocks are": container([DATA], [entry(DATA)], block_bytes=4),
    "blocks larger than any may be": container(
        [DATA], [entry(DATA)], block_bytes=MOST_BLOCK_BYTES + 1
    ),
    "raw bytes that are fewer": container([DATA[:4]], [entry(DATA, 4)]),
    "compressed bytes that are more": container([DATA * 2], [entry(DATA, 16, Method.ZSTD)]),
    "no compressed bytes at all": container([b""], [entry(DATA, 0, Method.ZSTD)]),
    "planes of no width": container([DATA], [entry(DATA, 8, Method.PLANES, 0)]),
    "planes of three bytes": container([DATA], [entry(DATA, 8, Method.PLANES, 3)]),
    "a width without planes": container([DATA], [entry(DATA, width=4)]),
    "a base that is not named": container([b""], [entry(DATA, 0, Method.SAME)]),
    "a place in a base for raw bytes": container([DATA], [entry(DATA, base_offset=1)]),
    "a size that is not that of the blocks": container([DATA], [entry(DATA)], size_bytes=9),
    "blocks that overlap the index": container([DATA], [entry(DATA)], offset=23),
    "more blocks than entries": container([DATA], [entry(DATA)], num_blocks=2),
    "an absurd number of blocks": container([DATA], [entry(DATA)], num_blocks=2**32 - 1),
    "an absurd offset": container([DATA], [entry(DATA)], offset=2**64 - 1),
    "meta that is no JSON": container([DATA], [entry(DATA)], meta=b"{"),
    "meta of another shape": container([DATA], [entry(DATA)], meta=b'{"name": 3}'),
    "meta without end": container([DATA], [entry(DATA)], meta=b" " * (MOST_META_BYTES + 1)),
    "a name with a slash": container([DATA], [entry(DATA)], meta=b'{"name": "../x"}'),
    "a name that is none": container([DATA], [entry(DATA)], meta=b'{"name": ".."}'),
    "a base elsewhere": container(
        [DATA],
        [entry(DATA)],
        meta=b'{"name":"x","base":{"name":"/etc/passwd","blake3":"","size_bytes":1}}',
    ),
    "a place behind the end of the base": container(
        [b""],
        [entry(DATA, 0, Method.SAME, base_offset=2**64 - 8)],
        meta=b'{"name":"x","base":{"name":"y","blake3":"","size_bytes":8}}',
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_numbers_that_do_not_add_up_are_refused_even_with_a_good_seal(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.pack"
    path.write_bytes(HOSTILE[name])
    fd = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(DamagedError, match="its index differs"):
            read_index(fd, path)
    finally:
        os.close(fd)


def test_a_method_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    good = container([DATA], [entry(DATA)])
    raw = bytearray(entry(DATA).pack())
    raw[16] = 9
    at = good.index(entry(DATA).pack())
    path = tmp_path / "a.pack"
    path.write_bytes(good[:at] + raw + good[at + len(raw) :])
    assert "its index differs" in refused(path)


def test_a_pack_that_is_its_own_base_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    meta = b'{"name":"x","base":{"name":"a.pack","blake3":"%s","size_bytes":8}}' % (b"00" * 32)
    path.write_bytes(container([b""], [entry(DATA, 0, Method.SAME)], meta=meta))
    assert "is not the one" in refused(path)


def test_an_empty_file_can_be_packed(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.bin", b"")
    with Pack(path) as pack:
        assert (pack.size_bytes, len(pack.index), list(pack.blocks())) == (0, 0, [])


def test_blocks_of_several_kinds_lie_side_by_side(tmp_path: Path) -> None:
    tensors = {"a": ("F32", weights(9000)), "b": ("BF16", weights(9000)), "c": ("I8", b"xy" * 9000)}
    path = packed(tmp_path / "a.safetensors", safetensors(**tensors))
    with Pack(path) as pack:
        kinds = [(each.method, each.width) for each in pack.index]
    assert kinds == [
        (Method.ZSTD, 0),
        (Method.PLANES, 4),
        (Method.PLANES, 2),
        (Method.ZSTD, 0),
    ]
