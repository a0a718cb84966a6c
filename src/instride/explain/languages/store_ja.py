"""Japanese: checkpoints."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.store import StoreWords


class JapaneseStore(StoreWords):
    store_phrases: ClassVar[Mapping[str, str]] = {
        "step": "ステップ",
        "size": "サイズ",
        "age": "経過",
        "metric": "指標",
        "paid": "停止",
        "durable": "確定まで",
        "newest": "最新",
        "latest": "latest",
        "whole": "正常",
        "foreign": "対象外",
        "damaged": "破損",
        "unreadable": "読み取り不可",
        "baseless": "ベースなし",
        "kept": "残す",
        "gone": "削除済み",
        "going": "削除対象",
        "nobody": "現在ここに保存している学習はありません",
        "ends": "停止: 保存のために学習が待った時間。確定まで: ディスクに確実に書かれるまでの時間。"
        "比べたのは末尾とサイズだけで、全バイトではありません。",
        "empty": "ここにチェックポイントはありません。",
        "stale": "`latest`は最新のものへのリンクではなくファイルです。開くと以前の状態"
        "が得られます。別の名前にしてください:",
        "next": "次のコマンド: ",
        "next.verify": "全バイトを照合",
        "next.explain": "時間の行き先を表示",
        "next.doctor": "学習前にディスクを確認",
        "next.list": "何があるかを表示",
        "next.closed": "読み取り権限を表示",
        "next.unpack": "元のファイルを1バイトも違わず復元します",
        "next.prune": "実際に削除",
        "next.load": "中身を表示",
    }
    store_units: ClassVar[Mapping[str, str]] = {"s": "秒", "min": "分", "h": "時間", "d": "日"}

    def store_contents(self, count: int, num_bytes: int) -> str:
        return f"チェックポイント{self.number(count)}個、{self.bytes(num_bytes)}"

    def store_owner(self, host: str, pid: int, is_training: bool, is_here: bool) -> str:
        if not is_here:
            return (
                f"最後にここへ保存した学習は {host} のPID {pid} です。まだ動いているかもしれません"
            )
        if is_training:
            return f"{host} の学習（PID {pid}）がここに保存しています"
        return f"{host} のプロセス{pid}が、終了した学習の書き込みを仕上げています"

    def store_leftovers(self, count: int, num_bytes: int, is_owned: bool) -> str:
        files = f"未完成のファイル{self.number(count)}個（{self.bytes(num_bytes)}）"
        if is_owned:
            return f"{files}を書き込み中です。"
        return f"{files}が異常終了で残っています。次の学習が削除します。"

    def store_strays(self, count: int, num_bytes: int) -> str:
        return (
            f"チェックポイントのないマニフェスト{self.number(count)}個（{self.bytes(num_bytes)}）が"
            "残っています。次の学習が削除します。"
        )

    def store_verdict(self, num_whole: int, num_bytes: int) -> str:
        return (
            f"チェックポイント{self.number(num_whole)}個は、最後の1バイトまで書き込み時のままです"
            f"（{self.bytes(num_bytes)}を読み取り）。"
        )

    def store_not_compared(self, count: int) -> str:
        return f"マニフェストのないファイル{self.number(count)}個は照合していません。"

    def store_damage(self, num_damaged: int) -> str:
        return f"チェックポイント{self.number(num_damaged)}個が壊れています。"

    def store_unreadable(self, count: int) -> str:
        return f"チェックポイント{self.number(count)}個を読み取れません。"

    def store_pieces(self, why: str, num_damaged: int, num_pieces: int) -> str:
        return f"{why}（{self.number(num_pieces)}片中{self.number(num_damaged)}片）"

    def store_pruned(self, count: int, num_bytes: int, num_kept: int, is_dry: bool) -> str:
        if not count:
            return f"削除するものはありません。{self.number(num_kept)}個すべてを残します。"
        what = f"チェックポイント{self.number(count)}個（{self.bytes(num_bytes)}）"
        end = "が削除対象です" if is_dry else "を削除しました"
        return f"{what}{end}。{self.number(num_kept)}個が残ります。"

    def store_base_of(self, steps: str, num_others: int) -> str:
        return f"残す（{steps}{self._more(num_others)}のベース）"

    def store_foreign(self, count: int) -> str:
        return (
            f"マニフェストのないファイル{self.number(count)}個には触れません（instrideのものでは"
            "ないか、隠しフォルダー `.instride` なしのコピーです）。"
        )

    def store_exported(self, count: int, num_bytes: int, path: str) -> str:
        return f"テンソル{self.number(count)}個（{self.bytes(num_bytes)}）を書き出しました: {path}"

    def store_copied(self, names: str, num_others: int) -> str:
        return (
            "この形式はメモリの共有を表せないため、1つずつ書き出しました: "
            f"{names}{self._more(num_others)}。"
        )

    def store_left_out(self, names: str, num_others: int) -> str:
        return f"テンソルではないため除きました: {names}{self._more(num_others)}。"

    def _more(self, count: int) -> str:
        return f"、ほか{self.number(count)}個" if count else ""
