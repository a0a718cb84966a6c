"""Nothing is touched before it is whole: by its end, by who has it open, by waiting."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from instride.agent.looking import Looking
from instride.agent.remembering import Known
from instride.agent.settling import HALF_S, Settling, Verdicts
from instride.agent.wholeness import (
    SETTLED_WITHOUT_END_S,
    End,
    end_of,
    unseen_writers,
    writers,
)
from tests.unit.agent.agents import checkpoint_bytes, save


def test_a_zip_is_whole_only_with_its_last_byte(tmp_path: Path) -> None:
    data = checkpoint_bytes(num_bytes=2000)
    path = tmp_path / "a.pt"
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        assert end_of(path) in (End.MISSING, End.UNKNOWN)
        assert length < 4 or end_of(path) is End.MISSING
    path.write_bytes(data)
    assert end_of(path) is End.THERE


def test_a_safetensors_file_is_as_long_as_its_header_says(tmp_path: Path) -> None:
    header = json.dumps(
        {"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
    ).encode()
    data = struct.pack("<Q", len(header)) + header + bytes(16)
    path = tmp_path / "a.safetensors"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert end_of(path) is End.MISSING
    path.write_bytes(data)
    assert end_of(path) is End.THERE


def test_an_old_pickle_does_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    path.write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
    assert end_of(path) is End.UNKNOWN


HOLDER = "import sys; file = open(sys.argv[1], sys.argv[2]); print('open', flush=True); input()"


@pytest.mark.parametrize(("mode", "is_writer"), [("r+b", True), ("ab", True), ("rb", False)])
def test_whoever_has_a_file_open_for_writing_is_found(
    tmp_path: Path, mode: str, is_writer: bool
) -> None:
    path = save(tmp_path, "step_1.pt")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    with holder:
        holder.stdout.readline()
        assert writers([path]).of(path) == ({holder.pid} if is_writer else set())
        holder.communicate(b"\n")
    assert writers([path]).of(path) == set()


def test_processes_that_may_not_be_looked_at_are_counted(tmp_path: Path) -> None:
    path = save(tmp_path, "step_1.pt")
    assert unseen_writers(tmp_path, 0) in (
        None, "processes outside of this container cannot be seen"
    )  # fmt: skip
    assert "3 processes" in (unseen_writers(tmp_path, 3) or "3 processes")
    assert writers([path]).num_hidden >= 0


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Watched:
    def __init__(self, directory: Path) -> None:
        self.clock = Clock()
        self.known: dict[str, Known] = {}
        self._looking = Looking(directory, "*.pt")
        self._settling = Settling(directory, self.clock)

    def judge(self) -> Verdicts:
        return self._settling.judge(self._looking.look(), self.known)

    def whole(self) -> list[str]:
        return [each.path.name for each in self.judge().whole]


def test_a_format_without_an_end_must_stay_the_same(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    path.write_bytes(b"\x80\x02 some pickle")
    watched = Watched(tmp_path)
    assert watched.whole() == []
    assert watched.judge().is_settling
    watched.clock.now_s += SETTLED_WITHOUT_END_S - 0.1
    assert watched.whole() == []
    path.write_bytes(b"\x80\x02 some pickle, and more of it")
    watched.clock.now_s += 0.2
    assert watched.whole() == []
    watched.clock.now_s += SETTLED_WITHOUT_END_S
    assert watched.whole() == ["old.pt"]


def test_a_half_that_a_crash_left_is_told_of_and_never_whole(tmp_path: Path) -> None:
    (tmp_path / "step_1.pt").write_bytes(checkpoint_bytes()[:-10])
    watched = Watched(tmp_path)
    assert not watched.judge().halves
    watched.clock.now_s += HALF_S
    verdicts = watched.judge()
    assert verdicts.halves == ["step_1.pt"]
    assert verdicts.whole == []


def test_what_was_whole_stays_whole_until_it_changes(tmp_path: Path) -> None:
    path = save(tmp_path, "step_1.pt")
    watched = Watched(tmp_path)
    watched.judge()
    watched.clock.now_s += 100
    (original,) = watched.judge().whole
    watched.known["step_1.pt"] = Known(original.identity, 1)
    assert watched.whole() == ["step_1.pt"]
    path.write_bytes(checkpoint_bytes(2)[:-1])
    assert watched.whole() == []


@pytest.mark.parametrize(
    "name", [".step_1.pt", "step_1.pt.tmp", "step_1.tmp", "step_1.pt.zst", "step_1.pt~"]
)
def test_hidden_and_unfinished_names_are_never_looked_at(tmp_path: Path, name: str) -> None:
    save(tmp_path, name)
    seen = Looking(tmp_path, "*").look()
    assert seen.originals == {}


def test_links_are_not_followed(tmp_path: Path) -> None:
    save(tmp_path, "step_1.pt")
    (tmp_path / "step_2.pt").symlink_to("step_1.pt")
    seen = Looking(tmp_path, "*.pt").look()
    assert list(seen.originals) == ["step_1.pt"]
    assert seen.links == {"step_1.pt"}
