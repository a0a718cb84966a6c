"""English: packs."""

from __future__ import annotations

from typing import ClassVar

from instride.explain.languages.packs import PackWords


class EnglishPacks(PackWords):
    pack_kept: ClassVar = "the original stays: `latest` points to it"

    def pack_made(self, original_bytes: int, pack_bytes: int) -> str:
        share = self.percent(pack_bytes / max(1, original_bytes))
        return f"{self.bytes(original_bytes)} to {self.bytes(pack_bytes)}, {share}"

    def pack_base(self, base: str, same_bytes: int) -> str:
        same = f"{self.bytes(same_bytes)} unchanged" if same_bytes else "every block changed"
        return f"against {base}: {same}. It is needed to read this one: keep it."

    def pack_mark(self, ratio: float, base: str | None) -> str:
        return f"packed to {self.percent(ratio)}" + (f", base {base}" if base else "")

    def pack_undone(self, path: str, num_bytes: int) -> str:
        return f"{path}: {self.bytes(num_bytes)}, to the last byte as it was"
