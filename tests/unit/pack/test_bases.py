"""A base that is missing, damaged, another one, or none: found, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.errors import DamagedError, PackError
from instride.pack.contents import contents_of
from instride.pack.packing import pack
from instride.pack.reading import Pack
from instride.pack.unpacking import unpack, verify_pack
from tests.unit.pack.packs import nudged, packed, weights

DATA = weights(20_000)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return packed(tmp_path / "a.bin", DATA)


@pytest.fixture
def delta(base: Path) -> Path:
    return packed(base.with_name("b.bin"), nudged(DATA), base)


def test_a_delta_names_its_base(delta: Path) -> None:
    assert contents_of(delta).base == "a.bin.pack"
    assert contents_of(delta).ratio < 0.75


def test_a_base_that_is_gone_is_named(base: Path, delta: Path) -> None:
    base.unlink()
    for read in (verify_pack, unpack):
        with pytest.raises(DamagedError, match=r"`a\.bin\.pack` is not there"):
            read(delta)
    assert contents_of(delta).original_bytes == len(DATA)


def test_a_base_with_other_contents_is_refused(base: Path, delta: Path) -> None:
    base.unlink()
    packed(base.with_name("a.bin"), weights(20_000, seed=5))
    with pytest.raises(DamagedError, match="is not the one that it was packed against"):
        verify_pack(delta)


def test_a_base_that_was_packed_again_will_do(base: Path, delta: Path) -> None:
    unpack(base)
    pack(base.with_name("a.bin"), force=True)
    assert verify_pack(delta).original == "b.bin"


def test_a_base_that_is_damaged_is_found_before_it_is_needed(base: Path, delta: Path) -> None:
    raw = bytearray(base.read_bytes())
    raw[1000] ^= 1
    base.write_bytes(raw)
    with pytest.raises(DamagedError, match=r"a\.bin\.pack` is damaged: .* from 16 to \d+"):
        verify_pack(delta)
    with pytest.raises(DamagedError):
        unpack(delta)
    assert not delta.with_name("b.bin").exists()


def test_a_delta_is_no_base(delta: Path) -> None:
    file = delta.with_name("c.bin")
    file.write_bytes(DATA)
    with pytest.raises(PackError, match="has a base itself"):
        pack(file, delta)
    assert file.read_bytes() == DATA


def test_a_file_that_is_no_pack_is_no_base(base: Path) -> None:
    file, other = base.with_name("c.bin"), base.with_name("d.bin")
    file.write_bytes(DATA)
    other.write_bytes(DATA)
    with pytest.raises(PackError, match="is no pack"):
        pack(file, other)


def test_a_base_must_lie_beside_what_needs_it(base: Path, tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    file = tmp_path / "deeper" / "c.bin"
    file.write_bytes(DATA)
    with pytest.raises(PackError, match="in another directory"):
        pack(file, base)


def test_a_pack_does_not_become_its_own_base(base: Path) -> None:
    base.with_name("a.bin").write_bytes(DATA)
    with pytest.raises(PackError):
        pack(base.with_name("a.bin"), base, force=True)
    with Pack(base) as pack_:
        assert pack_.index.meta.base is None
