"""A recording without anything in it."""

from __future__ import annotations

from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.recording import Recording


def recording() -> Recording:
    return Recording(NanoGPT.dialect)
