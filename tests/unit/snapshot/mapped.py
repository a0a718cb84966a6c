"""What of an arena is mapped into this process."""

from __future__ import annotations

import re
from pathlib import Path

from instride.snapshot.arena import Arena

MAPPING = re.compile(r"^([0-9a-f]+)-[0-9a-f]+ ")
RESIDENT = re.compile(r"^Rss: +(\d+) kB")


def resident_bytes(arena: Arena) -> int:
    """So much of what the arena maps now can be touched without a fault."""
    first = arena.memory.data_ptr()
    start = found_bytes = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if mapping := MAPPING.match(line):
            start = int(mapping[1], 16)
        elif first <= start < first + arena.num_bytes and (resident := RESIDENT.match(line)):
            found_bytes += int(resident[1]) << 10
    return found_bytes


def stripes_mapped() -> int:
    """Of all arenas that there are."""
    return Path("/proc/self/maps").read_text().count("instride-arena")
