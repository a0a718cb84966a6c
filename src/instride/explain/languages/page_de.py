"""German: the words of the HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class GermanPage:
    page: ClassVar[Mapping[str, str]] = {
        "name": "Deutsch",
        "title": "{name}: wo die Zeit geblieben ist",
        "headline": "{share} von {wall} flossen nicht in normale Schritte.",
        "headline.good": "Hier ist nichts zu holen: {share} von {wall} waren normale Schritte.",
        "language": "Sprache",
        "theme.dark": "Dunkel",
        "theme.light": "Hell",
        "fact.trainer": "Trainingsprogramm",
        "fact.steps": "Schritte",
        "fact.steps.all": "{first} bis {last}, alle im Log",
        "fact.steps.sampled": "{first} bis {last}, davon jeder {every}. im Log",
        "fact.wall": "Gesamtzeit",
        "fact.ordinary": "Ein normaler Schritt",
        "fact.spread": "{time} ± {spread}",
        "fact.rhythm": "Takt der Schleife",
        "fact.rhythm.value": "jeder {period}. Schritt dauert {more} länger",
        "fact.restarts": "Neustarts",
        "chart.title": "Schrittdauer",
        "chart.label": "Diagramm der Schrittdauer, farbig nach Ursache",
        "chart.keys": "Ziehen vergrößert, ein Doppelklick zeigt wieder alles; das Mausrad zoomt, "
        "sobald das Diagramm angewählt ist. Tasten: Pfeile verschieben, + und \u2212 zoomen, N und "
        "P springen zur nächsten und vorigen langsamen Stelle, 0 zeigt alles.",
        "chart.touch": "Ein Finger verschiebt das Diagramm, zwei zoomen; Antippen zeigt "
        "den Schritt.",
        "chart.x": "Waagerechte Achse",
        "chart.y": "Senkrechte Achse",
        "chart.steps": "Schritte",
        "chart.time": "Zeit",
        "chart.log": "Logarithmisch",
        "chart.linear": "Linear",
        "chart.in": "Vergrößern",
        "chart.out": "Verkleinern",
        "chart.all": "Alles zeigen",
        "chart.range.steps": "Schritte {first} bis {last}",
        "chart.range.time": "{first} bis {last}",
        "chart.slowest": "{range}; am langsamsten: Schritt {step}, {time} ({owner})",
        "chart.step": "Schritt {step}",
        "chart.at": "nach {time}",
        "chart.restart": "Neustart",
        "chart.thinned": "Gezeichnet sind {shown} von {all} Einträgen, darunter aus jedem "
        "Abschnitt der schnellste und der langsamste.",
        "chart.none": "Das Diagramm braucht JavaScript; alles andere auf dieser Seite nicht.",
        "owners.title": "Wo die Zeit geblieben ist",
        "owners.label": "Anteile an der Zeit",
        "owners.owner": "wofür",
        "owners.time": "Zeit",
        "owners.share": "Anteil",
        "owners.steps": "Schritte",
        "owners.typical": "typisch",
        "owners.worst": "maximal",
        "owners.wall": "Gesamtzeit",
        "owners.gap": "Die Zeit zwischen den Prozessen zählt zur Gesamtzeit, nicht zu den "
        "Anteilen.",
        "findings.title": "Befunde, die teuersten zuerst",
        "findings.none": "Nichts fällt auf.",
        "findings.small": "Kleinere ({count})",
        "finding.share": "{share} der Zeit",
        "finding.share.wall": "{share} der Gesamtzeit",
        "finding.try": "Was hilft",
        "finding.saves": "spart bis zu {time}",
        "finding.else": "Was es sonst sein könnte ({count})",
        "finding.alternative": "{what}; zur Probe: {how}",
        "finding.place": "Schritt {step}: {time}",
        "finding.stretch": "Schritte {first} bis {last}: {time}",
        "finding.more": "und {count} weitere",
        "finding.evidence": "Zeilen des Logs ({count})",
        "finding.line": "Zeile {number}",
        "finding.line.file": "{file}, Zeile {number}",
        "unknown.title": "Was nicht bekannt ist",
        "footer": "Erstellt mit instride {version}. Diese Datei enthält alles, was sie zeigt, "
        "und lädt nichts aus dem Netz.",
        "unit.ms": "{number}\u00a0ms",
        "unit.s": "{number}\u00a0s",
        "unit.min": "{number}\u00a0min",
        "unit.h": "{number}\u00a0h",
        "unit.d": "{number}\u00a0Tage",
        "unit.between": "\u00a0",
    }
