"""What the agent has to do without on this machine: said once, when it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from instride.agent.configuration import Configuration
from instride.agent.waking import can_watch, has_events
from instride.governor.gpu import is_unseen


def lacks(configuration: Configuration, directories: Iterable[Path]) -> Iterator[str]:
    """A sentence each."""
    every = f"{configuration.interval_s:g} s"
    if not can_watch():
        yield (
            f"looking every {every}; with `watchfiles` (`pip install 'instride[agent]'`) the agent "
            "wakes up by itself"
        )
    for directory in directories:
        if directory.is_dir() and not has_events(directory):
            yield f"{directory} tells of no changes: a look every {every}"
    if configuration.budget is not None and configuration.log is None and is_unseen():
        yield (
            "how busy the GPU is cannot be seen without `nvidia-ml-py` (`pip install "
            "'instride[gpu]'`); `--log` with what the training prints is better still"
        )
