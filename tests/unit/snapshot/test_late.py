"""Which storages may be copied late, and whose writing to them is seen. Memory of the host stands
for that of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from instride.snapshot.crossing import Crossing
from instride.snapshot.late import ChangedError, LateCopy, wholly_promised

pytestmark = pytest.mark.torch


def parameter() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.zeros(8))


def test_what_was_promised_is_late_and_nothing_else() -> None:
    mine, others, elsewhere = parameter(), parameter(), parameter()
    found = wholly_promised([mine, elsewhere], [mine, others])
    assert list(found) == [mine.data_ptr()]


def test_a_parameter_may_be_there_twice() -> None:
    """As tied weights are, and those that two optimizers have."""
    tied = parameter()
    found = wholly_promised([tied, tied], [tied, tied])
    assert list(found) == [tied.data_ptr()]


@pytest.mark.parametrize(
    "shown",
    [
        lambda whole: whole.detach()[2:4],
        lambda whole: whole.data[2:4],
        lambda whole: whole.detach(),
        lambda whole: whole.data,
        lambda whole: whole.detach().view(torch.int32),
    ],
    ids=["a part", "a part, uncounted", "all of it", "all of it, uncounted", "other numbers"],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_another_tensor_lies_in_is_not_late(
    shown: Callable[[torch.Tensor], torch.Tensor], is_first: bool
) -> None:
    whole, other = parameter(), parameter()
    saved = [whole, shown(whole)]
    found = wholly_promised([whole, other], [other, *(saved[::-1] if is_first else saved)])
    assert list(found) == [other.data_ptr()]


def test_parameters_that_lie_in_one_memory_are_late_if_all_of_them_were_promised() -> None:
    flat = torch.zeros(8)
    first, second = torch.nn.Parameter(flat[:3]), torch.nn.Parameter(flat[3:])
    assert list(wholly_promised([first, second], [first, second])) == [flat.data_ptr()]
    assert wholly_promised([first], [first, second]) == {}


@pytest.mark.parametrize("number", [0, 1])
def test_whoever_writes_to_one_of_the_tensors_of_a_memory_is_seen(number: int) -> None:
    flat = torch.zeros(8)
    both = [torch.nn.Parameter(flat[:3].data), torch.nn.Parameter(flat[3:].data)]
    share: Any = SimpleNamespace(source=flat.view(torch.uint8))
    late = LateCopy(cast(Crossing, None))
    late.begin([share, share], wholly_promised(both, both))
    with torch.no_grad():
        both[number].add_(1)
    with pytest.raises(ChangedError, match="something wrote to a parameter"):
        late.copy()


def test_what_somebody_else_wrote_is_seen_also_while_an_optimizer_looks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weight = parameter()
    share: Any = SimpleNamespace(source=weight.data.view(torch.uint8))
    late = LateCopy(cast(Crossing, None))
    late.begin([share], wholly_promised([weight], [weight]))
    late._is_issued.set()
    now = late._now
    refused: list[bool] = []

    def look_slowly() -> object:
        monkeypatch.setattr(late, "_now", now)
        with pytest.raises(ChangedError):
            late.copy()
        refused.append(True)
        return now()

    with torch.no_grad():
        weight.add_(1)
    monkeypatch.setattr(late, "_now", look_slowly)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    late.fence(torch.device("cuda", 0))
    assert refused == [True]


def test_an_optimizer_that_comes_as_all_is_over_says_nothing_of_the_next_save(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By then nothing is kept of what it would look at."""
    weight = parameter()
    share: Any = SimpleNamespace(source=weight.data.view(torch.uint8))
    copied: list[object] = []
    late = LateCopy(cast(Crossing, None))
    monkeypatch.setattr(late, "_copy", lambda: copied.append(share))
    now = late._now

    def end_first() -> object:
        late.end()
        return now()

    late.begin([share], wholly_promised([weight], [weight]))
    with monkeypatch.context() as over:
        over.setattr(late, "_now", end_first)
        over.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
        late.fence(torch.device("cuda", 0))
    late.begin([share], wholly_promised([weight], [weight]))
    late.copy()
    assert copied == [share]
