"""Windows as they are opened and closed, with work that does not stop at once."""

from __future__ import annotations

import msgspec
import pytest

from instride.governor.gauge import Look
from instride.governor.model import Decision, Window
from instride.governor.pace import Pace, Setting, Tally
from instride.governor.phases import Phases

AT_WORK = Decision(1, None, 0.5, 0, True, "unknown-yet", "", 0.25)


class SlowWork:
    """Pieces that take as long as they are told to."""

    def __init__(self) -> None:
        self.codec_step = 0
        self.may_start = True
        self.is_hurried = False
        self.is_active = True
        self.setting = Setting()

    def set(self, setting: Setting) -> None:
        self.setting = setting

    def tally(self) -> Tally:
        return Tally(0, 0.0)


class Steady:
    span_s = 0.1
    resolution_s = 0.0


class Stage:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.work = SlowWork()
        self.windows: list[Window] = []
        self.idle_s = 0.0
        self.io_s = 0.0
        self.phases = Phases(
            self.work, Steady(), lambda: Look(self.now_s, self.io_s, 0.0, self.idle_s, 0.0, 0.0),
            self.windows.append,
        )  # fmt: skip
        self.phases.begin(self.now_s)
        self.phases.start(self.now_s, AT_WORK)

    def go_on(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s = max(self.now_s + 1e-3, self.phases.advance(self.now_s, AT_WORK, False))

    def kinds(self) -> list[str]:
        return [window.kind for window in self.windows]


def test_a_pause_begins_when_the_last_piece_is_done() -> None:
    stage = Stage()
    stage.go_on(2.0)
    assert not stage.work.setting.is_open
    assert stage.kinds() == ["pause", "work"]
    stage.work.is_active = False
    ended_s = stage.now_s
    stage.go_on(3.0)
    settling, pause = stage.windows[2:4]
    assert (settling.kind, pause.kind) == ("settling", "pause")
    assert 0 <= pause.start_s - ended_s < 0.2
    assert stage.windows[1].end_s == settling.start_s


def test_pieces_without_end_are_not_waited_for_for_ever() -> None:
    stage = Stage()
    stage.go_on(12.0)
    assert stage.kinds()[:4] == ["pause", "work", "settling", "pause"]
    settling = stage.windows[2]
    assert 2.9 <= settling.end_s - settling.start_s <= 3.2


def test_work_that_stops_at_once_needs_no_settling() -> None:
    stage = Stage()
    stage.work.is_active = False
    stage.go_on(6.0)
    assert "settling" not in stage.kinds()
    assert {"unclear", "pause"} == set(stage.kinds())  # nothing was done when it was allowed


def test_a_pause_that_is_cut_short_shows_nothing() -> None:
    """Counters of cores are coarse: a tick or two might look like many idle cores, or none."""
    stage = Stage()
    stage.work.is_active = False
    stage.now_s += 1.25
    stage.phases.advance(stage.now_s, AT_WORK, False)
    assert not stage.work.setting.is_open
    before = stage.phases.strain
    stage.now_s += 0.1
    stage.idle_s += 1.0
    stage.phases.advance(stage.now_s, AT_WORK, True)
    assert stage.windows[-1].kind == "pause"
    assert stage.phases.strain is before
    stage.go_on(2.0)
    assert stage.phases.strain is not before


@pytest.mark.parametrize("is_early", [True, False], ids=["until it began", "in the middle"])
@pytest.mark.parametrize("is_pause", [True, False])
def test_a_window_in_which_somebody_waited_for_a_moment_shows_nothing(
    is_pause: bool, is_early: bool
) -> None:
    """Nothing was held back then, which is no pause, and more than the effort that is allowed."""
    now_s, pace = [100.0], Pace()
    windows: list[Window] = []
    found = Phases(
        pace, Steady(), lambda: Look(now_s[0], 0.0, 0.0, 0.0, 0.0, 0.0), windows.append
    )  # fmt: skip
    if is_early:
        pace.hurry()
    found.start(100.0, AT_WORK)
    if is_pause:
        with pace.turn(1):
            now_s[0] += 1.25
        found.advance(now_s[0], AT_WORK, False)
    if not is_early:
        pace.hurry()
    with pace.turn(1 << 30):
        pace.relax()
    now_s[0] += 1.25
    found.advance(now_s[0], AT_WORK, False)
    assert len(windows) == 1 + is_pause
    assert windows[-1].kind not in ("work", "pause")


def test_before_a_job_there_is_no_longer_pause_than_since_the_job_before() -> None:
    stage = Stage()
    stage.go_on(1.0)
    ended_s = stage.now_s
    stage.phases.end(ended_s)
    count = len(stage.windows)
    stage.phases.begin(ended_s)  # at once, as what is written is read back
    assert len(stage.windows) == count
    stage.phases.end(ended_s)
    stage.phases.begin(ended_s + 0.25)
    assert stage.windows[-1] == Window(ended_s, ended_s + 0.25, "pause")
    stage.phases.end(ended_s + 1.0)
    stage.phases.begin(ended_s + 100.0)
    assert stage.windows[-1].end_s - stage.windows[-1].start_s == pytest.approx(1.0)


def test_a_deadline_that_asks_for_more_and_more_does_not_prolong_a_pause() -> None:
    stage = Stage()
    stage.work.is_active = False
    stage.now_s += 1.25
    stage.phases.advance(stage.now_s, AT_WORK, False)
    assert not stage.work.setting.is_open
    hasty = msgspec.structs.replace(AT_WORK, reason="deadline", most_pause_s=60.0)
    for _ in range(8):
        stage.now_s += 0.25
        stage.phases.advance(stage.now_s, hasty, True)
    assert "pause" in stage.kinds()[2:]
    assert stage.work.setting.is_open


def test_what_others_needed_long_ago_is_forgotten() -> None:
    """A training that was restored has kept the disk busy, before the first of its steps."""
    stage = Stage()
    stage.phases.end(stage.now_s)
    stage.now_s += 6.0
    stage.io_s += 6.0
    for _ in range(12):
        stage.now_s += 5.0
        stage.phases.rest(stage.now_s)
    stage.phases.begin(stage.now_s)
    assert stage.phases.strain.io == 0.0


def test_what_others_needed_a_moment_ago_is_not() -> None:
    stage = Stage()
    stage.phases.end(stage.now_s)
    stage.now_s += 60.0
    stage.phases.rest(stage.now_s)
    stage.io_s += 6.0
    stage.now_s += 10.0
    stage.phases.rest(stage.now_s)
    stage.phases.begin(stage.now_s)
    assert stage.phases.strain.io == 0.6


def test_what_we_needed_ourselves_is_not_taken_for_others() -> None:
    """Whoever deletes a checkpoint of many gigabytes waits for the disk."""
    stage = Stage()
    stage.phases.end(stage.now_s)
    stage.now_s += 2.0
    stage.io_s += 2.0
    stage.phases.look_anew()
    stage.now_s += 3.0
    stage.phases.begin(stage.now_s)
    assert stage.phases.strain.io == 0.0


def test_work_of_few_threads_is_not_taken_for_all_the_effort_that_is_allowed() -> None:
    """Reading back has fewer hands than writing, and what it does to steps says so much less."""
    stage = Stage()
    stage.phases.end(stage.now_s)
    stage.phases.begin(stage.now_s, most_effort=0.125)
    stage.phases.start(stage.now_s, AT_WORK)
    stage.go_on(2.0)
    assert stage.windows[-1].kind == "work"
    assert stage.windows[-1].effort == 0.125
