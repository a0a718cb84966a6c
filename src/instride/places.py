"""Names inside a store that more than one part must know, the lowest of them too."""

from __future__ import annotations

PRIVATE = ".instride"
"""The directory inside a store that belongs to instride."""
JOURNAL = "journal.jsonl"
PACK = ".pack"
"""What the name of a pack ends with, behind that of its original."""
