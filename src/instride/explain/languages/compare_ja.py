"""Japanese: two runs side by side."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.compared import Comparison, Group
from instride.explain.languages.compare import CompareWords
from instride.explain.languages.facts import Facts, number_of
from instride.explain.languages.screen import Around

SIDES = {"before": "変更前", "after": "変更後"}


class JapaneseCompare(CompareWords):
    sentence_gap: ClassVar = ""
    compare_phrases: ClassVar[Mapping[str, str]] = {
        "before": "変更前",
        "after": "変更後",
        "where": "時間の内訳",
        "findings": "検出結果",
        "as_before": "検出結果に変化はありません。",
        "log": "ログ",
        "steps": "ステップ数",
        "ordinary": "通常の1ステップ",
        "time": "時間",
        "share": "割合",
        "change": "差",
        "in_all": "合計",
        "closing": "終了時",
        "once": "1回のみ",
        "unclear": "?",
    }
    compare_changes: ClassVar[Mapping[str, str]] = {
        "gone": "解消",
        "new": "新規",
        "cheaper": "減少",
        "dearer": "増加",
    }
    compare_groups: ClassVar[Mapping[str, str]] = {
        "compute": "ステップ全体",
        "eval": "評価",
        "save": "保存",
        "aftermath": "保存後の遅延",
        "save+aftermath": "保存とその後の遅延",
        "eval+save": "評価と保存",
        "eval+save+aftermath": "評価・保存とその後の遅延",
        "data": "データ待ち",
        "unknown": "原因不明の遅いステップ",
    }
    compare_pauses: ClassVar[Mapping[str, str]] = {
        "eval": "評価",
        "save": "保存",
        "aftermath": "保存後の遅延",
        "data": "データ待ち",
        "unknown": "原因不明の遅いステップ",
    }

    def compare_rate_head(self) -> str:
        return f"秒/{self.compare_thousand()}"

    def compare_rate_note(self) -> str:
        return f"（{self.compare_rate_head()}: {self.compare_thousand()}ステップあたりの秒数）"

    def compare_total_head(self) -> str:
        return f"{self.compare_thousand()}ステップ"

    def compare_no_difference(self, step_s: float, share: float) -> str:
        return (
            f"差はありません。通常の1ステップは変更前と同じ{self.seconds(step_s)}で、"
            f"時間の{self.number(100 * share)}%以上増減した項目もありません。"
        )

    def compare_as_fast(self, step_s: float) -> str:
        return f"ステップの速さは変更前と同じです（{self.seconds(step_s)}）。"

    def compare_speed(self, before_s: float, after_s: float) -> str:
        share = self.percent(abs(after_s - before_s) / before_s)
        less = "減" if after_s < before_s else "増"
        return (
            f"通常の1ステップは{self.seconds(before_s)}から{self.seconds(after_s)}になりました"
            f"（{share}{less}）。"
        )

    def compare_costs(self, groups: Sequence[Group]) -> str:
        said = [
            f"{self.compare_groups[group.name]}は{self._compare_amount(group.before_s)}から"
            f"{self._compare_amount(group.after_s)}"
            for group in groups
        ]
        return f"{self.compare_thousand()}ステップあたり、{'、'.join(said)}になりました。"

    def compare_won(self, comparison: Comparison) -> str:
        share = self.percent(abs(comparison.won_share))
        result = "短縮" if comparison.won_share > 0 else "増加"
        return (
            f"全体では時間が{share}{result}しました。{self.compare_thousand()}ステップあたり"
            f"{self.seconds(abs(comparison.won_per_1000_s))}、変更前の"
            f"{self.number(comparison.before.num_steps)}ステップに換算すると"
            f"{self.seconds(abs(comparison.won_over_before_s))}です。"
        )

    def compare_even(self) -> str:
        return f"全体では、{self.compare_thousand()}ステップの所要時間は変更前と同じです。"

    def compare_once(self, before_s: float, after_s: float) -> str:
        return (
            f"開始時と終了時に1回だけかかる時間は{self._compare_amount(before_s)}から"
            f"{self._compare_amount(after_s)}になりました。"
        )

    def compare_finding(self, before_s: float | None, after_s: float | None, is_once: bool) -> str:
        unit = "1回のみ" if is_once else f"{self.compare_thousand()}ステップあたり"
        if before_s is not None and after_s is not None:
            return f"{unit}、{self.seconds(before_s)}から{self.seconds(after_s)}"
        return f"{unit}、{self.seconds(before_s or after_s or 0.0)}"

    def compare_more(self, count: int) -> str:
        return f"ほか{self.number(count)}件は変化なし、またはわずか（--json ですべて表示）"

    def compare_cannot(self, sentences: Sequence[str]) -> str:
        return "注意: " + "".join(sentences)

    def compare_next(self, command: str) -> Around:
        return Around("次の一手: ", command, "   残る改善の余地")

    def cannot_dialects(self, f: Facts) -> str:
        return (
            f"ログの形式が異なる（{self._trainers(f, '、')}）ため、ステップの数え方や測り方が"
            "違う可能性があります。"
        )

    def cannot_sampling(self, f: Facts) -> str:
        before, after = (self._compare_logged(f, side) for side in ("before", "after"))
        return (
            f"変更前は{before}、変更後は{after}の記録なので、個々の遅いステップは比較できません。"
        )

    def cannot_wall(self, f: Facts) -> str:
        return (
            f"時刻があるのは{SIDES[str(f['has_wall'])]}のログだけなので、ステップ外の時間は"
            "比較できません。"
        )

    def cannot_data(self, f: Facts) -> str:
        return (
            f"データ待ちの時間が分かるのは{SIDES[str(f['has_data'])]}のログだけです。もう一方では計算に"
            "含まれています。"
        )

    def cannot_hidden(self, f: Facts) -> str:
        return (
            f"{self._compare_side(f)}のログには{self._compare_owner(f)}の時間がどこにも出ていないため、"
            "比較できず、集計から除きました。"
        )

    def cannot_short(self, f: Facts) -> str:
        steps = self.number(number_of(f, "steps"))
        comes = "もう一方では1回だけ発生"
        if f["every"]:
            comes = f"{self.number(number_of(f, 'every'))}ステップごとに発生"
        return (
            f"{self._compare_side(f)}は{steps}ステップしかなく、{self._compare_owner(f)}（{comes}）を"
            "確認できないため、集計から除きました。"
        )

    def cannot_joint(self, f: Facts) -> str:
        return (
            f"{self._compare_side(f)}のログでは評価と保存が同じ停止に含まれるため、まとめてしか"
            "比較できません。"
        )

    def cannot_single(self, f: Facts) -> str:
        return (
            f"{self._compare_side(f)}には{self._compare_owner(f)}が1回しかなく、{self.compare_thousand()}"
            "ステップあたりの値は目安です。"
        )

    def cannot_accidents(self, f: Facts) -> str:
        return "プロセス間の停止とやり直しは、障害によるものなので集計に含めていません。"

    def cannot_work(self, f: Facts) -> str:
        return "1ステップの処理量（バッチサイズや長さ）が同じかどうかは、ログからは分かりません。"

    def _compare_amount(self, seconds: float) -> str:
        return self.seconds(seconds) if seconds > 0 else "ゼロ"

    def _compare_logged(self, f: Facts, side: str) -> str:
        every = int(number_of(f, side))
        return "全ステップ" if every == 1 else f"{self.number(every)}ステップごと"

    def _compare_owner(self, f: Facts) -> str:
        return self.compare_pauses[str(f["owner"])]

    def _compare_side(self, f: Facts) -> str:
        return SIDES[str(f["side"])]
