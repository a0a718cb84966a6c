"""Japanese: the notes of readers."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.facts import Facts, count_of
from instride.explain.languages.notes import NoteWords


class JapaneseNotes(NoteWords):
    trainers: ClassVar[Mapping[str, str]] = {
        "unknown trainer (guessed)": "未知の学習プログラム（推測）",
        "your pattern": "指定されたパターン",
        "tqdm progress bar": "tqdm のプログレスバー",
        "MetricLogger of torchvision, DETR, DINO, MAE": "MetricLogger（torchvision、DETR、DINO、"
        "MAE）",
        "TensorBoard scalar (CSV or JSON)": "TensorBoard のスカラー値（CSV または JSON）",
        "Weights & Biases history (JSON lines or CSV)": "Weights & Biases の履歴（JSON Lines "
        "または CSV）",
    }
    guess_parts: ClassVar[Mapping[str, str]] = {
        "step": "ステップは{place}",
        "epoch": "エポックは{place}で通し番号に換算",
        "epoch.lines": "エポックは独立した行で通し番号に換算",
        "rate": "毎秒のステップ数は{place}",
        "microseconds": "マイクロ秒は{place}",
        "milliseconds": "ミリ秒は{place}",
        "seconds": "秒は{place}",
        "minutes": "分は{place}",
        "microseconds.between": "間の全ステップのマイクロ秒は{place}",
        "milliseconds.between": "間の全ステップのミリ秒は{place}",
        "seconds.between": "間の全ステップの秒は{place}",
        "minutes.between": "間の全ステップの分は{place}",
        "elapsed": "開始からの時間は{place}",
        "stamp": "時刻は{place}",
        "data": "データ待ちは{place}",
        "clock.dated": "時刻は各行",
        "clock.undated": "時刻は各行で日付なし",
        "nothing": "時間の記録なし",
    }
    guess_places: ClassVar[Mapping[str, str]] = {
        "after": "`{name}`の後",
        "before": "`{name}`の前",
        "column": "`{name}`の列",
        "nameless": "名前のない数値",
    }
    guess_gap: ClassVar[str] = "、"

    def unknown_note_guessed(self, f: Facts) -> str:
        return f"形式は推測によるものです（{self._guessed(f)}）。"

    def unknown_note_counted_dictionaries(self, f: Facts) -> str:
        every = self.number(count_of(f, "every"))
        return f"プログレスバーがないため、出力された辞書1件を{every}ステップと数えています。"

    def unknown_note_micro_batches(self, f: Facts) -> str:
        return (
            "ここでの1ステップは1マイクロバッチです。LitGPT が計測するのはオプティマイザの各"
            "ステップの最後のマイクロバッチで、オプティマイザの処理を含みます。"
        )

    def unknown_note_long_lines(self, f: Facts) -> str:
        length = self.number(count_of(f, "length"))
        return f"パターンの照合が遅いため、{length}文字を超える行は読み飛ばしました。"

    def unknown_note_no_timestamp(self, f: Facts) -> str:
        return f"グループ`time`の`{f['text']}`は、時刻として読み取れません。"

    def unknown_note_damaged_document(self, f: Facts) -> str:
        return "文書が壊れているため、読める項目だけを1件ずつ読みました。"

    def unknown_note_batch_size(self, f: Facts) -> str:
        size = self.number(count_of(f, "size"))
        return f"バッチサイズは、ログの数値から{size}サンプルと判断しました。"

    def unknown_note_no_batch_size(self, f: Facts) -> str:
        return "バッチサイズがログにないため、1ステップを1サンプルとみなしています。"

    def unknown_note_several_bars(self, f: Facts) -> str:
        name = f"`{f['name']}`のバー" if f["name"] else "名前のないバー"
        return f"長いプログレスバーが複数あるため、{name}を学習のものとみなしました。"

    def unknown_note_bar_an_epoch(self, f: Facts) -> str:
        return "エポックごとに別のバーが使われており、エポック間の時間はログに残っていません。"

    def unknown_note_several_jobs(self, f: Facts) -> str:
        kept, records = self.number(count_of(f, "kept")), self.number(count_of(f, "records"))
        return (
            "複数のジョブが同時にこのログへ書き込んでいるため、最も長いもの"
            f"（全{records}件中{kept}件）だけを対象にしています。"
        )

    def unknown_note_first_job(self, f: Facts) -> str:
        return "複数のジョブが同時にこのファイルへ書き込んでいるため、最初のものだけを読みました。"

    def unknown_note_cut_off(self, f: Facts) -> str:
        return f"{f['name']} は圧縮データの途中で終わっています。"

    def unknown_note_empty_file(self, f: Facts) -> str:
        return f"空のため除外したファイル: {f['name']}。"

    def unknown_note_same_steps(self, f: Facts) -> str:
        more = f" ほか{self.number(count_of(f, 'more'))}件" if f["more"] else ""
        return f"{f['kept']} と同じステップのため除外したファイル: {f['left_out']}{more}。"

    def unknown_note_other_run(self, f: Facts) -> str:
        return (
            f"{f['after']}は{f['before']}と同じくステップ{f['step']}から始まります。再起動ではなく"
            f"別の学習であれば、`{f['command']}`で比較してください。"
        )

    def unknown_note_failed_saves(self, f: Facts) -> str:
        count = self.number(count_of(f, "count"))
        return f"{count}回の保存が失敗しました。最後は {f['name']}（{f['why']}）です。"

    def unknown_note_counted_beats(self, f: Facts) -> str:
        counted = (
            "ループが `saver.due(step)` を呼んでいないため、オプティマイザの実行回数をステップと"
            "して数えています。"
        )
        if "begun_at" not in f:
            return counted
        return (
            f"{counted}ステップ{f['begun_at']}から始まるプロセスがどこから再開したかを示す行は"
            "ないため、最新の保存からとみなしています。"
        )

    def unknown_note_other_trainer(self, f: Facts) -> str:
        more = f"ほか{self.number(count_of(f, 'more'))}件" if f["more"] else ""
        return (
            f"{self.trainer(str(f['other']))}のログは{self.trainer(str(f['trainer']))}のログの"
            f"一部ではないため、読み込みませんでした: {f['left_out']}{more}。2つの学習の比較には"
            f"`{f['command']}`を使ってください。"
        )
