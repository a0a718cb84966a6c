"""French: packs."""

from __future__ import annotations

from typing import ClassVar

from instride.explain.languages.packs import PackWords


class FrenchPacks(PackWords):
    pack_kept: ClassVar = "l'original reste\u00a0: `latest` pointe dessus"

    def pack_made(self, original_bytes: int, pack_bytes: int) -> str:
        share = self.percent(pack_bytes / max(1, original_bytes))
        return f"de {self.bytes(original_bytes)} à {self.bytes(pack_bytes)}, {share}"

    def pack_base(self, base: str, same_bytes: int) -> str:
        same = f"{self.bytes(same_bytes)} inchangés" if same_bytes else "tous les blocs ont changé"
        return (
            f"par rapport à {base}\u00a0: {same}. Cette base est nécessaire à la lecture\u00a0: "
            "gardez-la."
        )

    def pack_mark(self, ratio: float, base: str | None) -> str:
        return f"réduit à {self.percent(ratio)}" + (f", base {base}" if base else "")

    def pack_undone(self, path: str, num_bytes: int) -> str:
        return f"{path}\u00a0: {self.bytes(num_bytes)}, identique au dernier octet près"
