"""Whatever becomes of one save, the next one is written; only what is awaited does not yield."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from instride.store.verifying import verify
from instride.writer.committing import Commits
from instride.writer.hands import Crew
from instride.writer.protocol import Committed, Failed
from tests.unit.writer.works import Heard, NotedCrew, staged, work_for


def no_thread(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


class Tripping(Crew):
    """Fails in a place that nobody thought of, once."""

    has_tripped = False

    def relax(self) -> None:
        if not self.has_tripped:
            self.has_tripped = True
            raise RuntimeError("tripped")
        super().relax()


def test_a_save_that_has_no_thread_for_patience_is_written_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Timer, "start", no_thread)
    told = Heard()
    work = work_for(tmp_path, told)
    for step in (1, 2):
        work.add(staged(tmp_path, step))
        assert told.hear(Committed, Failed) == told_of(told, step)
    work.drain()
    assert verify(tmp_path / "step_00000002.pt").step == 2


def told_of(told: Heard, step: int) -> Committed:
    durable = told.all_of("durable")[-1]
    return Committed(step, durable["path"], durable["bytes"], durable["staged_s"], durable["s"])


def test_a_save_that_fails_in_an_unknown_way_is_answered_and_the_next_one_is_written(
    tmp_path: Path,
) -> None:
    told = Heard()
    work = work_for(tmp_path, told, Tripping())
    work.add(staged(tmp_path, 1))
    failed = told.hear(Committed, Failed)
    assert isinstance(failed, Failed)
    assert (failed.id, failed.why, failed.errno) == (1, "RuntimeError: tripped", None)
    work.add(staged(tmp_path, 2))
    assert isinstance(told.hear(Committed, Failed), Committed)
    work.drain()
    assert [fields["id"] for fields in told.all_of("failed")] == [1]


def test_what_fails_behind_a_commit_is_noted_and_the_commit_stays(tmp_path: Path) -> None:
    class Untidy(Commits):
        def verify(self, path: Path) -> None:
            raise RuntimeError("tripped")

    told = Heard()
    work = work_for(tmp_path, told, commits=Untidy)
    for step in (1, 2):
        work.add(staged(tmp_path, step))
        assert isinstance(told.hear(Committed, Failed), Committed)
    work.drain()
    assert [fields["why"] for fields in told.all_of("tidy-failed")] == ["tripped", "tripped"]


PROGRAM = """
import sys, threading
from pathlib import Path
from instride.writer.protocol import Committed, Failed
from tests.unit.writer.works import Heard, staged, work_for

class Mute(Heard):
    def tell(self, message):
        if isinstance(message, (Committed, Failed)):
            raise MemoryError("no answer")

store = Path(sys.argv[1])
work = work_for(store, Mute())
work.add(staged(store, 1))
threading.Event().wait(60)
"""


def test_a_writer_that_cannot_answer_ends_so_that_another_one_can_begin(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("MemoryError: no answer")


def test_a_hurry_that_comes_when_its_save_is_committed_is_for_nothing(tmp_path: Path) -> None:
    told, crew = Heard(), NotedCrew()
    work = work_for(tmp_path, told, crew)
    work.add(staged(tmp_path, 1))
    told.hear(Committed)
    next_one = staged(tmp_path, 2)
    work._jobs.add(next_one)  # and nobody has begun with it
    work.hurry(1)
    assert crew.num_hurried == 0, "the next one is to yield"
    work.add(next_one)
    told.hear(Committed)
    work.drain()


def test_a_save_that_somebody_waits_for_hurries_until_it_is_committed(tmp_path: Path) -> None:
    told, crew = Heard(), NotedCrew()
    work = work_for(tmp_path, told, crew)
    job = staged(tmp_path, 1)
    work._jobs.add(job)  # and nobody has begun with it
    work.hurry(1)
    assert crew.num_hurried == 1
    work._jobs.relax()
    assert crew._is_waited_for
    work.add(job)
    told.hear(Committed)
    work.drain()
    assert not crew._is_waited_for
