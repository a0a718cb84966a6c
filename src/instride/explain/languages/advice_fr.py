"""French: sentences of the newer causes, and advice."""

from __future__ import annotations

from instride.explain.languages.causes_fr import FrenchCauses
from instride.explain.languages.facts import Facts, count_of, number_of
from instride.explain.languages.numbers import NARROW, SPACE

NO_LINE = "aucune ligne ne le dit"


class FrenchAdvice(FrenchCauses):
    def _times(self, f: Facts, cost_s: float) -> str:
        return (
            f"{self._often(count_of(f, 'count'))} {self.each(f, cost_s)}, "
            f"{self.seconds(cost_s)} en tout"
        )

    def say_first_eval(self, f: Facts, cost_s: float) -> str:
        return (
            f"La première évaluation (étape {f['step']}) a duré "
            f"{self.seconds(number_of(f, 'first_s'))}, alors que les autres durent "
            f"{self.seconds(number_of(f, 'usual_s'))}{SPACE}: c'est l'allure de quelque chose qui "
            "se compile ou se charge pour la première fois."
        )

    def say_cleanup(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"La suppression d'anciens checkpoints à l'étape {f['step']} a interrompu "
                f"l'entraînement pendant {self.seconds(cost_s)}."
            )
        every = f" (toutes les {self.number(number_of(f, 'every'))} étapes)" if f["every"] else ""
        return (
            f"{self.number(count_of(f, 'count'))} fois{every}, l'entraînement s'est arrêté le "
            "temps de supprimer d'anciens checkpoints, "
            f"{self.each(f, cost_s)} à chaque fois, "
            f"{self.seconds(cost_s)} en tout."
        )

    def say_growing_saves(self, f: Facts, cost_s: float) -> str:
        return (
            f"Les sauvegardes durent de plus en plus longtemps{SPACE}: "
            f"{self.seconds(number_of(f, 'first_s'))} à l'étape {f['first_step']}, "
            f"{self.seconds(number_of(f, 'last_s'))} à l'étape {f['last_step']}{NARROW}; cette "
            f"croissance coûte {self.seconds(cost_s)}."
        )

    def say_slow_filesystem(self, f: Facts, cost_s: float) -> str:
        gigabytes, megabytes_s = number_of(f, "bytes") / 1e9, number_of(f, "bytes_s") / 1e6
        return (
            f"{self.number(gigabytes, 1)}{SPACE}Go ont été sauvegardés à "
            f"{self.number(megabytes_s)}{SPACE}Mo/s{NARROW}; à 100{SPACE}Mo/s, cela aurait pris "
            f"{self.seconds(cost_s)} de moins."
        )

    def say_recompilation(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if f["marked"]:
            when = f"À l'étape {f['step']}"
            if count > 1:
                when = f"{self.number(count)} fois, le plus longtemps à l'étape {f['step']}"
            return (
                f"{when}, quelque chose s'est compilé en cours d'exécution pendant que "
                f"l'entraînement attendait, {self.seconds(cost_s)} en tout."
            )
        what = f"L'étape {f['step']}, juste après les premières évaluations, a duré"
        if count > 1:
            what = f"{self.number(count)} étapes, juste après les premières évaluations, ont duré"
        return (
            f"{what} {self.seconds(cost_s)} de plus, et aucune après les suivantes{SPACE}: c'est "
            f"l'allure d'une compilation{NARROW}; {NO_LINE}."
        )

    def say_epoch_stalls(self, f: Facts, cost_s: float) -> str:
        return (
            f"La première étape de {f['count']} époques sur {f['epochs']} a duré "
            f"{self.each(f, cost_s)} de plus, {self.seconds(cost_s)} en tout"
            f"{SPACE}: le loader semble redémarrer à chaque fois."
        )

    def say_worker_turns(self, f: Facts, cost_s: float) -> str:
        times = self._times(f, cost_s)
        shape = f"c'est l'allure d'un loader dont les {f['period']} workers ne suivent pas"
        if f["stated"]:
            return f"Une étape sur {f['period']} attend des données ({times}){SPACE}: {shape}."
        return (
            f"Une étape sur {f['period']} dure {self._fold(f)} plus longtemps ({times}){SPACE}: "
            f"{shape}{NARROW}; {NO_LINE}."
        )

    def say_shard_switches(self, f: Facts, cost_s: float) -> str:
        return (
            f"Toutes les {f['least']} à {f['most']} étapes, l'une dure {self._fold(f)} plus "
            f"longtemps ({self._times(f, cost_s)}){SPACE}: des intervalles presque égaux ont "
            "l'allure d'un passage au fichier de données suivant."
        )

    def say_crash_loop(self, f: Facts, cost_s: float) -> str:
        return (
            f"{f['launches']} lancements de suite n'ont entraîné aucune nouvelle étape et ont pris "
            f"{self.seconds(cost_s)}."
        )

    def say_collector_pauses(self, f: Facts, cost_s: float) -> str:
        return (
            f"{self.number(count_of(f, 'count'))} étapes isolées, à intervalles inégaux, ont duré "
            f"environ {self.seconds(number_of(f, 'typical_s'))} de plus, {self.seconds(cost_s)} "
            f"en tout{SPACE}: c'est l'allure du ramasse-miettes, ou d'un allocateur qui fait le "
            f"ménage{NARROW}; {NO_LINE}."
        )

    def say_allocator_flushes(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"L'étape {f['step']} a duré {self.seconds(cost_s)} de plus, et selon le journal "
                "l'allocateur a dû vider son cache."
            )
        return (
            "Selon le journal, l'allocateur a dû vider son cache "
            f"{self._often(count_of(f, 'count'))}{NARROW}; des étapes ont alors duré "
            f"{self.each(f, cost_s)} de plus, {self.seconds(cost_s)} en tout."
        )

    def say_drift(self, f: Facts, cost_s: float) -> str:
        levels = (
            f"de {self.seconds(number_of(f, 'before_s'))} à {self.seconds(number_of(f, 'after_s'))}"
        )
        cost = f"cela coûte {self.seconds(cost_s)} si ce n'était pas voulu"
        if f["plateau"]:
            return (
                f"À partir de l'étape {f['first_step']}, les étapes ont ralenti peu à peu, "
                f"{levels}, puis ont gardé cette vitesse{NARROW}; {cost}."
            )
        return (
            f"De l'étape {f['first_step']} à l'étape {f['last_step']}, les étapes n'ont cessé de "
            f"ralentir, {levels}{NARROW}; {cost}."
        )

    def say_hidden_time(self, f: Facts, cost_s: float) -> str:
        hidden = (
            f"{self.seconds(cost_s)} de la durée totale ne sont dans aucune durée d'étape affichée"
        )
        if f["everywhere"]:
            return f"{hidden}{SPACE}: presque chaque étape dure plus longtemps qu'elle ne le dit."
        often = self._often(count_of(f, "count"))
        typical = self.seconds(number_of(f, "typical_s"))
        where = ", aucune ligne ne dit pour quoi"
        if f["marked"]:
            where = " lors d'évaluations ou de sauvegardes"
        return f"{hidden}{SPACE}: {often} {typical}{where}."

    def advice_eval_interval(self, f: Facts) -> str:
        return self._interval(f, "Une évaluation")

    def advice_save_interval(self, f: Facts) -> str:
        return self._interval(f, "Une sauvegarde")

    def _interval(self, f: Facts, noun: str) -> str:
        noun = "Une pause d'évaluation et de sauvegarde" if f["joint"] else noun
        now = f"{noun} coûte {self._cost(f)}"
        if f["every"] is not None:
            now += (
                f"{NARROW}; toutes les {self.number(number_of(f, 'every'))} étapes, cela fait "
                f"{self.percent(number_of(f, 'share'))} du temps"
            )
        steps, target = self.number(number_of(f, "steps")), self.percent(number_of(f, "target"))
        if f["beyond"]:
            better = f"{SPACE}: mieux vaut {self.cures[str(f['instead'])]}" if f["instead"] else ""
            return (
                f"{now}. Il faudrait passer à une toutes les {steps} étapes pour rester sous "
                f"{target}{better}."
            )
        both = ""
        if f["setting"]:
            both = (
                f" `{f['setting']}` règle les deux{SPACE}: les sauvegardes s'espacent d'autant, et "
                "une panne coûte plus de travail."
            )
        return f"{now}. Toutes les {steps} étapes, c'est moins de {target}.{both}"

    def _cost(self, f: Facts) -> str:
        cost_s, blocking_s = number_of(f, "cost_s"), number_of(f, "blocking_s")
        cost = ("en moyenne " if count_of(f, "count") > 1 else "") + self.seconds(cost_s)
        if cost_s <= 1.02 * blocking_s:
            return cost
        return f"{cost} (dont {self.seconds(cost_s - blocking_s)} dans les étapes qui suivent)"

    def advice_save_by_failures(self, f: Facts) -> str:
        restarts = count_of(f, "restarts")
        mtbf = f"Avec une panne toutes les {self.seconds(number_of(f, 'mtbf_s'))}"
        if restarts:
            seen = "du seul redémarrage" if restarts == 1 else f"des {restarts} redémarrages"
            mtbf += f" (estimation à partir {seen} de ce journal)"
        what = "pour une évaluation et une sauvegarde" if f["joint"] else "par sauvegarde"
        best = (
            f"{mtbf} et {self._cost(f)} {what}, on perd le moins en sauvegardant toutes les "
            f"{self.seconds(number_of(f, 'daly_s'))} "
            f"({self.number(number_of(f, 'steps'))} étapes{NARROW}; Young/Daly)"
        )
        if f["keep"]:
            return f"{best}{SPACE}: c'est à peu près le réglage actuel."
        both = ""
        if f["setting"]:
            both = f" `{f['setting']}` règle les deux{SPACE}: on évalue alors aussi souvent."
        share = f"{self.percent(number_of(f, 'best_share'))} du temps"
        if f["every"] is None:
            return f"{best}{SPACE}: {share}.{both}"
        return (
            f"{best}{SPACE}: {share}, au lieu de {self.percent(number_of(f, 'share'))} "
            f"aujourd'hui, toutes les {self.number(number_of(f, 'every'))} étapes.{both}"
        )
