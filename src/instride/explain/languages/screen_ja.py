"""Japanese: the terminal."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.languages.screen import Around, RunFacts, ScreenWords, ended
from instride.explain.report import Confidence


class JapaneseScreen(ScreenWords):
    letters: ClassVar = "あア漢、。（）"
    table_heads: ClassVar[Mapping[str, str]] = {
        "time": "時間",
        "share": "割合",
        "steps": "ステップ",
        "typical": "標準",
        "worst": "最大",
    }
    screen_phrases: ClassVar[Mapping[str, str]] = {
        "where": "時間の内訳",
        "stdin": "標準入力",
        "joint": "評価と保存",
        "typical": "標準: 計算は1ステップ、ほかは停止1回の中央値",
        "twice": "（重複して数えるステップあり）",
        "picture": "ステップ時間の推移",
        "findings": "検出結果",
        "order": "（影響の大きい順）",
        "advice": "推奨する設定",
        "between": "プロセス間の停止（割合には含めない）",
        "following": "ログを追跡中（Ctrl+Cで終了）",
        "others": "その他の形式は instride explain LOG が推測します。",
        "describe": "推測が外れる場合は、ステップの行の形式を指定してください:",
    }
    sampling_labels: ClassVar[Mapping[str, str]] = {
        "every step": "各ステップの時間",
        "every k-th step": "kステップごとに1ステップの時間",
        "average over k steps": "kステップの平均",
        "running total": "累計",
        "totals only": "合計のみ",
    }
    pause_labels: ClassVar[Mapping[str, str]] = {
        "same": "停止時間は該当ステップの時間に含まれる",
        "next": "停止時間は次に出力される時間に含まれる",
        "none": "停止時間は出力されるどの時間にも含まれない",
        "smoothed": "停止時間は複数の値にならされる",
    }

    def show_files(self, first: str, num_others: int) -> str:
        return f"{first} ほか{self.number(num_others)}件"

    def show_run(self, facts: RunFacts) -> str:
        steps = f"ステップ{self.number(facts.first_step)}から{self.number(facts.last_step)}まで"
        logged = "全ステップを記録"
        if facts.every > 1:
            logged = f"{self.number(facts.every)}ステップごとに記録"
        again = ""
        if facts.num_restarts:
            again = f"、再起動{self.number(facts.num_restarts)}回"
        if facts.num_runs > 1:
            again = f"、学習{self.number(facts.num_runs)}回{again}"
        return f"{steps}（{logged}）{again}、総時間{self.seconds(facts.wall_s)}"

    def show_ordinary(self, seconds: float, spread_s: float) -> Around:
        spread = f" \N{PLUS-MINUS SIGN} {self.seconds(spread_s)}" if spread_s else ""
        return Around("通常の1ステップは", self.seconds(seconds), spread)

    def show_rhythm(self, period: int, longer: float) -> str:
        return f"{self.number(period)}ステップに1回は{self.percent(longer)}長い（ループ本来の周期）"

    def show_nothing(self, share: float) -> Around:
        least = f"{self.number(100 * share)}%"
        return Around(
            "", "改善の余地はありません", f"。時間の{least}を超える停止は見当たりません。"
        )

    def show_verdict(
        self, share: float, is_of_wall: bool, confidence: Confidence, rung: str
    ) -> str:
        of_wall = "総時間の" if is_of_wall else ""
        told = "" if confidence == "low" else f"（{self.rungs[rung]}）"
        return f"{of_wall}{self.percent(share)}、{self.labels[confidence]}{told}。"

    def show_remedy(self, remedy: str) -> str:
        return f"対策: {remedy}。"

    def show_saving(self, seconds: float) -> str:
        return f"最大{self.seconds(seconds)}の短縮"

    def show_alternative(self, what: str, how: str) -> str:
        return f"ほかの可能性: {what}。確認方法: {how}。"

    def show_more(self, count: int) -> str:
        return f"ほか{self.number(count)}件（--json ですべて表示）"

    def show_line(self, number: int) -> str:
        return f"{number}行目: "

    def show_gaps(self, sentences: Sequence[str]) -> str:
        return "不明な点: " + "".join(ended(sentences, "。"))

    def show_next(self, command: str) -> Around:
        return Around("次のコマンド: ", command, "   全区間をプログラム向けに出力")

    def show_times(self, sampling: str, pauses: str) -> str:
        return f"{self.sampling_labels[sampling]}。{self.pause_labels[pauses]}"

    def show_waiting(self, name: str) -> str:
        return f"{name} を待っています"

    def show_nothing_yet(self, reason: str) -> str:
        return f"まだ表示できるものがありません: {reason}"
