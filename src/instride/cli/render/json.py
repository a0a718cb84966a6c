"""The JSON that programs read."""

from __future__ import annotations

import sys

import msgspec


def print_json(answer: msgspec.Struct) -> None:
    """Print an answer, indented, as people look at it too: UTF-8, whatever the terminal speaks."""
    text = msgspec.json.format(msgspec.json.encode(answer), indent=1)
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text.decode() + "\n")
        return
    # Straight to the bytes: the answer to a long log has many megabytes, and one copy is enough.
    sys.stdout.flush()
    buffer.write(text)
    buffer.write(b"\n")
    buffer.flush()
