"""German: packs."""

from __future__ import annotations

from typing import ClassVar

from instride.explain.languages.packs import PackWords


class GermanPacks(PackWords):
    pack_kept: ClassVar = "das Original bleibt: `latest` zeigt darauf"

    def pack_made(self, original_bytes: int, pack_bytes: int) -> str:
        share = self.percent(pack_bytes / max(1, original_bytes))
        return f"von {self.bytes(original_bytes)} auf {self.bytes(pack_bytes)}, {share}"

    def pack_base(self, base: str, same_bytes: int) -> str:
        same = f"{self.bytes(same_bytes)} unverändert" if same_bytes else "jeder Block geändert"
        return f"gegen {base}: {same}. Zum Lesen wird die Basis gebraucht: bitte aufheben."

    def pack_mark(self, ratio: float, base: str | None) -> str:
        return f"gepackt auf {self.percent(ratio)}" + (f", Basis {base}" if base else "")

    def pack_undone(self, path: str, num_bytes: int) -> str:
        return f"{path}: {self.bytes(num_bytes)}, bis aufs letzte Byte wie zuvor"
