"""The thread that hears the writer, and the one that posts, outlive whatever happens in them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

import instride
from instride.saver import functions
from instride.saver.courier import Courier
from instride.saver.telling import Telling
from instride.writer.protocol import Committed
from tests.crash.trainings import engine_of
from tests.saver.scripts import run

pytestmark = pytest.mark.torch

CLOSED_LOG = """
log = open("train.log", "w")
sys.stderr = log
store = saver("store", stall_s=5.0)
log.close()
for step in (1, 2, 3):
    try:
        print(store.save(step).wait(20).step)
    except OSError as error:
        print(type(error).__name__)
store.close()
"""


@pytest.mark.parametrize("fault", ["EIO@synced#1", "EIO@pickled#1"])
def test_a_failure_that_cannot_be_told_is_the_only_one(fault: str, tmp_path: Path) -> None:
    """In the thread that hears, and in the one that posts."""
    assert run(tmp_path, CLOSED_LOG, INSTRIDE_FAULTS=fault) == ["SaveFailedError", "2", "3"]


WARNING_CALL = """
log = open("train.log", "w")
sys.stderr = log
store = saver("store")
log.close()
print(store.save(1, metric=float("nan")).wait(60).step)
store.close()
"""


def test_a_call_whose_warning_cannot_be_told_goes_on(tmp_path: Path) -> None:
    assert run(tmp_path, WARNING_CALL) == ["1"]


def test_a_warning_that_cannot_be_shown_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def show(*_: object) -> None:
        raise ValueError("I/O operation on closed file.")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "_showwarnmsg", show)
        Telling().once("kind", "said")


def test_a_warning_that_is_an_error_is_raised_where_training_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="said"):
            Telling().once("kind", "said")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_could_not_be_heard_is_told_by_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Courier._hear
    broken: list[object] = []

    def hear(courier: Courier, message: object) -> None:
        if isinstance(message, Committed) and not broken:
            broken.append(message)
            raise RuntimeError("a mistake of ours")
        heard(courier, message)

    monkeypatch.setattr(Courier, "_hear", hear)
    with instride.Saver(tmp_path, stall_s=10.0, model=torch.nn.Linear(2, 2)) as saver:
        first = engine_of(saver).courier.writer_pid
        assert saver.save(1).wait(20).step == 1
        assert engine_of(saver).courier.writer_pid != first
        saver.save(2).wait(20)


def test_a_warning_about_how_it_was_taken_fails_a_save_before_it_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where warnings are errors: what has raised is not saved behind one's back."""
    monkeypatch.setattr(functions, "_engine", None)  # another test may have been told of it
    odd = torch.ones(3)
    odd.note = "only torch.save keeps it"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"was not saved: RuntimeWarning: .* torch\.save"):
            instride.save({"odd": odd}, tmp_path / "first.pt")
        instride.save({"odd": odd}, tmp_path / "second.pt").wait(60)
    functions._engine_now().close()

    assert not (tmp_path / "first.pt").exists()
    assert (tmp_path / "second.pt").exists()
