"""Where nothing can be done in the background, training waits, and everything else is the same."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest
import torch

import instride
from instride.errors import SaveFailedError, StoreInUseError, UnsafeStateError
from instride.faults import VARIABLE, arm
from instride.saver.functions import save
from instride.store import lock
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


@pytest.fixture
def nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "is_possible", lambda: False)
    monkeypatch.setitem(save.__globals__, "_engine", None)


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


def test_a_store_has_one_owner(tmp_path: Path) -> None:
    first = instride.Saver(tmp_path, weights=Weights(10))
    with pytest.raises(StoreInUseError, match="another Saver of this process"):
        instride.Saver(tmp_path, weights=Weights(10))
    first.close()

    instride.Saver(tmp_path, weights=Weights(10)).close()


def test_whoever_only_prunes_there_is_waited_for(tmp_path: Path) -> None:
    """It names no trainer: a training that was refused for it would be told to `kill 0`."""
    instride.Saver(tmp_path, weights=Weights(10)).close()
    pid = os.getpid()
    started = lock.started_at(pid) or 0
    held = lock.StoreLock(tmp_path)
    pruner = lock.Owner(socket.gethostname(), 0, 0, pid, is_leaving=True, writer_started=started)
    assert held.try_take(pruner) is None
    end = threading.Timer(0.3, held.release)
    end.start()

    with pytest.warns(RuntimeWarning, match=f"waiting for process {pid}"):
        saver = instride.Saver(tmp_path, weights=Weights(10))

    end.join()
    saver.close()


def test_a_store_that_somebody_keeps_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """A writer that finishes for a dead training may be frozen, or its storage may be."""
    weights = Weights(10)
    instride.Saver(tmp_path, weights=weights).close()
    pid = os.getpid()
    held = lock.StoreLock(tmp_path)
    frozen = lock.Owner(
        socket.gethostname(), 0, 0, pid, is_leaving=True, writer_started=lock.started_at(pid) or 0
    )
    assert held.try_take(frozen) is None

    with (
        pytest.warns(RuntimeWarning, match=f"waiting for process {pid}"),
        pytest.warns(RuntimeWarning, match=f"{pid} still works on it; each save will try"),
    ):
        saver = instride.Saver(tmp_path, stall_s=0.2, weights=weights)
    with pytest.warns(RuntimeWarning, match=f"process {pid} still works on it"):
        assert isinstance(saver.save(1).error, SaveFailedError)
    held.release()

    saver.save(2).wait()
    saver.close()
    assert steps_in(tmp_path) == [2]


def test_without_locks_of_files_the_name_of_another_process_that_lives_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)  # as on Windows
    instride.Saver(tmp_path, weights=Weights(10)).close()
    other = os.getppid()
    others = lock.StoreLock(tmp_path)
    owner = lock.Owner(socket.gethostname(), other, lock.started_at(other) or 0, other)
    assert others.try_take(owner) is None

    with pytest.raises(StoreInUseError, match=f"pid {other} "):
        instride.Saver(tmp_path, weights=Weights(10))

    others.release()
    instride.Saver(tmp_path, weights=Weights(10)).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks there")
def test_a_child_that_is_forked_leaves_the_store_to_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the name in the lock is all that keeps others out."""
    monkeypatch.setattr(lock, "fcntl", None)
    with instride.Saver(tmp_path, weights=Weights(10)):
        child = os.fork()
        if child == 0:
            os._exit(0)  # as a worker of a data loader that has no work
        os.waitpid(child, 0)
        holder = lock.holder_of(tmp_path)
        assert holder is not None
        assert holder.writer_pid == os.getpid()
    assert lock.holder_of(tmp_path) is None


def test_without_locks_a_training_that_was_killed_keeps_nobody_out_whoever_has_its_pid_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    with instride.Saver(tmp_path, weights=Weights(10)):
        mine = lock.holder_of(tmp_path)
    assert mine is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        left = msgspec.structs.replace(mine, trainer_pid=other.pid, writer_pid=other.pid)
        (tmp_path / ".instride" / "lock").write_bytes(msgspec.json.encode(left))

        instride.Saver(tmp_path, weights=Weights(10)).close()


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


def test_beats_and_saves_are_in_the_journal(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, weights=Weights(10)) as saver:
        for step in range(3):
            if saver.due(step, every=2):
                saver.save(step)

    text = (tmp_path / ".instride" / "journal.jsonl").read_text()
    kinds = [line.split('"kind":"')[1].split('"')[0] for line in text.splitlines()]
    assert kinds.count("step") == 3
    assert [kind for kind in kinds if kind != "step"] == ["start", "call", "durable", "verified"]


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
