"""French: the words of the HTML page.

No-break spaces are written out, narrow ones before `;`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class FrenchPage:
    page: ClassVar[Mapping[str, str]] = {
        "name": "Français",
        "title": "{name}\u00a0: où est passé le temps",
        "headline": "{share} des {wall} n'ont pas servi à des étapes normales.",
        "headline.good": "Rien à gagner ici\u00a0: {share} des {wall} sont des étapes normales.",
        "language": "Langue",
        "theme.dark": "Sombre",
        "theme.light": "Clair",
        "fact.trainer": "Programme d'entraînement",
        "fact.steps": "Étapes",
        "fact.steps.all": "{first} à {last}, toutes dans le journal",
        "fact.steps.sampled": "{first} à {last}, une sur {every} dans le journal",
        "fact.wall": "Durée totale",
        "fact.ordinary": "Une étape normale",
        "fact.spread": "{time} ± {spread}",
        "fact.rhythm": "Rythme de la boucle",
        "fact.rhythm.value": "une étape sur {period} dure {more} de plus",
        "fact.runs": "Entraînements dans le journal",
        "fact.restarts": "Redémarrages",
        "chart.title": "Durée des étapes",
        "chart.label": "Graphique de la durée des étapes, en couleurs selon la cause",
        "chart.keys": "Glisser pour agrandir, double-cliquer pour tout revoir\u202f; la molette "
        "zoome une fois le graphique sélectionné. Clavier\u00a0: les flèches déplacent, + et "
        "\u2212 zooment, N et P mènent à l'endroit lent suivant ou précédent, 0 montre tout.",
        "chart.touch": "Un doigt déplace le graphique, deux zooment\u202f; toucher "
        "une étape pour la lire.",
        "chart.x": "Axe horizontal",
        "chart.y": "Axe vertical",
        "chart.steps": "Étapes",
        "chart.time": "Temps",
        "chart.log": "Logarithmique",
        "chart.linear": "Linéaire",
        "chart.in": "Agrandir",
        "chart.out": "Réduire",
        "chart.all": "Tout montrer",
        "chart.range.steps": "étapes {first} à {last}",
        "chart.range.time": "{first} à {last}",
        "chart.slowest": "{range}\u202f; la plus lente\u00a0: étape {step}, {time} ({owner})",
        "chart.step": "étape {step}",
        "chart.at": "après {time}",
        "chart.part": "{owner}\u00a0: {time}",
        "list.gap": ", ",
        "chart.restart": "redémarrage",
        "chart.thinned": "{shown} enregistrements sur {all} sont tracés, dont le plus rapide et "
        "le plus lent de chaque tronçon.",
        "chart.none": "Le graphique a besoin de JavaScript\u202f; le reste de la page non.",
        "owners.title": "Où est passé le temps",
        "owners.label": "Répartition du temps",
        "owners.owner": "pour quoi",
        "owners.time": "durée",
        "owners.share": "part",
        "owners.steps": "étapes",
        "owners.typical": "typique",
        "owners.worst": "maximum",
        "owners.wall": "durée totale",
        "owners.gap": "Le temps entre les processus compte dans la durée totale, pas dans les "
        "parts.",
        "findings.title": "Constats, du plus coûteux au moins coûteux",
        "findings.none": "Rien de particulier.",
        "findings.small": "Moins importants ({count})",
        "finding.share": "{share} du temps",
        "finding.share.wall": "{share} de la durée totale",
        "finding.try": "Ce qui aide",
        "finding.saves": "gain possible\u00a0: {time}",
        "finding.else": "Autres explications possibles ({count})",
        "finding.alternative": "{what}\u202f; pour le savoir\u00a0: {how}",
        "finding.place": "étape {step}\u00a0: {time}",
        "finding.stretch": "étapes {first} à {last}\u00a0: {time}",
        "finding.more": "et {count} de plus",
        "finding.evidence": "Lignes du journal ({count})",
        "finding.line": "ligne {number}",
        "finding.line.file": "{file}, ligne {number}",
        "advice.title": "Réglages conseillés",
        "copy": "Copier",
        "copied": "Copié",
        "unknown.title": "Ce qu'on ne sait pas",
        "footer": "Fait par instride {version}. Ce fichier contient tout ce qu'il montre et "
        "ne charge rien du réseau.",
        "unit.ms": "{number}\u00a0ms",
        "unit.s": "{number}\u00a0s",
        "unit.min": "{number}\u00a0min",
        "unit.h": "{number}\u00a0h",
        "unit.d": "{number}\u00a0j",
        "unit.between": "\u00a0",
    }
