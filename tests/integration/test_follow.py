"""`--follow` shows a log again whenever it has changed, whatever happens to the file."""

from __future__ import annotations

import gzip
import io
import os
import time
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from instride.cli import following
from instride.cli.following import PAUSE_S, follow_log, look
from instride.cli.main import main
from instride.errors import BadPatternError, BinaryLogError, UnknownDialectError, UnreadableLogError
from instride.explain.languages import LANGUAGES
from tests.integration.scripts import Action, Script, nanogpt, screens


class Follower:
    """Follows a log through a script and keeps what was printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.printed = io.StringIO()
        self.script = Script()

    def run(self, *actions: Action) -> str:
        self.script = Script(*actions)
        console = Console(file=self.printed, width=80, highlight=False)
        with pytest.raises(KeyboardInterrupt):
            follow_log(str(self.path), None, (), console, self.script)
        return self.printed.getvalue()

    def append(self, text: str) -> Action:
        def act() -> None:
            with self.path.open("a") as log:
                log.write(text)

        return act

    def write(self, text: str) -> Action:
        return lambda: self.path.write_text(text)

    def replace(self, text: str) -> Action:
        def act() -> None:
            other = self.path.with_suffix(".new")
            other.write_text(text)
            other.replace(self.path)

        return act

    def wait(self) -> None:
        """Let time pass without anything happening."""


@pytest.fixture
def follower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follower:
    monkeypatch.chdir(tmp_path)
    return Follower(Path("train.log"))


def test_a_log_that_grows_is_shown_again(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 20))
    printed = follower.run(follower.append(nanogpt(20, 40)), follower.append(nanogpt(40, 60)))
    assert screens(printed) == ["19", "39", "59"]
    assert printed.count("following; Ctrl-C ends") == 3
    assert "next: " not in printed


def test_what_is_known_of_failures_counts_while_following_too(follower: Follower) -> None:
    saves = [f"saving checkpoint to out\niter {n}: loss 2.5, time 9000.00ms\n" for n in (50, 100)]
    follower.path.write_text(nanogpt(0, 50) + saves[0] + nanogpt(51, 100) + saves[1])
    console = Console(file=follower.printed, width=80, highlight=False)
    with pytest.raises(KeyboardInterrupt):
        follow_log("train.log", None, (), console, follower.script, mtbf_s=7200.0)
    assert "With a failure every 2 h 0 min" in " ".join(follower.printed.getvalue().split())


def test_why_nothing_is_shown_yet_is_said_in_the_language(follower: Follower) -> None:
    follower.path.touch()
    console = Console(file=follower.printed, width=80, highlight=False)
    with pytest.raises(KeyboardInterrupt):
        follow_log("train.log", None, (), console, follower.script, LANGUAGES["de"])
    assert "`train.log` ist leer" in follower.printed.getvalue()


def test_a_log_that_does_not_change_is_not_shown_again(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 20))
    assert screens(follower.run(follower.wait, follower.wait, follower.wait)) == ["19"]


def test_a_log_that_is_not_there_yet_is_waited_for_in_one_line(follower: Follower) -> None:
    printed = follower.run(follower.wait, follower.wait, follower.write(nanogpt(0, 20)))
    assert printed.count("waiting for train.log") == 1
    assert screens(printed) == ["19"]


def test_a_log_without_steps_yet_is_waited_for_in_one_line_each(follower: Follower) -> None:
    follower.path.touch()
    printed = follower.run(
        follower.wait,
        follower.append("loading the data [this takes long]\n"),
        follower.append("compiling the model...\n"),
        follower.append(nanogpt(0, 20)),
    )
    assert printed.count("nothing to show yet: `train.log` is empty") == 1
    assert printed.count("nothing to show yet: no training steps found") == 1
    assert screens(printed) == ["19"]


def test_a_log_that_is_cut_is_read_from_its_new_beginning(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 50))
    printed = follower.run(follower.write(nanogpt(0, 10)), follower.append(nanogpt(10, 30)))
    assert screens(printed) == ["49", "9", "29"]


def test_a_log_that_is_cut_to_nothing_is_waited_for(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 50))
    printed = follower.run(follower.write(""), follower.append(nanogpt(0, 30)))
    assert screens(printed) == ["49", "29"]
    assert "nothing to show yet: `train.log` is empty" in printed


def test_a_log_that_is_replaced_is_read_anew(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 50))
    printed = follower.run(follower.replace(nanogpt(0, 20)), follower.append(nanogpt(20, 25)))
    assert screens(printed) == ["49", "19", "24"]


def test_a_log_of_the_same_size_and_age_is_shown_if_it_is_another_file(follower: Follower) -> None:
    follower.path.write_text(nanogpt(10, 20))
    stat = follower.path.stat()

    def swap() -> None:
        follower.replace(nanogpt(20, 30))()
        os.utime(follower.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert screens(follower.run(swap)) == ["19", "29"]


def test_a_log_that_goes_away_is_waited_for(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 50))
    printed = follower.run(
        follower.path.unlink, follower.wait, follower.write(nanogpt(50, 60)), follower.path.unlink
    )
    assert screens(printed) == ["49", "59"]
    assert printed.count("waiting for train.log") == 2


def test_a_log_that_goes_away_between_looking_and_reading_is_waited_for(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([look(__file__), None, None])
    monkeypatch.setattr(following, "look", lambda path: next(looks))
    assert "waiting for train.log" in follower.run(follower.wait)


def test_a_packed_log_that_is_being_written_is_shown_as_far_as_it_goes(follower: Follower) -> None:
    packed = gzip.compress(nanogpt(0, 3000).encode())
    follower.path.write_bytes(packed[: len(packed) // 2])
    printed = follower.run(lambda: follower.path.write_bytes(packed))
    halfway, whole = screens(printed)
    assert 100 < int(halfway.replace(",", "")) < 2999
    assert whole == "2,999"


def test_what_cannot_become_a_log_ends_the_following(follower: Follower) -> None:
    follower.path.write_bytes(b"PK\0\0\0\0")
    with pytest.raises(BinaryLogError):
        follow_log("train.log", None, (), Console(file=io.StringIO()), Script())
    with pytest.raises(UnreadableLogError, match="Is a directory"):
        follow_log(".", None, (), Console(file=io.StringIO()), Script())


def test_a_wrong_name_or_pattern_is_said_before_the_log_has_come(follower: Follower) -> None:
    with pytest.raises(UnknownDialectError, match="nanogtp"):
        follow_log("train.log", "nanogtp", (), Console(file=io.StringIO()), Script())
    with pytest.raises(BadPatternError):
        follow_log("train.log", None, ("(",), Console(file=io.StringIO()), Script())


def test_a_name_with_brackets_is_printed_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "waiting for [bold]x[/red].log" in Follower(Path("[bold]x[/red].log")).run()


def test_pauses_are_longer_for_a_log_that_takes_long_to_read(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    follower.path.write_text(nanogpt(0, 20))
    follower.run(follower.wait)
    assert follower.script.pauses == [30.0, 30.0]
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    follower.run(follower.wait)
    assert follower.script.pauses == [PAUSE_S, PAUSE_S]


def test_a_terminal_is_cleared_for_each_screen(follower: Follower) -> None:
    follower.path.write_text(nanogpt(0, 20))
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, highlight=False)
    with pytest.raises(KeyboardInterrupt):
        follow_log("train.log", None, (), console, Script(follower.append(nanogpt(20, 30))))
    assert out.getvalue().count("\x1b[2J") == 2


def test_ctrl_c_ends_with_130(
    follower: Follower, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follower.path.write_text(nanogpt(0, 20))
    monkeypatch.setattr(following, "follow_log", partial(follow_log, sleep=Script()))
    assert main(["explain", "--follow", "train.log"]) == 130
    printed = capsys.readouterr()
    assert screens(printed.out) == ["19"]
    assert "Traceback" not in printed.err
