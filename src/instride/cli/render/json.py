"""The JSON that programs read."""

from __future__ import annotations

from typing import TextIO

import msgspec


def write(report: msgspec.Struct, out: TextIO) -> None:
    """Print the report, indented: people look at it too."""
    out.write(msgspec.json.format(msgspec.json.encode(report), indent=1).decode())
    out.write("\n")
