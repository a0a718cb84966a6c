"""Ways of saving by name, and how much of each is measured: what `--help` needs to know."""

from __future__ import annotations

NOTHING = "none"
NOTHING_AGAIN = "none again"
OURS = "instride"
NAMES = (
    NOTHING,
    NOTHING_AGAIN,
    "torch.save",
    "dcp.save",
    "dcp.async_save",
    "dcp.async_save process",
    "torch_checkpointing",
    "lightning",
    OURS,
)
"""Every way of saving, in the order of the table."""
DEFAULT_PARAMS = 90_000_000
"""Twelve bytes of state each: a gigabyte."""
DEFAULT_ROUNDS = 2
FEWEST_STEPS = 10
FEWEST_STEPS_OF_NOTHING = 30
"""Rows that save nothing show the noise, of windows about as long as those of the others."""
SAVES_A_ROUND = 3
FEWEST_SAVES = 5
"""A median of fewer is no result."""


def saves_nothing(way: str) -> bool:
    return way in (NOTHING, NOTHING_AGAIN)
