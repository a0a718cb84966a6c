"""Ways of saving by name, and how much of each is measured: what `--help` needs to know."""

from __future__ import annotations

NOTHING = "none"
NOTHING_AGAIN = "none again"
PAUSE = "none with a pause"
"""As long as a full GPU waits for the bus: what the rest itself does to the steps behind it."""
OURS = "instride"
OURS_AT_ONCE = "instride at once"
"""With the whole machine for its budget: what the work costs shows in a few steps, instead of being
spread over so many that the noise of these is larger."""
OURS_WITHOUT_ROOM = "instride full GPU"
NAMES = (
    NOTHING,
    NOTHING_AGAIN,
    PAUSE,
    "torch.save",
    "dcp.save",
    "dcp.async_save",
    "dcp.async_save process",
    "dcp.async_save pinned",
    "dcp.async_save overlapped",
    "torch_checkpointing",
    "lightning",
    OURS,
    OURS_AT_ONCE,
    OURS_WITHOUT_ROOM,
)
"""Every way of saving, in the order of the table."""
ONLY_ON_A_GPU = (PAUSE, "dcp.async_save pinned", "dcp.async_save overlapped", OURS_WITHOUT_ROOM)
ONLY_ON_A_CPU = (OURS_AT_ONCE,)
DEVICES = ("cpu", "cuda")
BYTES_A_PARAM = 12
"""Of state: the parameter and its two moments."""
DEFAULT_PARAMS = 90_000_000
"""A gigabyte of state."""
DEFAULT_ROUNDS = 2
FEWEST_STEPS = 10
STEPS_BETWEEN_SAVES = 10
"""Of a training that saves often."""
FEWEST_STEPS_OF_NOTHING = 20
"""Rows that save nothing show the noise, of windows about as long as those of the others."""
MOST_STEPS = 200
MOST_STEPS_ON_A_GPU = 40
"""Of a window without a save: steps on a GPU hardly differ."""
MOST_STEPS_BESIDE_A_RIVAL = 15
"""The same where a save costs seconds, and not some hundredths of one."""
MOST_SAVES_OF_A_RIVAL = 2
"""Of one process on a GPU, where each takes half a minute."""
STEPS_TO_PREPARE = 20
"""Between the making of a way and its first save on a GPU: memory is asked for meanwhile."""
STEPS_THAT_PREPARE = {OURS: 40, OURS_WITHOUT_ROOM: 60}
"""In which everything has been prepared: on a full GPU much memory is locked, and gently."""
TIMES_TO_PREPARE = {OURS: 3, OURS_WITHOUT_ROOM: 1}
NUM_IDLE_SAVES = 3
SAVES_A_ROUND = 3
FEWEST_SAVES = 5
"""A median of fewer is no result."""


def names_on(device: str) -> list[str]:
    """The ways that there are on a device."""
    elsewhere = ONLY_ON_A_GPU if device == "cpu" else ONLY_ON_A_CPU
    return [name for name in NAMES if name not in elsewhere]


def is_ours(way: str) -> bool:
    return way in (OURS, OURS_AT_ONCE, OURS_WITHOUT_ROOM)


def is_rival(way: str) -> bool:
    return not saves_nothing(way) and not is_ours(way)


def saves_nothing(way: str) -> bool:
    return way in (NOTHING, NOTHING_AGAIN, PAUSE)
