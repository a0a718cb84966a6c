"""Japanese: packs."""

# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from typing import ClassVar

from instride.explain.languages.packs import PackWords


class JapanesePacks(PackWords):
    pack_kept: ClassVar = "元のファイルは残します（`latest` が指しています）"

    def pack_made(self, original_bytes: int, pack_bytes: int) -> str:
        share = self.percent(pack_bytes / max(1, original_bytes))
        return f"{self.bytes(original_bytes)} → {self.bytes(pack_bytes)}、{share}"

    def pack_base(self, base: str, same_bytes: int) -> str:
        same = (
            f"{self.bytes(same_bytes)}は変更なし"
            if same_bytes
            else "すべてのブロックに変更があります"
        )
        return f"ベース {base}: {same}。読み込みに必要なので残しておいてください。"

    def pack_mark(self, ratio: float, base: str | None) -> str:
        return f"圧縮 {self.percent(ratio)}" + (f", ベース {base}" if base else "")

    def pack_undone(self, path: str, num_bytes: int) -> str:
        return f"{path}: {self.bytes(num_bytes)}、最後の1バイトまで元どおりです"
