"""Bits that flip: a damaged checkpoint is found, told of, and never restored."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import instride
from instride.cli.main import main
from instride.errors import DamagedError, NoCheckpointError
from instride.saver.fitting import Fitting
from instride.saver.restoring import read_state
from instride.store.manifest import PIECE_BYTES, manifests_of, read_manifest, read_token
from instride.store.verifying import verify
from tests.crash.checks import path_of, steps_in
from tests.crash.trainings import Weights

pytestmark = pytest.mark.torch


def flip(path: Path, at: int, bit: int = 3) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def flip_in(record: str, offset: int) -> Callable[[Path], None]:
    """Damages a record of the archive, so many bytes behind the start of its data."""

    def damage(path: Path) -> None:
        with zipfile.ZipFile(path) as archive, archive.open(f"archive/{record}") as data:
            start = path.read_bytes().index(data.read(64))
        flip(path, start + offset)

    return damage


def flip_directory(path: Path) -> None:
    flip(path, path.read_bytes().rindex(b"PK\x01\x02") + 16)


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4096)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(bytes(512))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def lose_middle(path: Path) -> None:
    """As long as the tail is there, the manifest is found."""
    data = path.read_bytes()
    path.write_bytes(data[: 1 << 20] + data[2 << 20 :])


def flip_manifest(path: Path) -> None:
    (manifest,) = manifests_of(path)
    flip(manifest, manifest.read_bytes().index(b'"serial": ') + 10, bit=0)


def empty_manifest(path: Path) -> None:
    (manifest,) = manifests_of(path)
    manifest.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "the header": lambda path: flip(path, 27),
    "the signature": lambda path: flip(path, 0),
    "a storage": flip_in("data/0", 1 << 20),
    "the pickle": flip_in("data.pkl", 70),
    "a global of the pickle": flip_in("data.pkl", 40),
    "the version": flip_in("version", 0),
    "the directory": flip_directory,
    "the last byte": lambda path: flip(path, path.stat().st_size - 1),
    "a cut": cut,
    "more bytes": lengthen,
    "no bytes": empty,
    "a gap": lose_middle,
    "the manifest": flip_manifest,
    "an empty manifest": empty_manifest,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_told_of_and_the_one_before_restored(
    damage: Callable[[Path], None], store: Path
) -> None:
    damage(path_of(store, 2))
    with pytest.raises(DamagedError):
        verify(path_of(store, 2))

    weights = Weights()
    with (
        pytest.warns(RuntimeWarning, match=r"step_00000002.pt` is damaged"),
        instride.Saver(store, weights=weights) as saver,
    ):
        assert saver.restore() == 2

    assert weights.is_of(1)
    assert steps_in(store) == [1, 2]  # what is damaged stays, as evidence
    with pytest.raises(DamagedError):
        verify(path_of(store, 2))


def test_the_warning_says_where_the_damage_is_and_a_command_that_finds_it(store: Path) -> None:
    path = path_of(store, 2)
    flip(path, 5000)
    last = min(PIECE_BYTES, path.stat().st_size) - 1

    with instride.Saver(store, weights=Weights()) as saver, pytest.warns(RuntimeWarning) as told:
        saver.restore()

    said = str(told[0].message)
    assert f"it differs somewhere in the bytes from 0 to {last}; it is passed over" in said
    command = re.search(r"hint: `instride ([^`]+)`", said)
    assert command is not None
    assert main(shlex.split(command[1])) == 30


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
@pytest.mark.parametrize("damage", [cut, flip_manifest, DAMAGES["a storage"]])
def test_a_training_does_not_start_from_nothing_when_all_that_it_has_is_damaged(
    damage: Callable[[Path], None], store: Path
) -> None:
    damage(path_of(store, 1))
    damage(path_of(store, 2))

    with instride.Saver(store, weights=Weights()) as saver, pytest.raises(NoCheckpointError):
        saver.restore()


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
@pytest.mark.parametrize("damage", [cut, flip_manifest, DAMAGES["a storage"]])
def test_retention_takes_nothing_damaged_for_a_successor(
    damage: Callable[[Path], None], store: Path
) -> None:
    damage(path_of(store, 2))
    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=1), weights=weights) as saver:
        assert saver.restore() == 2
        weights.become(3)
        saver.save(3).wait(60)

    verify(path_of(store, 3))
    assert not path_of(store, 1).exists()


def test_every_bit_of_a_manifest_counts(store: Path) -> None:
    path = path_of(store, 2)
    (where,) = manifests_of(path)
    raw = where.read_bytes()
    for at in range(len(raw)):
        damaged = bytearray(raw)
        damaged[at] ^= 1 << at % 8
        where.write_bytes(damaged)
        assert read_manifest(path) is None


def test_two_files_of_one_name_share_no_manifest_however_many_tensors_they_hold(
    tmp_path: Path,
) -> None:
    """Else a crash between the manifest and the name would make the old file a damaged one."""
    tensors = {f"t{number}": torch.full((1,), 0.5) for number in range(2000)}
    instride.save(tensors, tmp_path / "x.pt").wait(60)
    before = read_token(tmp_path / "x.pt")
    tensors["t0"] += 1

    instride.save(tensors, tmp_path / "x.pt").wait(60)

    assert read_token(tmp_path / "x.pt") != before


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_whatever_bit_flips_in_what_is_not_data_the_file_is_called_damaged(
    store: Path, data: st.DataObject
) -> None:
    """Only that: no other error, no code run, no state that nobody saved."""
    path = path_of(store, 2)
    whole = path.read_bytes()
    manifest = read_manifest(path)
    tail = whole.rindex(b"archive/data.pkl", 0, whole.rindex(b"PK\x01\x02") - 4000)
    regions = st.one_of(st.integers(0, 63), st.integers(tail - 30, len(whole) - 1))
    at, bit = data.draw(regions), data.draw(st.integers(0, 7))
    flip(path, at, bit)
    try:
        fitting = Fitting(path, {"weights": Weights()}, strict=True)
        with pytest.raises(DamagedError):
            read_state(path, manifest, fitting, weights_only=True)
    finally:
        path.write_bytes(whole)
