"""French."""

from __future__ import annotations

from instride.doctor.languages import fr_habits, fr_machine, fr_saving
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.languages.template import FrenchWriter
from instride.explain.languages import LANGUAGES

PHRASES = {
    "repository": "{files:fichier lu|fichiers lus}, {rules:règle vérifiée|règles vérifiées}",
    "machine": "cette machine",
    "machine-only": "{rules:règle vérifiée|règles vérifiées}",
    "checkpoints": "checkpoints dans {paths}",
    "clean": "Rien à signaler.",
    "clean-so-far": "Rien à signaler dans le temps imparti.",
    "findings": "{findings:constat|constats}",
    "order": ", du plus grave au moins grave",
    "cost": "prend {cost} à chaque heure d'entraînement",
    "fix": "Remède : {fix}",
    "more-places": "et {places:autre endroit|autres endroits}",
    "more-lines": "et {lines:autre ligne|autres lignes} (tout avec --json)",
    "more-findings": "et {findings} de plus (tous avec --json)",
    "not-told": "Sans réponse : ",
    "next": "ensuite : ",
    "next-repository": "examine aussi le code d'entraînement",
    "next-log": "ce que coûtent vraiment les sauvegardes",
    "next-json": "tout, pour les programmes",
    "about-machine": "La machine",
    "about-repository": "Le dépôt",
    "silence": "Pour taire une règle, écrire à côté de la ligne",
    "silence-all": "ou, pour tout le dépôt, dans son pyproject.toml",
}
UNKNOWNS = {
    "no-repository": "Seule la machine a été examinée, aucun dépôt n'étant indiqué.",
    "no-checkpoints": (
        "Rien ne dit où vont les checkpoints sur cette machine ; --checkpoints indique le"
        " répertoire."
    ),
    "cut-short": "Le temps a manqué pour {rules:règle|règles} : {names}.",
    "rule-failed": "La règle {rule} a buté ici sur un imprévu ({error}).",
    "skipped-too-large": "Pas lu : {files:fichier trop gros|fichiers trop gros} pour du code"
    " ({path}).",
    "skipped-too-many": "Pas lu : ce qui suit les premiers fichiers, trop nombreux ({path}).",
    "skipped-too-deep": "Pas lu : {files:dossier trop imbriqué|dossiers trop imbriqués} ({path}).",
    "skipped-unreadable": "Pas lu : {files:fichier impossible|fichiers impossibles} à ouvrir"
    " ({path}).",
    "skipped-not-python-3": "Pas lu : {files:fichier|fichiers} en Python 2 ({path}).",
    "skipped-broken": "Pas lu : {files:fichier mal formé|fichiers mal formés} ({path}).",
    "skipped-time": "Pas lu, faute de temps : {files:fichier|fichiers} ({path}).",
}

WORDS = DoctorWords(
    code="fr",
    writer=FrenchWriter(LANGUAGES["fr"]),
    sayings=fr_machine.SAYINGS | fr_saving.SAYINGS | fr_habits.SAYINGS,
    unknowns=UNKNOWNS | fr_machine.UNKNOWNS | fr_saving.UNKNOWNS | fr_habits.UNKNOWNS,
    certainties={"sure": "certain", "likely": "probable", "perhaps": "possible"},
    phrases=PHRASES,
)
