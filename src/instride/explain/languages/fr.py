"""French. No-break spaces are written out: narrow ones in numbers and before `;` and `%`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.advice_fr import FrenchAdvice
from instride.explain.languages.facts import Facts, count_of, is_uneven, number_of, times_the_save
from instride.explain.languages.numbers import NARROW, SPACE

MULTIPLES = {
    2: "deux",
    3: "trois",
    4: "quatre",
    5: "cinq",
    6: "six",
    7: "sept",
    8: "huit",
    9: "neuf",
    10: "dix",
}
NO_REASON = "aucune ligne ne dit pourquoi"


class French(FrenchAdvice):
    code: ClassVar = "fr"
    labels: ClassVar[Mapping[str, str]] = {
        "compute": "calcul",
        "warmup": "mise en route",
        "eval": "évaluation",
        "save": "sauvegarde",
        "aftermath": "après sauvegarde",
        "data": "données",
        "startup": "démarrage",
        "restart": "à l'arrêt",
        "lost": "travail perdu",
        "unknown": "inexpliqué",
        "high": "certain",
        "medium": "probable",
        "low": "supposé d'après l'allure",
    }

    def _every(self, f: Facts) -> str:
        if not f["every"]:
            return ""
        return f" (toutes les {self.number(number_of(f, 'every'))} étapes)"

    def say_eval(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "L'évaluation", "évaluations")

    def say_save(self, f: Facts, cost_s: float) -> str:
        return self._pauses(f, cost_s, "La sauvegarde", "sauvegardes")

    def say_eval_and_save(self, f: Facts, cost_s: float) -> str:
        both = "d'évaluation et de sauvegarde"
        return self._pauses(f, cost_s, f"La pause {both}", f"pauses {both}")

    def _pauses(self, f: Facts, cost_s: float, one: str, many: str) -> str:
        guess = ""
        if f["count"] == 1:
            if f["inferred"]:
                guess = ", à en juger par son intervalle, celui des pauses signalées"
            return (
                f"{one} à l'étape {f['first_step']} a interrompu l'entraînement pendant "
                f"{self.seconds(cost_s)}{guess}."
            )
        if f["inferred"]:
            guess = (
                f"{NARROW}; toutes ne sont pas signalées, les autres se reconnaissent au même "
                "intervalle"
            )
        worst = ""
        if is_uneven(f):
            worst_s = self.seconds(number_of(f, "worst_s"))
            worst = f"{NARROW}; la plus longue, à l'étape {f['worst_step']}, {worst_s}"
        return (
            f"{self.number(count_of(f, 'count'))} {many}{self._every(f)} ont interrompu "
            f"l'entraînement pendant {self.seconds(number_of(f, 'average_s'))} "
            f"{'en moyenne' if worst else 'chacune'}, {self.seconds(cost_s)} en tout{worst}{guess}."
        )

    def say_closing_save(self, f: Facts, cost_s: float) -> str:
        return f"La sauvegarde après la dernière étape ({f['step']}) a duré {self.seconds(cost_s)}."

    def say_closing_eval(self, f: Facts, cost_s: float) -> str:
        return f"L'évaluation après la dernière étape ({f['step']}) a duré {self.seconds(cost_s)}."

    def say_closing_eval_and_save(self, f: Facts, cost_s: float) -> str:
        return (
            f"L'évaluation et la sauvegarde après la dernière étape ({f['step']}) ont duré "
            f"{self.seconds(cost_s)} à elles deux."
        )

    def say_closing_unknown(self, f: Facts, cost_s: float) -> str:
        return (
            f"Le journal continue pendant {self.seconds(cost_s)} après la dernière étape "
            f"({f['step']}) sans dire à quoi ce temps a servi."
        )

    def say_aftermath(self, f: Facts, cost_s: float) -> str:
        steps, fold = count_of(f, "steps"), self._fold(f)
        if f["count"] == 1:
            stop = "n'a presque rien coûté en elle-même"
            if f["save_s"]:
                save_s = self.seconds(number_of(f, "save_s"))
                stop = f"a interrompu l'entraînement pendant {save_s}"
            after = (
                f"les {self.number(steps)} étapes suivantes ont duré {fold} plus longtemps et "
                "ont coûté"
            )
            if steps == 1:
                after = f"l'étape suivante a duré {fold} plus longtemps et a coûté"
            return (
                f"La sauvegarde à l'étape {f['save_step']} {stop}{NARROW}; {after} "
                f"{self.seconds(cost_s)} de plus{self._compared(f)}."
            )
        after = f"environ {self.number(steps)} étapes ont duré"
        if steps == 1:
            after = "environ une étape a duré"
        count, saves = self.number(count_of(f, "count")), self.number(count_of(f, "saves"))
        which = f"chacune des {count}" if count == saves else f"{count} des {saves}"
        return (
            f"Après {which} sauvegardes, {after} {fold} plus longtemps{SPACE}: "
            f"{self.seconds(number_of(f, 'average_s'))} par sauvegarde, "
            f"{self.seconds(cost_s)} en tout{self._compared(f)}."
        )

    def _compared(self, f: Facts) -> str:
        times = times_the_save(f)
        if times is None:
            return ""
        multiple = MULTIPLES.get(times, self.number(times))
        noun = "de la sauvegarde elle-même" if f["count"] == 1 else "des sauvegardes elles-mêmes"
        return f", soit {multiple} fois le coût {noun}"

    def say_warmup(self, f: Facts, cost_s: float) -> str:
        why = "compilation, remplissage des caches"
        longer = f"{self.seconds(cost_s)} de plus que d'habitude"
        if f["starts"] == 1 and f["steps"] == 1:
            return (
                f"La première étape a duré {longer} ({self._fold(f)} plus longtemps){SPACE}: {why}."
            )
        if f["starts"] == 1:
            return (
                f"Les {self.number(count_of(f, 'steps'))} premières étapes ont duré {longer} "
                f"(jusqu'à {self._fold(f)} plus longtemps){SPACE}: {why}."
            )
        return (
            f"Les premières étapes après chacun des {f['starts']} démarrages ont duré plus "
            f"longtemps que d'habitude, {self.seconds(cost_s)} en tout."
        )

    def say_data_stalls(self, f: Facts, cost_s: float) -> str:
        count = count_of(f, "count")
        if count == 1:
            return f"L'entraînement a attendu des données une fois, {self.seconds(cost_s)}."
        return (
            f"L'entraînement a attendu des données {self.number(count)} fois{self._every(f)}, "
            f"{self.each(f, cost_s)} à chaque fois, "
            f"{self.seconds(cost_s)} en tout."
        )

    def say_data_chronic(self, f: Facts, cost_s: float) -> str:
        return (
            f"En moyenne, une étape passe {self.seconds(number_of(f, 'wait_s'))} de ses "
            f"{self.seconds(number_of(f, 'step_s'))} à attendre des données, "
            f"{self.seconds(cost_s)} en tout."
        )

    def say_startup(self, f: Facts, cost_s: float) -> str:
        begin = "Du dernier lancement" if f["failed"] else "De la première ligne"
        return f"{begin} à la première étape, il s'est écoulé {self.seconds(cost_s)}."

    def say_restart(self, f: Facts, cost_s: float) -> str:
        begin = "le nouveau départ" if f["anew"] else "la reprise"
        where = f"entre l'étape {f['last_step']} et {begin} à l'étape {f['resumed_at']}"
        if f["count"] == 1:
            launches = ""
            if number_of(f, "launches") > 1:
                launches = f" (le programme a été lancé {f['launches']} fois)"
            return f"Aucun entraînement pendant {self.seconds(cost_s)} {where}{launches}."
        return (
            f"{f['count']} redémarrages{SPACE}: aucun entraînement pendant "
            f"{self.seconds(cost_s)} en tout, l'arrêt le plus long "
            f"({self.seconds(number_of(f, 'worst_s'))}) {where}."
        )

    def say_never_again(self, f: Facts, cost_s: float) -> str:
        return (
            f"Après l'étape {f['last_step']}, le programme a été lancé "
            f"{self._often(count_of(f, 'launches'))} et n'a plus rien entraîné, en "
            f"{self.seconds(cost_s)}."
        )

    def say_failed_launches(self, f: Facts, cost_s: float) -> str:
        return (
            f"Le programme a été lancé {self._often(count_of(f, 'launches'))} en vain avant le "
            f"lancement qui a entraîné la première étape ({f['first_step']}), "
            f"{self.seconds(cost_s)} en tout."
        )

    def say_lost(self, f: Facts, cost_s: float) -> str:
        steps = count_of(f, "steps")
        again = "du début" if f["from_scratch"] else f"à l'étape {f['resumed_at']}"
        went = f"après l'étape {f['last_step']}, l'entraînement a repris {again}"
        cost = f"Les refaire coûte {self.seconds(cost_s)}."
        if f["count"] == 1 and steps == 1:
            return f"1 étape perdue{SPACE}: {went}. La refaire coûte {self.seconds(cost_s)}."
        if f["count"] == 1:
            return f"{self.number(steps)} étapes perdues{SPACE}: {went}. {cost}"
        return (
            f"{f['count']} redémarrages ont fait perdre {self.number(steps)} étapes, jusqu'à "
            f"{f['worst_steps']} à la fois ({went}). {cost}"
        )

    def say_periodic(self, f: Facts, cost_s: float) -> str:
        to = f" ou {f['to_period']}" if f["to_period"] != f["period"] else ""
        named = f", mais `{f['setting']}` a cette valeur" if f["setting"] else ""
        return (
            f"Toutes les {f['period']}{to} étapes, l'une dure {self._fold(f)} plus longtemps "
            f"({self._often(count_of(f, 'count'))} {self.each(f, cost_s)}, "
            f"{self.seconds(cost_s)} en tout){NARROW}; {NO_REASON}{named}."
        )

    def say_slow_zone(self, f: Facts, cost_s: float) -> str:
        where = f"les étapes {f['first_step']} à {f['last_step']}"
        if f["count"] == 1:
            return (
                f"{where.capitalize()} ont duré {self._fold(f)} plus longtemps et ont coûté "
                f"{self.seconds(cost_s)} de plus{NARROW}; {NO_REASON}."
            )
        return (
            f"{self.number(count_of(f, 'count'))} séries d'étapes ont été plus lentes sans raison "
            f"indiquée et ont coûté {self.seconds(cost_s)} de plus{NARROW}; les pires, {where}, "
            f"ont duré {self._fold(f)} plus longtemps."
        )

    def say_slow_steps(self, f: Facts, cost_s: float) -> str:
        if f["count"] == 1:
            return (
                f"L'étape {f['last_step']} a duré {self._fold(f)} plus longtemps que d'habitude, "
                f"soit {self.seconds(cost_s)} de plus{NARROW}; {NO_REASON}."
            )
        return (
            f"{self.number(count_of(f, 'count'))} étapes isolées ont été lentes sans raison "
            f"indiquée, {self.seconds(cost_s)} en tout{NARROW}; la pire, l'étape "
            f"{f['last_step']}, a duré {self.seconds(number_of(f, 'worst_s'))} de plus."
        )

    def say_slower_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "plus longtemps", "qui suit")

    def say_slower_since_resume(self, f: Facts, cost_s: float) -> str:
        return self.say_slower_since(f, cost_s)

    def say_faster_since(self, f: Facts, cost_s: float) -> str:
        return self._speed(f, cost_s, "moins longtemps", "qui précède")

    def _speed(self, f: Facts, cost_s: float, how: str, slow_part: str) -> str:
        since = "Depuis la reprise à" if f["resumed"] else "À partir de"
        return (
            f"{since} l'étape {f['step']}, les étapes durent {self._fold(f)} {how} "
            f"({self.seconds(number_of(f, 'before_s'))}, puis "
            f"{self.seconds(number_of(f, 'after_s'))}){NARROW}; la partie lente {slow_part} coûte "
            f"{self.seconds(cost_s)} si ce n'était pas voulu."
        )

    def unknown_sampled(self, f: Facts) -> str:
        return (
            f"Seule une étape sur {self.number(count_of(f, 'every'))} est dans le journal{SPACE}: "
            f"{self.percent(number_of(f, 'share'))} des étapes sont estimées."
        )

    def unknown_averaged(self, f: Facts) -> str:
        return (
            f"Les durées sont des moyennes sur {f['every']} étapes{SPACE}: une étape lente isolée "
            "ne se voit pas."
        )

    def unknown_totals_only(self, f: Facts) -> str:
        return (
            f"Le journal n'a que des totaux, aucune durée par étape{SPACE}: les étapes lentes ne "
            "se voient pas."
        )

    def unknown_coarse_clock(self, f: Facts) -> str:
        return (
            f"L'horloge n'est précise qu'à {self.seconds(number_of(f, 'seconds'))} près{SPACE}: "
            "les petites pauses ne se voient pas."
        )

    def unknown_hidden(self, f: Facts) -> str:
        parts = []
        for key, noun in (("evals", "évaluation"), ("saves", "sauvegarde")):
            if count := count_of(f, key):
                many = f"de {self.number(count)} {noun}s"
                one = "d'une " + noun
                parts.append(one if count == 1 else many)
        return (
            f"La durée {' et '.join(parts)} n'est dans aucun nombre de ce journal, dont les "
            f"étapes n'ont pas d'horodatage{SPACE}: ce que cela coûte reste inconnu."
        )

    def unknown_joint(self, f: Facts) -> str:
        return (
            "L'évaluation et la sauvegarde partagent une même pause, et le journal ne les sépare "
            "pas."
        )

    def unknown_rough_split(self, f: Facts) -> str:
        return (
            f"L'évaluation et la sauvegarde partagent des pauses{NARROW}; leur part ne repose que "
            f"sur la première évaluation (étape {f['step']}), qui comprend aussi la mise en "
            f"route{SPACE}: une sauvegarde coûte peut-être davantage."
        )

    def unknown_clock_backwards(self, f: Facts) -> str:
        where = "à la ligne" if f["count"] == 1 else "d'abord à la ligne"
        return (
            f"L'horloge recule {self._often(count_of(f, 'count'))} ({where} "
            f"{f['line']}){SPACE}: ce sont les durées affichées qui comptent."
        )

    def unknown_gaps(self, f: Facts) -> str:
        return (
            "On ignore combien de temps rien n'a tourné entre les processus"
            f"{SPACE}: le journal n'a pas d'horloge commune."
        )

    def unknown_unused_save(self, f: Facts) -> str:
        saved = "" if f["saved_step"] is None else f" de l'étape {f['saved_step']}"
        return (
            f"Après l'étape {f['last_step']}, l'entraînement a repris à l'étape {f['first_step']} "
            f"malgré une sauvegarde{saved}{SPACE}: compté comme un autre entraînement. S'il devait "
            "continuer à partir d'elle, les étapes précédentes sont perdues."
        )

    def unknown_ranks(self, f: Facts) -> str:
        count = count_of(f, "count")
        left_out = "1 ligne écartée" if count == 1 else f"{self.number(count)} lignes écartées"
        return f"Plusieurs rangs affichent les mêmes étapes{SPACE}: {left_out}."

    remedies: ClassVar[Mapping[str, str]] = {
        "eval": "évaluer moins souvent, ou sur moins de lots",
        "save": "sauvegarder en arrière-plan, ou moins souvent",
        "eval-and-save": "évaluer et sauvegarder moins souvent\u202f; mesurer les deux séparément "
        "pour savoir lequel coûte",
        "closing-save": "écrire sur un disque plus rapide, ou sauvegarder en arrière-plan",
        "closing-eval": "évaluer sur moins de lots",
        "closing-eval-and-save": "mesurer les deux séparément pour savoir lequel coûte",
        "failed-launches": "lire la dernière erreur avant le lancement qui a réussi",
        "never-again": "lire la dernière erreur du journal",
        "closing-unknown": "afficher une ligne avant et après ce qui se fait à la fin",
        "aftermath": "donner la priorité la plus basse à ce qui traite le checkpoint "
        "(compression, envoi), ou le faire attendre la fin de l'entraînement",
        "warmup": "conserver le cache de compilation d'une exécution à l'autre",
        "data-stalls": "garder les workers du loader en vie et précharger",
        "data-chronic": "plus de workers pour le loader, un décodage moins coûteux, un disque "
        "plus rapide",
        "startup": "mettre en cache ce que le démarrage prépare (données tokenisées, code compilé)",
        "restart": "reprendre automatiquement quand un processus se termine",
        "lost": "sauvegarder plus souvent, ou quand le processus reçoit l'ordre de s'arrêter",
        "periodic": "noter dans le journal ce que fait la boucle à ces étapes\u202f; comparer avec "
        "les intervalles réglés",
        "slow-zone": "surveiller le CPU, le disque et les fréquences du GPU pendant ce temps",
        "slow-steps": "surveiller le CPU, le disque et les fréquences du GPU pendant ce temps",
        "slower-since": "comparer taille de lot, longueur de séquence et autres tâches avant et "
        "après",
        "faster-since": "comparer taille de lot, longueur de séquence et autres tâches avant et "
        "après",
    }
