"""Packs in the writer: what is left off goes on, and nothing takes a place that is not its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from instride.pack import cutting
from instride.pack.reading import PackFile
from instride.store.directory import committed_in, leftovers_in
from instride.store.removing import remove
from instride.store.verifying import verify
from instride.writer.hands import Crew
from instride.writer.packs import Spoilt
from instride.writer.swapping import Draft
from tests.unit.pack.packs import nudged, weights
from tests.unit.store.committing import commit, flip
from tests.unit.writer.packers import Results, packs_for

DATA = weights(20_000)
MOST_RESIDENT_BYTES = 80 << 20
"""NumPy has some 11 MB of it once it was needed; what threads leave differs from run to run."""


class Interrupted(Crew):
    """Hands that find something better to do behind some pieces, once."""

    def __init__(self, num_pieces: int) -> None:
        super().__init__()
        self._num_left = num_pieces
        self.interrupt: Callable[[], None] = lambda: None
        self.interrupted: SimpleQueue[int] = SimpleQueue()

    def run(
        self,
        do_one: Callable[[], bool],
        *,
        num_bytes: int = 0,
        turn_bytes: int = 0,
        is_awaited: bool = False,
        most_hands: int = 0,
    ) -> None:
        assert num_bytes > 0
        super().run(lambda: self._count() and do_one())
        if self._num_left <= 0:
            self.interrupted.put(self._num_left)

    def _count(self) -> bool:
        self._num_left -= 1
        if self._num_left == 0:
            self.interrupt()
        return True


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "BLOCK_BYTES", 4096)


def original_of(path: Path) -> bytes:
    with PackFile(path) as file:
        return file.read() or b""


def test_a_checkpoint_becomes_a_pack_with_its_manifest(tmp_path: Path) -> None:
    path = commit(tmp_path, 1, DATA, metric=0.5)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    packs.take(results.get())
    packed = path.with_name("step_00000001.pt.pack")
    manifest = verify(packed)
    assert (manifest.step, manifest.metric, manifest.original_bytes) == (1, 0.5, len(DATA))
    assert original_of(packed) == DATA
    assert not path.exists()
    packs.go_on()
    assert not packs.is_busy


@pytest.mark.parametrize("num_pieces", [1, 2, 7, 19, 20, 21, 30])
def test_what_was_left_off_goes_on_where_it_was(num_pieces: int, tmp_path: Path) -> None:
    commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    crew = Interrupted(num_pieces)
    packs = packs_for(tmp_path, results, crew)
    crew.interrupt = packs.pause
    packs.go_on()
    crew.interrupted.get()  # all hands are free for a save
    assert packs.is_busy
    assert results.empty()
    later = commit(tmp_path, 2, nudged(DATA))
    packs.go_on()
    packs.take(results.get())
    assert original_of(tmp_path / "step_00000001.pt.pack") == DATA
    assert later.exists()


def test_what_is_abandoned_leaves_no_trace_and_what_was_handed_over_is_not_taken(
    tmp_path: Path,
) -> None:
    path = commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    draft = results.get()
    assert packs.abandon()
    assert not packs.abandon()
    packs.take(draft)
    assert list(leftovers_in(tmp_path)) == []
    assert [c.path for c in committed_in(tmp_path)] == [path]
    packs.go_on()
    packs.take(results.get())
    assert not path.exists()


@pytest.mark.parametrize("what", ["original", "base"])
def test_a_pack_whose_original_or_base_went_meanwhile_is_dropped(what: str, tmp_path: Path) -> None:
    first = commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    packs.take(results.get())
    second = commit(tmp_path, 2, nudged(DATA))
    packs.go_on()
    draft = results.get()
    assert isinstance(draft, Draft)
    assert draft.has_base
    base = first.with_name("step_00000001.pt.pack")
    remove(second if what == "original" else base)
    packs.take(draft)
    assert [c.path for c in committed_in(tmp_path)] == [base if what == "original" else second]
    assert list(leftovers_in(tmp_path)) == []


def test_a_base_that_is_damaged_is_not_used(tmp_path: Path) -> None:
    commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    packs.take(results.get())
    flip(tmp_path / "step_00000001.pt.pack", 1000)
    commit(tmp_path, 2, nudged(DATA))
    packs.go_on()
    draft = results.get()
    assert isinstance(draft, Draft)
    assert not draft.has_base
    assert draft.trouble is not None
    packs.take(draft)
    assert original_of(tmp_path / "step_00000002.pt.pack") == nudged(DATA)


def test_what_is_damaged_is_not_packed_and_tried_again_behind_the_next_save(tmp_path: Path) -> None:
    path = commit(tmp_path, 1, DATA)
    flip(path, 5)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    spoilt = results.get()
    assert isinstance(spoilt, Spoilt)
    packs.take(spoilt)
    packs.go_on()
    assert not packs.is_busy
    flip(path, 5)
    packs.wake()
    packs.go_on()
    packs.take(results.get())
    assert not path.exists()


def test_nothing_is_packed_before_the_first_save_nor_when_nobody_waits(tmp_path: Path) -> None:
    commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.give_up()
    packs.go_on()
    assert not packs.is_busy


PROGRAM = """
import sys
from pathlib import Path
from queue import SimpleQueue
from tests.unit.writer.packers import packs_for
results = SimpleQueue()
packs = packs_for(Path(sys.argv[1]), results)
packs.go_on()
while packs.is_busy:
    packs.take(results.get())
    packs.go_on()
fields = Path("/proc/self/status").read_text().split()
print(*(int(fields[fields.index(name) + 1]) * 1024 for name in ("RssAnon:", "RssFile:")))
print("torch" in sys.modules)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a process needs is read from /proc")
def test_a_writer_that_has_packed_is_small_again(tmp_path: Path) -> None:
    for step in (1, 2):
        commit(tmp_path, step, weights(500_000, step) * 20)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    *sizes, has_torch = done.stdout.split()
    assert sum(map(int, sizes)) < MOST_RESIDENT_BYTES
    assert has_torch == "False"
    assert len(list(tmp_path.glob("*.pack"))) == 2
