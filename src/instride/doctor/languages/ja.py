"""Japanese."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from instride.doctor.languages import ja_habits, ja_machine, ja_saving
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.languages.template import JapaneseWriter
from instride.explain.languages import LANGUAGES

PHRASES = {
    "repository": "{files}ファイルを読み、{rules}件のルールを確認",
    "machine": "このマシン",
    "machine-only": "{rules}件のルールを確認",
    "checkpoints": "チェックポイント: {paths}",
    "clean": "問題は見つかりませんでした。",
    "clean-so-far": "時間内に確認した範囲では、問題は見つかりませんでした。",
    "findings": "{findings}件の指摘",
    "order": "（影響の大きい順）",
    "cost": "学習1時間あたり{cost}の損失",
    "fix": "対策: {fix}",
    "more-places": "ほか{places}か所",
    "more-lines": "ほか{lines}行（--jsonですべて表示）",
    "more-findings": "ほか{findings}件（--jsonですべて表示）",
    "not-told": "判断できなかったこと: ",
    "next": "次: ",
    "next-repository": "学習コードも調べる",
    "next-log": "保存の実際のコストも分かる",
    "next-json": "すべてをプログラム向けに出力",
    "about-machine": "マシン",
    "about-repository": "リポジトリ",
    "silence": "ルールを抑制するには、該当行の横に次のように書く",
    "silence-all": "リポジトリ全体では、pyproject.tomlに次のように書く",
}
UNKNOWNS = {
    "no-repository": "リポジトリの指定がないため、マシンだけを調べました。",
    "no-checkpoints": (
        "このマシンでのチェックポイントの保存先が分かりません。--checkpointsで指定してください。"
    ),
    "cut-short": "時間切れのため、{rules}件のルールは確認を終えていません: {names}。",
    "rule-failed": "ルール{rule}は想定外の内容に当たり、途中で止まりました（{error}）。",
    "skipped-too-large": "コードとしては大きすぎる{files}ファイルは読んでいません（{path}）。",
    "skipped-too-many": "ファイルが多すぎるため、途中から先は読んでいません（{path}）。",
    "skipped-too-deep": "階層が深すぎる{files}フォルダーは読んでいません（{path}）。",
    "skipped-unreadable": "開けない{files}ファイルは読んでいません（{path}）。",
    "skipped-not-python-3": "Python 2の{files}ファイルは読んでいません（{path}）。",
    "skipped-broken": "構文に誤りのある{files}ファイルは読んでいません（{path}）。",
    "skipped-time": "時間切れのため、{files}ファイルは読んでいません（{path}）。",
}

WORDS = DoctorWords(
    code="ja",
    writer=JapaneseWriter(LANGUAGES["ja"]),
    sayings=ja_machine.SAYINGS | ja_saving.SAYINGS | ja_habits.SAYINGS,
    unknowns=UNKNOWNS | ja_machine.UNKNOWNS | ja_saving.UNKNOWNS | ja_habits.UNKNOWNS,
    certainties={"sure": "確実", "likely": "おそらく", "perhaps": "可能性あり"},
    phrases=PHRASES,
    between="",
)
