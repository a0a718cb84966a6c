"""Orbax: the same save in the words of its versions."""

from __future__ import annotations

import pytest

from instride.steps.readers.orbax import OrbaxSaves, Save

BEGUN = "[process=0] Saving checkpoint at step 40"


@pytest.mark.parametrize(
    "line",
    [
        "Finished blocking save in 5.55 seconds. Continuing to save asynchronously to /out/40.",
        "Finished blocking save in 5.55 seconds. Continuing to write to /out/40.",
        "[process=0] [sync] Finished blocking save in 5.55 seconds. Continuing save @ /out/40.",
        "Finished blocking save. Time taken: 5.550000s. Continuing background save to /out/40.",
        "Finished synchronous save in 5.55 seconds to /out/40",
        "[process=0] [sync] Finished save in 5.55 seconds @ /out/40",
    ],
)
def test_what_training_waited_for_is_known_with_its_step(line: str) -> None:
    saves = OrbaxSaves()
    assert saves.feed(1, BEGUN) is None
    assert saves.begun == (40, 1)
    assert saves.feed(2, line) == Save(40, 5.55, 2)
    assert saves.begun is None


@pytest.mark.parametrize(
    "line",
    [
        "Finished asynchronous save (blocking + background) in 36.45 seconds to /out/40",
        "Finished async_save (blocking + background). Time taken: 36.450000s. directory=/out/40",
        "[process=0] [async] Finished save in 36.45 seconds @ /out/40",
    ],
)
def test_the_end_in_the_background_is_told_apart(line: str) -> None:
    saves = OrbaxSaves()
    saves.feed(1, BEGUN)
    saves.feed(2, "Finished blocking save in 5.55 seconds.")
    assert saves.feed(3, line) == Save(None, 36.45, 3, is_whole=True)


@pytest.mark.parametrize(
    "line",
    [
        "Started async saving checkpoint to /out/40.",
        "[thread=save_finalize] Waiting for background save thread=async_save.",
        "Finished saving checkpoint (finalized tmp dir) to `/out/40`.",
        "Finished blocking save in",
        "",
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    saves = OrbaxSaves()
    assert saves.feed(1, line) is None
    assert saves.begun is None
