"""The answer of `bench save`, in the shape of the JSON contract (schema 1).

`docs/reference/bench-save.schema.json` is generated from these structures and checked by a test.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

SCHEMA = 1


class Machine(msgspec.Struct, frozen=True):
    """Where it was measured."""

    cores: int
    cpu: str
    memory_bytes: int
    filesystem: str
    """Of the folder that was written to."""
    system: str
    python: str
    torch: str
    load: float
    """How many processes wanted a core in the minute before; from a quiet machine, nearly 0."""
    gpu: str | None = None


class Row(msgspec.Struct, frozen=True):
    """One way of saving; medians over its saves, unless a field says otherwise."""

    name: str
    torn: bool | None
    """A snapshot held something else than the moment of its call: these figures do not count. Null
    where nobody looked, because nothing is saved."""
    num_hammered: int
    """Snapshots behind which everything was overwritten, the moment the call returned."""
    num_whole: int
    """Those of them that held what they should."""
    synced: bool
    """Whether the file was on the disk when it was done, not only in the memory of the system."""
    num_saves: int
    call_s: float
    """What the call takes."""
    first_call_s: float
    """What the first call of a process takes."""
    cost_s: float
    """What training pays: the time from the call over the steps that follow, until nothing of the
    save goes on and ten steps have passed at least, less as many steps of the windows before and
    behind, in which nothing was saved."""
    cost_spread_s: float
    """Between the quarter of the saves that cost least and the quarter that cost most."""
    first_cost_s: float
    """The cost of the first save of a process."""
    later_cost_s: float
    """The cost of the others."""
    durable_s: float
    """From the call until the save is done, as the way itself says it, while nobody trains."""
    durable_beside_s: float
    """The same beside training that keeps every core busy."""
    first_durable_s: float
    """The same for the first save of a process."""
    worst_step_s: float
    """The longest step behind a save."""
    p50_inflation: float
    """The middle of all steps behind a save, by the mean of those without one around it."""
    p99_inflation: float
    """The same for the step that one in a hundred exceeds."""
    p99_later: float
    """From the second step behind a save on: what the step that one in a hundred exceeds takes more
    than the mean of those without a save around it; as a share of that."""
    max_later: float
    """The same for the longest step of all."""
    p99_around: float
    """The same as `p99_later` for the steps without a save around it."""
    peak_host_bytes: int | None
    """The most memory that the training and all its helper processes had at a time, above what
    the row `none` had; shared memory counts once, the cache of the filesystem not at all. Null
    where nobody looked."""
    first_early_cost_s: float
    """What the call and the first ten steps cost for the first save of a process."""
    early_cost_s: float
    """The same for later saves. Windows are ten times as long, and so is what drifts in them."""
    early_cost_spread_s: float
    """Between the quartiles of that, over all saves."""
    prepare_cost_s: float | None
    """What steps cost in all while a way prepares: on a GPU, of ours; null elsewhere. The most,
    where a process did it several times."""
    prepare_told_s: float | None
    """The same as `Saver.prepare_cost_s` tells it."""
    making_s: float | None
    """How long it takes to make a way that prepares, before any step; the most as well."""
    trace_s: list[float]
    """The steps around the last save: ten before it, and those behind it, the first of which
    begins with the call."""


class Floors(msgspec.Struct, frozen=True):
    """What no way of saving can be faster than on this machine."""

    memcpy_s: float
    """Copying as many bytes as the state has, between buffers that are in memory already."""
    direct_write_s: float | None
    """Writing as many bytes past the cache, in large pieces from several threads, and fsync. Null
    on a GPU, where `round_trip` tells it."""


class DeviceFloors(msgspec.Struct, frozen=True):
    """The same for a state that lies on a GPU."""

    copy_s: float
    """Copying as many bytes as the state has inside the memory of the device."""
    bus_s: float
    """Bringing them to memory of the host that is locked for the device."""


class Decided(msgspec.Struct, frozen=True):
    """What the governor of a writer set during a save, so that a slow one can be explained."""

    after_s: float
    """How long after the call; 0 for what held before it."""
    threads: int
    bytes_per_s: float | None
    """The limit of all threads together; null: as fast as it goes."""
    duty: float
    """The share of the time in which work was done."""
    reason: str
    """The rule that decided it, in a word."""


class RoundTrip(msgspec.Struct, frozen=True):
    """Saves of ours and the way back, in turn with bare writing and reading of as many bytes: a
    disk is not as fast now as it was a minute ago."""

    first_done_s: list[float]
    """Of saves beside training, the first of a `Saver` each."""
    done_s: list[float]
    """The same for the save behind it."""
    direct_write_s: list[float]
    """As in the floors, right behind these two, by as many threads as are quickest here."""
    direct_writes_s: dict[int, list[float]]
    """By so many threads, one after the other."""
    restore_s: list[float]
    """Into a training that was just made."""
    direct_read_s: list[float]
    """Reading the same file past the cache, in large pieces by several threads."""
    direct_reads_s: dict[int, list[float]]
    steps_before_s: list[float]
    """What a step took in the training that was saved: the mean of ten, several times."""
    steps_after_s: list[float]
    """The same in those that go on from there."""
    first_decided: list[list[Decided]]
    """By the governor, in each of the saves of `first_done_s`."""
    decided: list[list[Decided]]
    """The same for `done_s`."""
    prepare_told_s: list[float]
    """What `prepare_cost_s` of each `Saver` said at its end."""


class Often(msgspec.Struct, frozen=True):
    """A training with `when_busy="skip"` that asks for a save every ten steps, in turn with
    stretches in which it does not."""

    shares: list[float]
    """Of each stretch: what its saves cost until nothing of them goes on, by the steps around it;
    as a part of ten steps for each save that was taken."""
    num_saved: int
    num_skipped: int
    """Those for which the one before was still being written."""
    skipped_call_s: list[float]
    """What asking for each of these took, which is not among the shares."""
    noise: list[float]
    """What stretches without a save took beyond those around them, as if it were of one save."""


class LeftOut(msgspec.Struct, frozen=True):
    name: str
    why: str


class Goes(msgspec.Struct, frozen=True):
    """When it was measured, by commands that went on where one before them was stopped."""

    num_goes: int
    first: datetime
    """When the first answer came that is told of here."""
    last: datetime


class Report(msgspec.Struct, frozen=True):
    """What `instride bench save --json` prints."""

    schema: int
    machine: Machine
    state_bytes: int
    base_step_s: float
    """What a step of the row `none` takes."""
    rows: list[Row]
    floors: Floors
    left_out: list[LeftOut]
    """What is not installed, or failed."""
    planning_s: float | None
    """What instride does in a call before it copies, for 2,000 tensors, from the second save on;
    null where instride was left out."""
    beat_s: float | None
    """What `Saver.due` takes, which a loop calls every step."""
    device: str = "cpu"
    is_synced_loop: bool = True
    """Whether the loop waits for the device after every step, as many do."""
    device_floors: DeviceFloors | None = None
    forward_and_backward_s: float | None = None
    """What of a step on a device passes before its optimizer may change anything."""
    round_trip: RoundTrip | None = None
    often: Often | None = None
    goes: Goes | None = None
    """Null where this command measured all of it; otherwise the load of the machine is the highest
    of those at the start of each go."""
