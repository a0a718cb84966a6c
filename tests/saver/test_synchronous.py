"""Where nothing can be done in the background, training waits, and everything else is the same."""

from __future__ import annotations

import errno
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest
import torch

import instride
from instride.errors import SaveFailedError, UnsafeStateError
from instride.faults import VARIABLE, arm
from instride.store.directory import LATEST, leftovers_in
from instride.store.verifying import verify
from instride.system import background
from tests.crash.checks import assert_sound, steps_in
from tests.crash.trainings import Weights
from tests.saver.states import STATES, assert_same
from tests.unit.store.unreachable import refuse_to_look_at

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:instride. Linux lacks:RuntimeWarning", "ignore:Sparse"),
    pytest.mark.usefixtures("nothing_in_the_background"),
]


@pytest.mark.parametrize("build", STATES.values(), ids=STATES)
def test_torch_load_gives_back_what_was_saved(build: Callable[[], Any], tmp_path: Path) -> None:
    state = build()

    pending = instride.save(state, tmp_path / "x.pt")

    assert pending.done
    assert_same(torch.load(tmp_path / "x.pt", weights_only=True), state)
    assert_same(instride.load(tmp_path / "x.pt"), state)
    verify(tmp_path / "x.pt")


def test_it_is_said_once(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="training waits until a save is on the disk"):
        saver = instride.Saver(tmp_path, weights=Weights(10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saver.save(1)
        saver.save(2)
        saver.close()


def test_a_file_that_is_called_as_the_link_to_the_newest_is_told_of(tmp_path: Path) -> None:
    (tmp_path / LATEST).write_bytes(b"somebody's")
    saver = instride.Saver(tmp_path, weights=Weights(10))

    with pytest.warns(RuntimeWarning, match=r"is a file and no link.*\s+hint: .*mv -n"):
        saver.save(1)

    saver.close()
    assert (tmp_path / LATEST).read_bytes() == b"somebody's"


def test_a_training_goes_on_where_it_was(tmp_path: Path) -> None:
    weights = Weights()
    with instride.Saver(tmp_path, keep=instride.Keep(last=2), weights=weights) as saver:
        assert saver.restore() == 0
        for step in range(1, 5):
            weights.become(step)
            saver.save(step, extra={"loss": numpy.float32(0.5)})
            assert assert_sound(tmp_path) == step

    assert steps_in(tmp_path) == [3, 4]
    assert (tmp_path / LATEST).readlink() == Path("step_00000004.pt")
    with instride.Saver(tmp_path, weights=weights) as saver:
        weights.become(7)
        assert saver.restore() == 5
        assert weights.is_of(4)
        assert saver.extra == {"loss": 0.5}
        assert saver.restore(step=3) == 4
        assert weights.is_of(3)


def test_what_was_saved_in_the_background_is_restored_and_the_other_way_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    for is_possible in (True, False, True):
        monkeypatch.setattr(background, "is_possible", lambda answer=is_possible: answer)
        wanted = {name: value.clone() for name, value in model.state_dict().items()}
        with instride.Saver(tmp_path, model=model) as saver:
            step = saver.restore()
            assert_same(dict(model.state_dict()), wanted)
            with torch.no_grad():
                model[0].weight.add_(1)
            saver.save(step).wait(60)

    tree = torch.load(tmp_path / "step_00000001.pt", weights_only=True)
    assert type(tree["model"]["0.weight"]) is torch.Tensor
    assert tree["model"]._metadata == model.state_dict()._metadata
    assert steps_in(tmp_path) == [0, 1, 2]


def test_a_damaged_checkpoint_is_told_of_and_the_one_before_it_used(tmp_path: Path) -> None:
    weights = Weights()
    with instride.Saver(tmp_path, weights=weights) as saver:
        for step in (1, 2):
            weights.become(step)
            saver.save(step)
        with (tmp_path / "step_00000002.pt").open("r+b") as file:
            file.seek(5000)
            file.write(b"!")

        with pytest.warns(RuntimeWarning, match="it is passed over\n\nhint: `instride verify /"):
            assert saver.restore() == 2
    assert weights.is_of(1)


def test_a_store_that_cannot_be_looked_at_once_all_is_saved_ends_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with instride.Saver(tmp_path, weights=Weights(10)) as saver:
        refuse_to_look_at(tmp_path / LATEST, errno.EIO, monkeypatch)
        assert saver.save(1).error is None


@pytest.mark.filterwarnings("ignore:instride. the checkpoint:RuntimeWarning")
def test_a_save_that_fails_does_not_stop_training_and_is_raised_by_wait_and_close(
    tmp_path: Path,
) -> None:
    (tmp_path / "step_00000001.pt").write_bytes(b"somebody else's")
    saver = instride.Saver(tmp_path, weights=Weights(10))

    failed = saver.save(1)
    with pytest.raises(SaveFailedError, match="did not write"):
        failed.wait()
    with pytest.raises(SaveFailedError):
        saver.close()

    assert (tmp_path / "step_00000001.pt").read_bytes() == b"somebody else's"
    assert list(leftovers_in(tmp_path)) == []


@pytest.mark.filterwarnings("ignore:instride. the checkpoint:RuntimeWarning")
@pytest.mark.parametrize("phase", ["synced", "manifest"])
def test_an_error_of_the_disk_leaves_nothing_behind(
    phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights(10)
    with instride.Saver(tmp_path, weights=weights) as saver:
        monkeypatch.setenv(VARIABLE, f"EIO@{phase}")
        arm()
        try:
            with pytest.raises(SaveFailedError, match="asked for by"):
                saver.save(1).wait()
        finally:
            monkeypatch.delenv(VARIABLE)
            arm()
        assert steps_in(tmp_path) == []
        assert not list(tmp_path.glob(".*.tmp"))
        weights.become(2)
        saver.save(2)

    assert assert_sound(tmp_path) == 2


@pytest.mark.filterwarnings("ignore:instride. nothing can be saved:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:instride. the checkpoint:RuntimeWarning")
def test_a_store_that_cannot_be_made_lets_training_go_on_until_it_can(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    weights = Weights(10)
    with instride.Saver(tmp_path / "file" / "store", weights=weights) as saver:
        assert isinstance(saver.save(1).error, SaveFailedError)
        (tmp_path / "file").unlink()
        weights.become(2)
        saver.save(2).wait()

    assert assert_sound(tmp_path / "file" / "store") == 2


def test_what_weights_only_refuses_is_refused_or_told_of(tmp_path: Path) -> None:
    state = {"path": Path("x")}
    with instride.Saver(tmp_path, strict=True, weights=Weights(10)) as saver:
        with pytest.raises(UnsafeStateError):
            saver.save(1, extra=state)
        assert steps_in(tmp_path) == []
        saver.save(2)
    with (
        pytest.warns(RuntimeWarning, match="saved all the same"),
        instride.Saver(tmp_path, weights=Weights(10)) as saver,
    ):
        saver.save(3, extra=state).wait()

    assert steps_in(tmp_path) == [2, 3]


def test_what_a_crash_left_and_what_cannot_be_looked_at_is_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights(10)
    with instride.Saver(tmp_path, weights=weights) as saver:
        weights.become(1)
        saver.save(1)
    (tmp_path / ".step_00000002.pt.0123abcd.tmp").touch()
    refuse_to_look_at(tmp_path / "step_00000001.pt", errno.EIO, monkeypatch)

    instride.Saver(tmp_path, weights=weights).close()

    lines = [
        msgspec.json.decode(line)
        for line in (tmp_path / ".instride" / "journal.jsonl").read_bytes().splitlines()
    ]
    told = {line["kind"]: line["names"] for line in lines if line["kind"].startswith("swe")}
    assert told["swept"] == [".step_00000002.pt.0123abcd.tmp"]
    assert [name.split(".pt.")[0] for name in told["sweep-failed"]] == ["step_00000001"]


def journal_of(store: Path) -> list[str]:
    """The kinds of its lines."""
    text = (store / ".instride" / "journal.jsonl").read_text()
    return [line.split('"kind":"')[1].split('"')[0] for line in text.splitlines()]


def test_beats_and_saves_are_in_the_journal(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, weights=Weights(10)) as saver:
        for step in range(3):
            if saver.due(step, every=2):
                saver.save(step)

    kinds = journal_of(tmp_path)
    assert kinds.count("step") == 3
    assert [kind for kind in kinds if kind != "step"] == ["start", "call", "durable", "verified"]


def test_where_no_threads_can_be_started_the_journal_has_all_and_ends_with_the_saver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As once a program is over, on Python 3.12."""
    monkeypatch.setattr(background, "can_start_threads", lambda: False)
    saver = instride.Saver(tmp_path, weights=Weights(10))
    saver.save(0)
    for step in range(1, 4):
        saver.due(step, every=10)
    saver.close()

    kinds = journal_of(tmp_path)
    assert kinds.count("step") == 3
    assert kinds[-1] == "step"
    with pytest.warns(RuntimeWarning, match="closed"):
        assert isinstance(saver.save(4).error, SaveFailedError)
    assert journal_of(tmp_path) == kinds


def test_nothing_is_asked_of_the_system_that_only_linux_has(tmp_path: Path) -> None:
    """A process that has lost what Windows and macOS never had."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.saver.bare_system", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3", "2", "1.0"]
    assert "training waits" in done.stderr


def test_what_fails_again_once_a_save_has_worked_is_told_again(tmp_path: Path) -> None:
    for step in (2, 3, 6):
        (tmp_path / f"step_{step:08d}.pt").write_bytes(b"somebody's")
    with (
        warnings.catch_warnings(record=True) as told,
        instride.Saver(tmp_path, weights=Weights(10)) as saver,
    ):
        warnings.simplefilter("always")
        for step in range(1, 8):
            saver.save(step)

    texts = [str(each.message) for each in told if "was not saved" in str(each.message)]
    assert [text.partition(".pt")[0][-1] for text in texts] == ["2", "6"]
