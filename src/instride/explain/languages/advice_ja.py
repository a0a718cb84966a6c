"""Japanese: sentences of the newer causes, and advice."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from instride.explain.languages.causes_ja import JapaneseCauses
from instride.explain.languages.facts import Facts, count_of, number_of

NO_LINE = "それを示す行はありません。"


class JapaneseAdvice(JapaneseCauses):
    def _times(self, f: Facts, cost_s: float) -> str:
        return (
            f"{self.each(f, cost_s)}が{self.number(count_of(f, 'count'))}回、"
            f"合計{self.seconds(cost_s)}"
        )

    def say_first_eval(self, f: Facts, cost_s: float) -> str:
        return (
            f"初回の評価（ステップ{f['step']}）は{self.seconds(number_of(f, 'first_s'))}かかり、"
            f"ほかは{self.seconds(number_of(f, 'usual_s'))}です。初めてのコンパイルや読み込みに"
            "見られる形です。"
        )

    def say_cleanup(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"ステップ{f['step']}での古いチェックポイントの削除で、学習が"
                f"{self.seconds(cost_s)}停止しました。"
            )
        every = f"（{self.number(number_of(f, 'every'))}ステップごと）" if f["every"] else ""
        return (
            f"古いチェックポイントの削除で、学習が{self.number(count_of(f, 'count'))}回{every}、"
            f"1回あたり{self.each(f, cost_s)}、合計"
            f"{self.seconds(cost_s)}停止しました。"
        )

    def say_growing_saves(self, f: Facts, cost_s: float) -> str:
        return (
            f"保存時間が延び続けています（ステップ{f['first_step']}で"
            f"{self.seconds(number_of(f, 'first_s'))}、ステップ{f['last_step']}で"
            f"{self.seconds(number_of(f, 'last_s'))}）。この増加分は"
            f"{self.seconds(cost_s)}です。"
        )

    def say_slow_filesystem(self, f: Facts, cost_s: float) -> str:
        gigabytes, megabytes_s = number_of(f, "bytes") / 1e9, number_of(f, "bytes_s") / 1e6
        return (
            f"{self.number(gigabytes, 1)} GBの保存速度は{self.number(megabytes_s)} MB/sでした。"
            f"100 MB/sなら{self.seconds(cost_s)}短く済みます。"
        )

    def say_recompilation(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if f["marked"]:
            when = f"ステップ{f['step']}で"
            if count > 1:
                when = f"{self.number(count)}回（最長はステップ{f['step']}）、"
            return (
                f"実行の途中に{when}何かがコンパイルされ、学習が合計{self.seconds(cost_s)}"
                "待ちました。"
            )
        what = f"ステップ{f['step']}" if count == 1 else f"{self.number(count)}個のステップ"
        return (
            f"最初の数回の評価の直後にある{what}が{self.seconds(cost_s)}長くかかり、その後の評価の"
            f"後にはありません。コンパイルに見られる形ですが、{NO_LINE}"
        )

    def say_epoch_stalls(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['epochs']}エポックのうち{f['count']}エポックで、最初のステップが"
            f"{self.each(f, cost_s)}、合計{self.seconds(cost_s)}長く"
            "かかりました。ローダーが毎回起動し直しているようです。"
        )

    def say_worker_turns(self, f: Facts, cost_s: float) -> str:
        times = self._times(f, cost_s)
        shape = f"{f['period']}個のワーカーが追いつかないローダーに見られる形です"
        if f["stated"]:
            return f"{f['period']}ステップに1回、データを待っています（{times}）。{shape}。"
        return (
            f"{f['period']}ステップに1回、{self._fold(f)}の時間を要しています（{times}）。"
            f"{shape}が、{NO_LINE}"
        )

    def say_shard_switches(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['least']}から{f['most']}ステップごとに1ステップが{self._fold(f)}の時間を要して"
            f"います（{self._times(f, cost_s)}）。ほぼ等しい間隔は、次のデータファイルへの"
            "切り替えに見られる形です。"
        )

    def say_crash_loop(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['launches']}回続けて、起動しても新しいステップに進まず、"
            f"{self.seconds(cost_s)}を費やしました。"
        )

    def say_collector_pauses(self, f: Facts, cost_s: float) -> str:
        return (
            f"不規則な間隔で{self.number(count_of(f, 'count'))}個の単独ステップが約"
            f"{self.seconds(number_of(f, 'typical_s'))}ずつ、合計{self.seconds(cost_s)}長く"
            "かかりました。ガベージコレクション、またはアロケーターの整理に見られる形ですが、"
            f"{NO_LINE}"
        )

    def say_allocator_flushes(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"ステップ{f['step']}が{self.seconds(cost_s)}長くかかりました。ログによると、"
                "アロケーターがキャッシュを解放しています。"
            )
        return (
            f"ログによると、アロケーターがキャッシュを{self.number(count_of(f, 'count'))}回解放し、"
            f"その都度ステップが{self.each(f, cost_s)}、合計{self.seconds(cost_s)}長くかかって"
            "います。"
        )

    def say_drift(self, f: Facts, cost_s: float) -> str:
        levels = (
            f"{self.seconds(number_of(f, 'before_s'))}から{self.seconds(number_of(f, 'after_s'))}へ"
        )
        cost = f"意図した変化でなければ、{self.seconds(cost_s)}を失っています。"
        if f["plateau"]:
            return (
                f"ステップ{f['first_step']}以降、ステップが{levels}少しずつ遅くなり、その後は"
                f"その速度のままです。{cost}"
            )
        return (
            f"ステップ{f['first_step']}から{f['last_step']}まで、ステップが{levels}遅くなり"
            f"続けました。{cost}"
        )

    def say_hidden_time(self, f: Facts, cost_s: float) -> str:
        hidden = f"総時間のうち{self.seconds(cost_s)}は、出力されたどのステップ時間にも含まれません"
        if f["everywhere"]:
            return f"{hidden}。ほぼすべてのステップが、表示より長くかかっています。"
        count = self.number(count_of(f, "count"))
        typical = self.seconds(number_of(f, "typical_s"))
        where = "評価または保存の際" if f["marked"] else "理由の記載なし"
        return f"{hidden}（{typical}が{count}回、{where}）。"

    def advice_eval_interval(self, f: Facts) -> str:
        return self._interval(f, "評価")

    def advice_save_interval(self, f: Facts) -> str:
        return self._interval(f, "保存")

    def _interval(self, f: Facts, noun: str) -> str:
        noun = "評価と保存の停止" if f["joint"] else noun
        now = f"{noun}には1回{self._cost(f)}かかります。"
        if f["every"] is not None:
            now = (
                f"{noun}には1回{self._cost(f)}かかり、"
                f"{self.number(number_of(f, 'every'))}ステップごとでは時間の"
                f"{self.percent(number_of(f, 'share'))}になります。"
            )
        steps, target = self.number(number_of(f, "steps")), self.percent(number_of(f, "target"))
        if f["beyond"]:
            rarer = f"{now}{target}未満にするには{steps}ステップごとにするしか"
            if not f["instead"]:
                return f"{rarer}ありません。"
            return f"{rarer}ないため、{self.cures[str(f['instead'])]}ことをおすすめします。"
        both = ""
        if f["setting"]:
            both = (
                f"`{f['setting']}`は両方の間隔を決めるため、保存の間隔も延び、障害で失う作業が"
                "増えます。"
            )
        return f"{now}{steps}ステップごとなら{target}未満です。{both}"

    def _cost(self, f: Facts) -> str:
        cost_s, blocking_s = number_of(f, "cost_s"), number_of(f, "blocking_s")
        cost = ("平均" if count_of(f, "count") > 1 else "") + self.seconds(cost_s)
        if cost_s <= 1.02 * blocking_s:
            return cost
        return f"{cost}（うち{self.seconds(cost_s - blocking_s)}は続くステップ）"

    def advice_save_by_failures(self, f: Facts) -> str:
        restarts = count_of(f, "restarts")
        mtbf = f"障害が{self.seconds(number_of(f, 'mtbf_s'))}に1回"
        if restarts:
            mtbf += f"（このログの再起動{restarts}回からの推定）"
        what = "評価と保存" if f["joint"] else "保存"
        best = (
            f"{mtbf}、{what}が1回{self._cost(f)}なら、"
            f"{self.seconds(number_of(f, 'daly_s'))}ごと"
            f"（{self.number(number_of(f, 'steps'))}ステップ、Young/Daly）の保存で損失が最小に"
            "なります。"
        )
        if f["keep"]:
            return f"{best}現在の設定はこれに近い値です。"
        both = ""
        if f["setting"]:
            both = f"`{f['setting']}`は両方の間隔を決めるため、評価も同じ間隔になります。"
        share = f"時間に占める損失は{self.percent(number_of(f, 'best_share'))}"
        if f["every"] is None:
            return f"{best}{share}です。{both}"
        return (
            f"{best}{share}で、現在の{self.number(number_of(f, 'every'))}ステップごとでは"
            f"{self.percent(number_of(f, 'share'))}です。{both}"
        )
