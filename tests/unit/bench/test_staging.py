"""The stager of DCP that is benchmarked keeps its memory, by whichever torch it is called."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.distributed.checkpoint.staging import (  # noqa: E402 - needs torch
    DefaultStager,
    StagingOptions,
)

from instride.bench.training import Training  # noqa: E402
from instride.bench.ways.contract import tensors_in  # noqa: E402
from instride.bench.ways.dcp import DcpPinned  # noqa: E402
from instride.bench.ways.staging import KeptStager  # noqa: E402

pytestmark = pytest.mark.torch


class ClosedBehindEach(DefaultStager):
    """As torch 2.11 has it: what a stager keeps is closed at the end of each staging."""

    def _stage(self, state_dict: Any, **kwargs: Any) -> Any:
        staged = super()._stage(state_dict, **kwargs)
        self._state_dict_stager.close()
        return staged


class KeptAllTheSame(KeptStager, ClosedBehindEach):
    """Ours, by that torch."""


def options(*, is_async: bool = False) -> StagingOptions:
    return StagingOptions(
        use_pinned_memory=False,
        use_shared_memory=False,
        use_async_staging=is_async,
        use_non_blocking_copy=False,
    )


def staged(stager: DefaultStager, state: dict[str, Any]) -> dict[str, Any]:
    found = stager.stage(state)
    whole = found.result() if isinstance(found, Future) else found
    assert isinstance(whole, dict)
    return whole


def places(state: dict[str, Any]) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors_in(state)]


@pytest.fixture
def state() -> dict[str, Any]:
    return Training(1).state()


def test_what_is_kept_from_others_is_lost_and_they_do_not_stage_again(
    state: dict[str, Any],
) -> None:
    stager = ClosedBehindEach(options())
    staged(stager, state)
    with pytest.raises(KeyError, match="type"):
        staged(stager, state)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", [KeptStager, KeptAllTheSame])
def test_memory_is_used_again_until_the_benchmark_ends_it(
    kind: type[KeptStager], is_async: bool, state: dict[str, Any]
) -> None:
    stager = kind(options(is_async=is_async))
    first = staged(stager, state)
    stager.close()  # what torch may do at the end of a save
    second = staged(stager, state)
    assert places(first) == places(second)
    assert places(first) != places(state)
    kept = stager._state_dict_stager
    assert len(kept._cached_storage_mapping) == len(places(state))
    stager.end()
    assert len(kept._cached_storage_mapping) == 0
    assert not kept._deepcopy_dispatch
    if is_async:
        with pytest.raises(RuntimeError, match="after shutdown"):
            stager.stage(state)


class PinnedOnACpu(DcpPinned):
    """Without locked memory, which needs a GPU."""

    def _make_stager(self) -> Any:
        return KeptAllTheSame(options())


def test_saves_of_torch_share_the_memory_of_the_first(tmp_path: Path) -> None:
    training = Training(1)
    way = PinnedOnACpu(training, tmp_path)
    cached = way._stager._state_dict_stager._cached_storage_mapping
    seen = []
    for number in (1, 2, 3):
        training.fill(float(number))
        way.save(number).wait()
        seen.append(sorted(storage.data_ptr() for storage in cached.values()))
        assert all(bool((tensor == number).all()) for tensor in way.load(number))
    assert seen[0]
    assert seen[0] == seen[1] == seen[2]
    way.close()
    assert len(cached) == 0
