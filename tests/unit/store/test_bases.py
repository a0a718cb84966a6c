"""What is packed next, and against what; and what that means for what may be deleted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from instride.store.bases import base_for, next_to_pack
from instride.store.directory import Checkpoint
from instride.store.manifest import Manifest
from instride.store.retention import Keep, doomed


def plain(step: int, serial: int | None = None) -> Checkpoint:
    return _checkpoint(f"step_{step:08d}.pt", step, serial, None)


def pack(step: int, base: int | None = None, serial: int | None = None) -> Checkpoint:
    name = None if base is None else f"step_{base:08d}.pt.pack"
    return _checkpoint(f"step_{step:08d}.pt.pack", step, serial, name)


def _checkpoint(name: str, step: int, serial: int | None, base: str | None) -> Checkpoint:
    number = step if serial is None else serial
    manifest = Manifest(name, "0" * 16, 10, [], 0.0, serial=number, step=step, base=base)
    return Checkpoint(Path(name), step, 10, manifest, was_ours=True)


def test_the_newest_file_that_is_no_pack_comes_first() -> None:
    present = [plain(1), pack(2), plain(3), plain(4)]
    assert next_to_pack(present, set()) == plain(4)
    assert next_to_pack(present, {plain(4).path}) == plain(3)
    assert next_to_pack([pack(2)], set()) is None


def test_a_stranger_is_never_packed() -> None:
    stranger = Checkpoint(Path("step_00000001.pt"), 1, 10, None)
    assert next_to_pack([stranger], set()) is None


def test_the_base_is_the_newest_full_pack() -> None:
    present = [pack(1), pack(2), pack(3, base=2), plain(4)]
    assert base_for(plain(4), present, Keep()) == pack(2)
    assert base_for(plain(4), [plain(4)], Keep()) is None


def test_a_base_that_is_about_to_go_is_none() -> None:
    present = [pack(1), pack(2, base=1), plain(3)]
    assert base_for(plain(3), present, Keep(last=3)) == pack(1)
    assert base_for(plain(3), present, Keep(last=2)) is None
    assert base_for(plain(3), present, Keep(last=2, every=1)) == pack(1)


def test_a_pack_does_not_take_the_place_of_a_base_of_others() -> None:
    again = plain(1, serial=9)
    present = [pack(1), pack(2, base=1), again]
    assert next_to_pack(present, set()) is None
    assert next_to_pack([pack(1), again], set()) == again
    assert base_for(again, [pack(1), again], Keep()) is None  # not itself


def test_a_pack_whose_original_is_still_there_is_made_again_and_stays_full() -> None:
    present = [pack(0), plain(1), pack(1), pack(2, base=1)]
    assert next_to_pack(present, set()) == plain(1)
    assert base_for(plain(1), present, Keep()) is None


@given(
    st.lists(st.booleans(), min_size=1, max_size=12),
    st.builds(
        Keep,
        last=st.none() | st.integers(1, 4),
        every=st.none() | st.integers(1, 4),
        best=st.none() | st.integers(1, 3),
    ),
)
def test_no_base_goes_before_what_needs_it(are_full: list[bool], keep: Keep) -> None:
    present: list[Checkpoint] = []
    for step, is_full in enumerate(are_full):
        full = [c.step for c in present if c.base is None]
        present.append(pack(step, None if is_full or not full else full[-1]))
    left = list(present)
    for going in doomed(present, keep):
        left.remove(going)
        names = {c.path.name for c in left}
        assert all(c.base is None or c.base in names for c in left)
    assert present[-1] in left
