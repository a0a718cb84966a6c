"""French: habits, loading, keys and intervals."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "twin-keys": Saying(
        title="Une clé est définie, une autre est lue",
        sentence="`{key}` vaut {value} dans {place}, mais le code lit `{read}` ({read_place}), qui"
        " vaut {read_value} ({set_place}).",
        fix="Garder une seule clé, sous le nom que lit le code.",
    ),
    "contradicting-values": Saying(
        title="Des valeurs qui se contredisent",
        sentence="`{key}` vaut {value} dans {place}, mais `{other}` vaut {other_value} dans"
        " {other_place}.",
        fix="Garder la valeur voulue.",
    ),
    "unused-key": Saying(
        title="Une clé que rien ne lit",
        sentence="Aucun code ne mentionne `{key}` ({place}).",
        fix="La supprimer, ou la faire lire par le code.",
    ),
    "collects-garbage-often": Saying(
        title="Ramasse-miettes appelé à la main, encore et encore",
        sentence="`gc.collect()` est appelé {calls} fois de suite, et l'entraînement attend à"
        " chaque fois.",
        fix="Le faire une seule fois, ou pas du tout dans la boucle.",
    ),
    "empties-cache": Saying(
        title="Le cache de la mémoire du GPU est vidé",
        sentence="`{code}` rend de la mémoire que l'étape suivante redemande.",
        fix="L'enlever ; `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` aide contre la"
        " fragmentation.",
    ),
    "synchronizes-every-step": Saying(
        title="Chaque étape attend le GPU",
        sentence="`{code}` à chaque étape : rien n'est lancé pendant que le GPU termine son"
        " travail.",
        fix="L'enlever, ou ne le faire que dans les étapes chronométrées.",
    ),
    "waits-for-values-every-step": Saying(
        title="Chaque étape attend une valeur",
        sentence="`{code}` à chaque étape : Python attend le GPU avant de préparer l'étape"
        " suivante.",
        fix="La garder comme tenseur sur le GPU, et ne la lire que de temps en temps.",
    ),
    "loader-restarts-workers": Saying(
        title="Les workers du loader redémarrent à chaque époque",
        sentence="{workers:worker est arrêté et relancé|workers sont arrêtés et relancés} chaque"
        " fois que le loader est reparcouru.",
        fix="Garder les workers.",
    ),
    "loader-workers": Saying(
        title="Le nombre de workers du loader ne convient pas à la machine",
        sentence="Le loader a {workers:worker|workers}, pour {cores:cœur utilisable"
        "|cœurs utilisables}.",
        fix="Choisir un nombre qui laisse un cœur à l'entraînement.",
    ),
    "loader-not-pinned": Saying(
        title="Des copies qui ne peuvent se recouvrir",
        sentence="`non_blocking=True` dans {copied} attend quand même : les lots du loader ne sont"
        " pas en mémoire verrouillée (pinned memory).",
        fix="Laisser le loader verrouiller ses lots.",
    ),
    "saves-too-often": Saying(
        title="Sauvegarder coûte plus de temps que cela n'en vaut",
        sentence="D'après le journal, une sauvegarde coûte {cost} et revient toutes les"
        " {every:étape|étapes} : {share} du temps. Toutes les {steps:étape|étapes} suffirait.",
        fix="Sauvegarder toutes les {steps:étape|étapes}.",
    ),
    "evaluates-too-often": Saying(
        title="Évaluer coûte plus d'un centième du temps",
        sentence="D'après le journal, une évaluation coûte {cost} et revient toutes les"
        " {every:étape|étapes} : {share} du temps.",
        fix="Évaluer toutes les {steps:étape|étapes}, ou sur moins de lots.",
    ),
    "saves-too-rarely": Saying(
        title="Une panne coûte beaucoup de travail",
        sentence="Le journal montre une panne toutes les {apart} en moyenne, et une sauvegarde"
        " toutes les {every:étape|étapes} ; sauvegarder toutes les {best} ({steps:étape|étapes})"
        " perdrait le moins.",
        fix="Sauvegarder toutes les {steps:étape|étapes}.",
    ),
}
UNKNOWNS: dict[str, str] = {}
