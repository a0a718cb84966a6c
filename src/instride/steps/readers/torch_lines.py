"""Lines that torch and DeepSpeed print into the log of any trainer.

torch._dynamo hit config.recompile_limit (8)
Recompiling function forward in model.py:12
2 pytorch allocator cache flushes since last step. this happens when there is high memory ..
3 CUDA memory allocation retries.
"""

from __future__ import annotations

import re

from instride.steps.model import EventKind

TEXTS = (
    ("torch._dynamo hit config.", EventKind.COMPILE),
    ("Recompiling function ", EventKind.COMPILE),
    ("allocator cache flushes since last step", EventKind.FLUSH),
    ("memory allocation retries", EventKind.FLUSH),
)
RETRIES = re.compile(r"(?<![\d.])(\d{1,9}) (?:[A-Z]{2,8} )?memory allocation retries")


def holds_any(block: str) -> bool:
    """Whether one of these lines is in a block; most blocks have none, so that this is all."""
    return any(text in block for text, _ in TEXTS)


class TorchLines:
    """Tells what these lines mark; retries are counted since the start of the process."""

    def __init__(self) -> None:
        self._retries = 0

    def told(self, line: str) -> EventKind | None:
        kind = next((kind for text, kind in TEXTS if text in line), None)
        if kind is EventKind.FLUSH and (found := RETRIES.search(line)):
            before, self._retries = self._retries, int(found[1])
            return None if before == self._retries else kind
        return kind
