"""Japanese."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.advice_ja import JapaneseAdvice
from instride.explain.languages.facts import Facts, count_of, is_uneven, number_of, times_the_save

NO_REASON = "理由を示す行はありません"


class Japanese(JapaneseAdvice):
    code: ClassVar = "ja"
    labels: ClassVar[Mapping[str, str]] = {
        "compute": "計算",
        "warmup": "立ち上がり",
        "eval": "評価",
        "save": "保存",
        "aftermath": "保存後の遅延",
        "data": "データ待ち",
        "startup": "起動",
        "restart": "停止中",
        "lost": "やり直し",
        "unknown": "原因不明",
        "high": "確実",
        "medium": "可能性が高い",
        "low": "推移の形からの推測",
    }

    def _every(self, f: Facts) -> str:
        return f"（{self.number(number_of(f, 'every'))}ステップごと）" if f["every"] else ""

    def say_eval(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "評価")

    def say_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "保存")

    def say_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "評価と保存")

    def _pauses(self, f: Facts, cost_s: float, what: str) -> str:
        guess = ""
        if f["inferred"]:
            guess = "ログに記載のないものは、記載のあるものと同じ間隔であることから推定しました。"
        if f["count"] == 1:
            return (
                f"ステップ{f['first_step']}の{what}で、学習が{self.seconds(cost_s)}"
                f"停止しました。{guess}"
            )
        worst = ""
        if is_uneven(f):
            worst_s = self.seconds(number_of(f, "worst_s"))
            worst = f"最長はステップ{f['worst_step']}の{worst_s}です。"
        return (
            f"{what}{self._every(f)}で、学習が{self.number(count_of(f, 'count'))}回、"
            f"1回あたり{'平均' if worst else ''}{self.seconds(number_of(f, 'average_s'))}、"
            f"合計{self.seconds(cost_s)}停止しました。{worst}{guess}"
        )

    def say_closing_save(self, f: Facts, cost_s: float) -> str:
        return f"最後のステップ（{f['step']}）の後の保存に{self.seconds(cost_s)}かかりました。"

    def say_closing_eval(self, f: Facts, cost_s: float) -> str:
        return f"最後のステップ（{f['step']}）の後の評価に{self.seconds(cost_s)}かかりました。"

    def say_closing_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return (
            f"最後のステップ（{f['step']}）の後の評価と保存に、合わせて"
            f"{self.seconds(cost_s)}かかりました。"
        )

    def say_closing_unknown(self, f: Facts, cost_s: float) -> str:
        return (
            f"最後のステップ（{f['step']}）の後もログが{self.seconds(cost_s)}続いていますが、"
            "何をしていたかは書かれていません。"
        )

    def say_aftermath(self, f: Facts, cost_s: float) -> str:
        times = times_the_save(f)
        compared = "" if times is None else f"これは保存自体の約{self.number(times)}倍です。"
        steps, fold = self.number(count_of(f, "steps")), self._fold(f)
        if f["count"] == 1:
            stop = "の保存自体はほとんど時間を要しませんでしたが"
            if f["save_s"]:
                stop = f"の保存で学習が{self.seconds(number_of(f, 'save_s'))}停止し"
            return (
                f"ステップ{f['save_step']}{stop}、続く{steps}ステップの所要時間が{fold}に延び、"
                f"さらに{self.seconds(cost_s)}を失いました。{compared}"
            )
        count, saves = self.number(count_of(f, "count")), self.number(count_of(f, "saves"))
        after = f"{count}回の保存のたびに"
        if count != saves:
            after = f"{saves}回の保存のうち{count}回の後で"
        return (
            f"{after}、続く約{steps}ステップの所要時間が{fold}に延び、"
            f"保存1回あたり{self.seconds(number_of(f, 'average_s'))}、"
            f"合計{self.seconds(cost_s)}を失いました。{compared}"
        )

    def say_warmup(self, f: Facts, cost_s: float) -> str:
        if f["starts"] == 1:
            what = "最初のステップ"
            most = f"{self._fold(f)}"
            if f["steps"] != 1:
                what = f"最初の{self.number(count_of(f, 'steps'))}ステップ"
                most = f"最大{self._fold(f)}"
            return (
                f"{what}は通常より{self.seconds(cost_s)}長くかかりました（{most}）。"
                "コンパイルやキャッシュの準備によるものです。"
            )
        return (
            f"{f['starts']}回の起動のたびに最初の数ステップが通常より長くかかり、"
            f"合計{self.seconds(cost_s)}を要しました。"
        )

    def say_data_stalls(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if count == 1:
            return f"データ待ちで学習が1回、{self.seconds(cost_s)}停止しました。"
        return (
            f"データ待ちで学習が{self.number(count)}回{self._every(f)}、1回あたり"
            f"{self.each(f, cost_s)}、合計{self.seconds(cost_s)}"
            "停止しました。"
        )

    def say_data_chronic(self, f: Facts, cost_s: float) -> str:
        return (
            f"1ステップは{self.seconds(number_of(f, 'step_s'))}のうち"
            f"平均{self.seconds(number_of(f, 'wait_s'))}がデータ待ちで、合計"
            f"{self.seconds(cost_s)}になります。"
        )

    def say_startup(self, f: Facts, cost_s: float) -> str:
        begin = "最後の起動" if f["failed"] else "最初の行"
        return f"{begin}から最初のステップまでに{self.seconds(cost_s)}かかりました。"

    def say_restart(self, f: Facts, cost_s: float) -> str:
        begin = "開始" if f["anew"] else "再開"
        where = f"ステップ{f['last_step']}からステップ{f['resumed_at']}での{begin}まで"
        if f["count"] == 1:
            launches = ""
            if number_of(f, "launches") > 1:
                launches = f"（その間に{f['launches']}回起動）"
            return f"{where}の{self.seconds(cost_s)}は、学習が行われていませんでした{launches}。"
        return (
            f"再起動が{f['count']}回あり、合計{self.seconds(cost_s)}は学習が行われていませんでした。"
            f"最長は{where}の{self.seconds(number_of(f, 'worst_s'))}です。"
        )

    def say_never_again(self, f: Facts, cost_s: float) -> str:
        return (
            f"ステップ{f['last_step']}の後、プログラムは{f['launches']}回起動されましたが、"
            f"{self.seconds(cost_s)}の間、学習は再開しませんでした。"
        )

    def say_failed_launches(self, f: Facts, cost_s: float) -> str:
        return (
            f"最初のステップ（{f['first_step']}）に至った起動の前に、プログラムは"
            f"{f['launches']}回起動されて学習に至らず、合計{self.seconds(cost_s)}を費やしました。"
        )

    def say_lost(self, f: Facts, cost_s: float) -> str:
        steps = self.number(count_of(f, "steps"))
        again = "最初" if f["from_scratch"] else f"ステップ{f['resumed_at']}"
        went = f"ステップ{f['last_step']}の後、学習は{again}から再開"
        cost = f"やり直しに{self.seconds(cost_s)}かかります。"
        if f["count"] == 1:
            return f"{steps}ステップが失われました（{went}）。{cost}"
        return (
            f"{f['count']}回の再起動で{steps}ステップ、一度に最大{f['worst_steps']}ステップが"
            f"失われました（{went}）。{cost}"
        )

    def say_periodic(self, f: Facts, cost_s: float) -> str:
        to = f"または{f['to_period']}" if f["to_period"] != f["period"] else ""
        named = f"。ただし`{f['setting']}`がその値です" if f["setting"] else ""
        return (
            f"{f['period']}{to}ステップごとに1ステップが{self._fold(f)}の時間を要しています"
            f"（{self.each(f, cost_s)}が"
            f"{self.number(count_of(f, 'count'))}回、合計{self.seconds(cost_s)}）。"
            f"{NO_REASON}{named}。"
        )

    def say_slow_zone(self, f: Facts, cost_s: float) -> str:
        where = f"ステップ{f['first_step']}から{f['last_step']}まで"
        if f["count"] == 1:
            return (
                f"{where}の所要時間が{self._fold(f)}に延び、{self.seconds(cost_s)}を失いました。"
                f"{NO_REASON}。"
            )
        return (
            f"{self.number(count_of(f, 'count'))}か所の区間が理由の記載なく遅くなり、合計"
            f"{self.seconds(cost_s)}を失いました。最も遅いのは{where}（{self._fold(f)}）です。"
        )

    def say_slow_steps(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"ステップ{f['last_step']}は通常の{self._fold(f)}の時間を要し、"
                f"{self.seconds(cost_s)}余計にかかりました。{NO_REASON}。"
            )
        return (
            f"{self.number(count_of(f, 'count'))}個のステップが理由の記載なく単独で遅くなり、"
            f"合計{self.seconds(cost_s)}を失いました。最も遅いのはステップ{f['last_step']}で、"
            f"{self.seconds(number_of(f, 'worst_s'))}余計にかかりました。"
        )

    def say_slower_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, f"の所要時間が{self._fold(f)}に延びています", "以降")

    def say_slower_since_resume(self, f: Facts, cost_s: float) -> str:
        return self.say_slower_since(f, cost_s)

    def say_faster_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, f"が{self._fold(f)}速くなっています", "以前")

    def _speed(self, f: Facts, cost_s: float, change: str, slow_part: str) -> str:
        since = "での再開以降" if f["resumed"] else "以降"
        return (
            f"ステップ{f['step']}{since}、各ステップ{change}"
            f"（{self.seconds(number_of(f, 'before_s'))}から"
            f"{self.seconds(number_of(f, 'after_s'))}へ）。意図した変化でなければ、"
            f"それ{slow_part}の遅い部分で{self.seconds(cost_s)}を失っています。"
        )

    def unknown_sampled(self, f: Facts) -> str:
        return (
            f"{self.number(count_of(f, 'every'))}ステップに1回しか記録がないため、"
            f"{self.percent(number_of(f, 'share'))}のステップは推定です。"
        )

    def unknown_averaged(self, f: Facts) -> str:
        return f"時間が{f['every']}ステップの平均値のため、単独の遅いステップは見えません。"

    def unknown_totals_only(self, f: Facts) -> str:
        return "ログには合計時間しかなく、ステップごとの時間がないため、遅いステップは見えません。"

    def unknown_coarse_clock(self, f: Facts) -> str:
        return (
            f"時刻の分解能が{self.seconds(number_of(f, 'seconds'))}のため、短い停止は見えません。"
        )

    def unknown_hidden(self, f: Facts) -> str:
        parts = [
            f"{noun}{self.number(count_of(f, key))}回"
            for key, noun in (("evals", "評価"), ("saves", "保存"))
            if f[key]
        ]
        return (
            f"{'と'.join(parts)}の時間はログのどの数値にも含まれず、ステップに時刻の記録もないため、"
            "そのコストは分かりません。"
        )

    def unknown_joint(self, f: Facts) -> str:
        return "評価と保存が同じ停止に重なっており、ログからは分けられません。"

    def unknown_rough_split(self, f: Facts) -> str:
        return (
            "評価と保存は同じ停止に重なっており、内訳は立ち上がりを含む最初の評価"
            f"（ステップ{f['step']}）だけに基づきます。保存の時間は実際にはより長い可能性があります。"
        )

    def unknown_clock_backwards(self, f: Facts) -> str:
        where = f"{f['line']}行目" if f["count"] == 1 else f"最初は{f['line']}行目"
        return (
            f"時刻が{self.number(count_of(f, 'count'))}回逆戻りしているため（{where}）、"
            "出力された所要時間を使っています。"
        )

    def unknown_gaps(self, f: Facts) -> str:
        return "共通の時刻がないため、プロセス間でどれだけ停止していたかは分かりません。"

    def unknown_unused_save(self, f: Facts) -> str:
        saved = "" if f["saved_step"] is None else f"（ステップ{f['saved_step']}）"
        return (
            f"ステップ{f['last_step']}の後、保存{saved}があるのに、学習はステップ"
            f"{f['first_step']}から始まっています。別の学習として数えましたが、続きから再開する"
            "つもりだったなら、それまでのステップは失われています。"
        )

    def unknown_ranks(self, f: Facts) -> str:
        return (
            "複数のランクが同じステップを出力しているため、"
            f"{self.number(count_of(f, 'count'))}行を除外しました。"
        )

    remedies: ClassVar[Mapping[str, str]] = {
        "eval": "評価の頻度を下げるか、評価に使うバッチを減らす",
        "save": "バックグラウンドで保存するか、保存の頻度を下げる",
        "eval-and-save": "評価と保存の頻度を下げる。どちらに時間がかかるかは別々に計測する",
        "closing-save": "より速いディスクに書き込むか、バックグラウンドで保存する",
        "closing-eval": "評価に使うバッチを減らす",
        "closing-eval-and-save": "別々に計測し、どちらに時間がかかるかを確かめる",
        "failed-launches": "学習に至った起動の前の最後のエラーを確認する",
        "never-again": "ログの最後のエラーを確認する",
        "closing-unknown": "最後の処理の前後に1行ずつ出力する",
        "aftermath": "チェックポイントを処理するもの（圧縮、アップロード）の優先度を最低にするか、"
        "学習が終わるまで待たせる",
        "warmup": "コンパイルキャッシュを実行間で保持する",
        "data-stalls": "ローダーのワーカーを維持し、先読みする",
        "data-chronic": "ローダーのワーカーを増やす、デコードを軽くする、ディスクを速くする",
        "startup": "起動時に準備するもの（トークン化済みデータ、コンパイル済みコード）を"
        "キャッシュする",
        "restart": "プロセスが終了したら自動的に再開する",
        "lost": "保存の頻度を上げるか、プロセスの終了要求を受けたときに保存する",
        "periodic": "該当ステップでのループの処理をログに出し、設定した間隔と照合する",
        "slow-zone": "発生中のCPU、ディスク、GPUクロックを監視する",
        "slow-steps": "発生中のCPU、ディスク、GPUクロックを監視する",
        "slower-since": "変化の前後でバッチサイズ、系列長、ほかのジョブを比較する",
        "faster-since": "変化の前後でバッチサイズ、系列長、ほかのジョブを比較する",
    }
