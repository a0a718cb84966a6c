"""A log that changes in every pause of the one who follows it."""

from __future__ import annotations

import re
from collections.abc import Callable

Action = Callable[[], object]


def nanogpt(first: int, last: int) -> str:
    return "".join(f"iter {n}: loss 2.5000, time 120.00ms, mfu 9.1%\n" for n in range(first, last))


class Script:
    """Stands in for sleep: each pause does the next thing to the log, the last is Ctrl-C."""

    def __init__(self, *actions: Action) -> None:
        self.actions = list(actions)
        self.pauses: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if not self.actions:
            raise KeyboardInterrupt
        self.actions.pop(0)()


def screens(printed: str) -> list[str]:
    """The last step on each screen that was shown."""
    return re.findall(r"^steps [\d,]+ to ([\d,]+), all logged", printed, re.MULTILINE)
