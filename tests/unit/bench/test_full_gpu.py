"""A full GPU of the benchmark is one: no snapshot finds room there, and optimizers wait for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from instride.bench.child import NUM_BLOWS, hammer  # noqa: E402 - needs torch
from instride.bench.gpu_training import SIZES, GpuTraining  # noqa: E402
from instride.bench.names import BYTES_A_PARAM, OURS, OURS_WITHOUT_ROOM  # noqa: E402
from instride.bench.orders import Hammered, Order, Task  # noqa: E402
from instride.bench.training import Training  # noqa: E402
from instride.bench.ways import WAYS  # noqa: E402
from instride.bench.ways import ours as ways_of_ours  # noqa: E402
from instride.bench.ways.ours import LEFT_BYTES, filling_bytes, refuse_room  # noqa: E402
from instride.saver.beating import Beats  # noqa: E402
from instride.snapshot.blocks import block_bytes_for  # noqa: E402
from instride.snapshot.device_memory import DeviceMemory  # noqa: E402
from instride.snapshot.late import Promise, wholly_promised  # noqa: E402

pytestmark = pytest.mark.torch

GIB = 1 << 30
CAPACITY = 140 * GIB
DEVICE = torch.device("cuda", 0)


class Device:
    """The memory of a GPU as the driver and the allocator of torch count it."""

    def __init__(self, state_bytes: int, activations_bytes: int) -> None:
        self.reserved_bytes = self.peak_bytes = state_bytes + activations_bytes

    @property
    def free_bytes(self) -> int:
        return CAPACITY - self.reserved_bytes

    def take(self, num_bytes: int) -> None:
        self.reserved_bytes += num_bytes
        self.peak_bytes = max(self.peak_bytes, self.reserved_bytes)

    def empty_cache(self, num_bytes: int) -> None:
        self.reserved_bytes -= num_bytes

    def stand_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, stand_in in {
            "get_allocator_backend": lambda: "native",
            "mem_get_info": lambda device=None: (self.free_bytes, CAPACITY),
            "memory_stats_as_nested_dict": lambda device: {
                "reserved_bytes": {"all": {"current": self.reserved_bytes, "peak": self.peak_bytes}}
            },
            "get_per_process_memory_fraction": lambda device: 1.0,
        }.items():
            monkeypatch.setattr(torch.cuda, name, stand_in)


@pytest.mark.parametrize(
    ("size", "activations_bytes"),
    [pytest.param(SIZES[0], GIB, id="hammered"), pytest.param(SIZES[-1], 40 * GIB, id="timed")],
)
def test_a_gpu_that_was_filled_has_room_for_no_snapshot_and_no_part_of_one(
    size: Any, activations_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_bytes = size.num_params * BYTES_A_PARAM
    device = Device(state_bytes, activations_bytes)
    device.stand_in(monkeypatch)
    memory, block_bytes = DeviceMemory(DEVICE), block_bytes_for(state_bytes)
    assert memory.has_room(state_bytes)
    with pytest.raises(RuntimeError, match="was to be full"):
        refuse_room(DEVICE)

    device.take(filling_bytes(device.free_bytes))

    refuse_room(DEVICE)
    for empty_bytes in (0, activations_bytes // 2):  # what was given back is wanted again
        device.empty_cache(empty_bytes)
        assert not memory.has_room(state_bytes)
        assert memory.take(block_bytes, -(-state_bytes // block_bytes)) is None


def test_what_stayed_free_before_was_room_for_the_hammered_state_and_a_part_of_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the arithmetic above would find no room anywhere."""
    device = Device(GIB, GIB)
    device.stand_in(monkeypatch)
    device.take(device.free_bytes - (3 << 29))
    assert DeviceMemory(DEVICE).has_room(SIZES[0].num_params * BYTES_A_PARAM)
    assert DeviceMemory(DEVICE).has_room(block_bytes_for(SIZES[-1].num_params * BYTES_A_PARAM))


def test_what_is_read_back_under_the_hammer_fits_beside_the_filling() -> None:
    assert 4 * SIZES[0].num_params * BYTES_A_PARAM < LEFT_BYTES


def on_a_cpu(device: str, num_params: int) -> Training:
    return Training(num_params)


def smallest_gpt(device: str, num_params: int) -> Training:
    training = GpuTraining(num_params, "cpu", is_synced=True)
    training._texts = training._texts[:, :1, :9]  # a step takes no second
    return training


@pytest.mark.parametrize("make", [on_a_cpu, smallest_gpt])
def test_before_every_blow_all_of_the_state_was_promised_to_be_late(
    make: Callable[[str, int], Training], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no room, all of it is copied late, and a blow has to wait for that."""
    made: list[Training] = []
    late: list[bool] = []
    promise_of = Beats._promise

    def promised(beats: Beats) -> Promise:
        promise = promise_of(beats)
        state = [*made[-1].model.parameters(), *made[-1].tensors()[_num_parameters(made[-1]) :]]
        storages = {tensor.untyped_storage().data_ptr() for tensor in state}
        late.append(bool(storages) and storages == set(wholly_promised(promise(), state)))
        return promise

    def make_and_note(device: str, num_params: int) -> Training:
        made.append(make(device, num_params))
        return made[-1]

    monkeypatch.setattr(Beats, "_promise", promised)
    monkeypatch.setattr("instride.bench.child.training_on", make_and_note)
    order = Order(Task.HAMMER, str(tmp_path), OURS, num_params=1)
    assert hammer(order, tmp_path) == Hammered(NUM_BLOWS, NUM_BLOWS)
    assert late == [True] * NUM_BLOWS


def _num_parameters(training: Training) -> int:
    return len(list(training.model.parameters()))


def test_a_blow_comes_behind_the_hooks_of_an_optimizer() -> None:
    training = Training(1)
    with torch.no_grad():
        training.model[0].weight.fill_(3.0)
    seen: list[float] = []
    training.optimizer.register_step_pre_hook(
        lambda *_: seen.append(float(training.tensors()[0].max()))
    )
    training.fill(7.0)
    assert seen == [3.0], "a hook ran, and nothing was overwritten before it"
    assert all(bool((tensor == 7.0).all()) for tensor in training.tensors())


def test_on_a_full_gpu_a_step_is_guarded_by_nothing_that_users_do_not_have() -> None:
    assert WAYS[OURS_WITHOUT_ROOM] is ways_of_ours.InstrideWithoutRoom
    assert ways_of_ours.InstrideWithoutRoom.guard is WAYS["none"].guard  # type: ignore[attr-defined]
