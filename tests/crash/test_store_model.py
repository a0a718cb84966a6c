"""A store against a model of it: saves, kills, damage and deletions in any order."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from instride.errors import DamagedError
from instride.faults import TRAINER_PHASES, WRITER_PHASES
from instride.store.directory import checkpoints_in, newest_first
from instride.store.verifying import verify
from tests.crash.checks import assert_holds, assert_swept, await_free, path_of
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch

NUM_VALUES = 40_000
"""More than the part of a file that its manifest is found by."""
BEFORE_STAGED = ("frozen", "copied", "submitted", "pickled")
BEFORE_NAMED = WRITER_PHASES[: WRITER_PHASES.index("renamed")]
NEEDS_IT_ALL = WRITER_PHASES[WRITER_PHASES.index("tail") : -1]
"""What a writer only comes to when the trainer has sent everything, and is killed for it."""


class StoreMachine(RuleBasedStateMachine):
    """The model: which steps are committed, in the order of their commits, and which of them are
    damaged. Whatever happens, the store is the model, and what is restored is its newest whole."""

    zygote: ClassVar[Zygote]

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self._store = self._folder / "store"
        self._store.mkdir()
        self._committed: list[int] = []
        self._damaged: set[int] = set()
        self._last_step = 0

    def _newest_whole(self) -> int | None:
        whole = [step for step in self._committed if step not in self._damaged]
        return whole[-1] if whole else None

    def _train(self, steps: list[int], keep: int, faults: str = "") -> list[tuple[str, object]]:
        training = self.zygote.start(
            "train", store=self._store, steps=steps, keep=keep, num_values=NUM_VALUES, faults=faults
        )
        said = training.hear_all()
        status = training.wait()
        await_free(self._store)
        if self._newest_whole() is None and self._damaged:
            assert status == 1  # NoCheckpointError: nobody should start from nothing unawares
        else:
            assert status == (-9 if faults else 0)
            assert ("restored", self._newest_whole()) in said
        return said

    def _commit(self, step: int) -> None:
        self._committed = [each for each in self._committed if each != step] + [step]
        self._damaged.discard(step)

    def _prune(self, keep: int) -> None:
        """What is damaged in its middle counts as committed; the newest has been read back."""
        gone = self._committed[:-keep]
        self._committed = self._committed[-keep:]
        self._damaged -= set(gone)

    def _can_restore(self) -> bool:
        return self._newest_whole() is not None or not self._damaged

    @precondition(_can_restore)
    @rule(num_steps=st.integers(1, 3), keep=st.integers(1, 3))
    def save(self, num_steps: int, keep: int) -> None:
        steps = [self._last_step + 1 + each for each in range(num_steps)]
        self._last_step += num_steps
        said = self._train(steps, keep)
        for step in steps:
            assert ("committed", step) in said
            self._commit(step)
            self._prune(keep)
        assert_swept(self._store)

    @precondition(lambda self: self._committed and self._can_restore())
    @rule(data=st.data())
    def save_a_step_again(self, data: st.DataObject) -> None:
        step = data.draw(st.sampled_from(self._committed))
        self._train([step], 3)
        self._commit(step)
        self._prune(3)

    @precondition(_can_restore)
    @rule(phase=st.sampled_from(TRAINER_PHASES))
    def kill_the_trainer(self, phase: str) -> None:
        self._last_step += 1
        self._train([self._last_step], 3, f"kill@{phase}")
        if phase not in BEFORE_STAGED:
            self._commit(self._last_step)
            self._prune(3)

    @precondition(_can_restore)
    @rule(phase=st.sampled_from(NEEDS_IT_ALL))
    def kill_both(self, phase: str) -> None:
        self._last_step += 1
        self._train([self._last_step], 3, f"kill@sent,kill@{phase}")
        if phase not in BEFORE_NAMED:
            self._commit(self._last_step)

    @precondition(lambda self: self._committed)
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """In a storage: only who reads it all can know."""
        step = data.draw(st.sampled_from(self._committed))
        if step in self._damaged:
            return
        with path_of(self._store, step).open("r+b") as file:
            file.seek(5000)
            (byte,) = file.read(1)
            file.seek(5000)
            file.write(bytes([byte ^ 1]))
        self._damaged.add(step)

    @precondition(lambda self: self._committed)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        step = data.draw(st.sampled_from(self._committed))
        path_of(self._store, step).unlink()
        self._committed.remove(step)
        self._damaged.discard(step)

    @invariant()
    def the_store_is_the_model(self) -> None:
        assert [each.step for each in newest_first(self._store)] == self._committed[::-1]
        for checkpoint in checkpoints_in(self._store):
            if checkpoint.step in self._damaged:
                with pytest.raises(DamagedError):
                    verify(checkpoint.path)
            else:
                verify(checkpoint.path)
                assert_holds(checkpoint.path, checkpoint.step)

    def teardown(self) -> None:
        shutil.rmtree(self._folder)


def test_a_store_behaves_as_its_model(zygote: Zygote) -> None:
    StoreMachine.zygote = zygote
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=4,
            stateful_step_count=6,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take hours
            suppress_health_check=list(HealthCheck),
        ),
    )
