"""German."""

from __future__ import annotations

from instride.doctor.languages import de_habits, de_machine, de_saving
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.languages.template import GermanWriter
from instride.explain.languages import LANGUAGES

PHRASES = {
    "repository": "{files:Datei|Dateien} gelesen, {rules:Regel|Regeln} geprüft",
    "machine": "diese Maschine",
    "machine-only": "{rules:Regel|Regeln} geprüft",
    "checkpoints": "Checkpoints in {paths}",
    "clean": "Nichts gefunden.",
    "clean-so-far": "Nichts gefunden, bis die Zeit um war.",
    "findings": "{findings:Befund|Befunde}",
    "order": ", die schlimmsten zuerst",
    "cost": "kostet {cost} je Trainingsstunde",
    "fix": "Abhilfe: {fix}",
    "more-places": "und {places:weitere Stelle|weitere Stellen}",
    "more-lines": "und {lines:weitere Zeile|weitere Zeilen} (alles mit --json)",
    "more-findings": "und {findings} weitere (alle mit --json)",
    "not-told": "Offen geblieben: ",
    "next": "weiter: ",
    "next-repository": "prüft auch den Trainingscode",
    "next-log": "was das Speichern wirklich kostet",
    "next-json": "alles, für Programme",
    "about-machine": "Die Maschine",
    "about-repository": "Das Repository",
    "silence": "Um eine Regel stummzuschalten, schreibt man neben die Zeile",
    "silence-all": "oder, für das ganze Repository, in dessen pyproject.toml",
}
UNKNOWNS = {
    "no-repository": "Nur die Maschine wurde geprüft, denn es wurde kein Repository genannt.",
    "no-checkpoints": (
        "Nirgends steht, wohin auf diesem Rechner die Checkpoints kommen; --checkpoints nennt das"
        " Verzeichnis."
    ),
    "cut-short": "Die Zeit reichte nicht mehr für {rules:Regel|Regeln}: {names}.",
    "rule-failed": "Die Regel {rule} ist hier auf Unerwartetes gestoßen ({error}).",
    "skipped-too-large": "Nicht gelesen: {files:Datei, die für Code zu groß ist"
    "|Dateien, die für Code zu groß sind} ({path}).",
    "skipped-too-many": "Nicht gelesen: was nach den ersten Dateien kommt; es sind zu viele"
    " ({path}).",
    "skipped-too-deep": "Nicht gelesen: {files:zu tief verschachtelter Ordner"
    "|zu tief verschachtelte Ordner} ({path}).",
    "skipped-unreadable": "Nicht gelesen: {files:Datei, die sich nicht öffnen lässt"
    "|Dateien, die sich nicht öffnen lassen} ({path}).",
    "skipped-not-python-3": "Nicht gelesen: {files:Datei|Dateien} in Python 2 ({path}).",
    "skipped-broken": "Nicht gelesen: {files:fehlerhafte Datei|fehlerhafte Dateien} ({path}).",
    "skipped-time": "Aus Zeitgründen nicht gelesen: {files:Datei|Dateien} ({path}).",
}

WORDS = DoctorWords(
    code="de",
    writer=GermanWriter(LANGUAGES["de"]),
    sayings=de_machine.SAYINGS | de_saving.SAYINGS | de_habits.SAYINGS,
    unknowns=UNKNOWNS | de_machine.UNKNOWNS | de_saving.UNKNOWNS | de_habits.UNKNOWNS,
    certainties={"sure": "sicher", "likely": "wahrscheinlich", "perhaps": "vielleicht"},
    phrases=PHRASES,
)
