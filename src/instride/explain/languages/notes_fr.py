"""French: the notes of readers. No-break spaces are written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.facts import Facts, count_of
from instride.explain.languages.notes import NoteWords
from instride.explain.languages.numbers import SPACE


class FrenchNotes(NoteWords):
    trainers: ClassVar[Mapping[str, str]] = {
        "unknown trainer (guessed)": "programme inconnu (deviné)",
        "your pattern": "votre motif",
        "tqdm progress bar": "barre de progression tqdm",
        "MetricLogger of torchvision, DETR, DINO, MAE": "MetricLogger de torchvision, DETR, DINO, "
        "MAE",
        "TensorBoard scalar (CSV or JSON)": "scalaire TensorBoard (CSV ou JSON)",
        "Weights & Biases history (JSON lines or CSV)": "historique Weights & Biases (lignes JSON "
        "ou CSV)",
    }
    guess_parts: ClassVar[Mapping[str, str]] = {
        "step": "étape {place}",
        "epoch": "décompte poursuivi à travers les époques {place}",
        "epoch.lines": "décompte poursuivi à travers les époques, qui ont leurs propres lignes",
        "rate": "étapes par seconde {place}",
        "microseconds": "microsecondes {place}",
        "milliseconds": "millisecondes {place}",
        "seconds": "secondes {place}",
        "minutes": "minutes {place}",
        "microseconds.between": "microsecondes {place} pour toutes les étapes intermédiaires",
        "milliseconds.between": "millisecondes {place} pour toutes les étapes intermédiaires",
        "seconds.between": "secondes {place} pour toutes les étapes intermédiaires",
        "minutes.between": "minutes {place} pour toutes les étapes intermédiaires",
        "elapsed": "temps depuis le début {place}",
        "stamp": "horodatage {place}",
        "data": "attente des données {place}",
        "clock.dated": "horodatage des lignes",
        "clock.undated": "horodatage sans date des lignes",
        "nothing": "aucune durée",
    }
    guess_places: ClassVar[Mapping[str, str]] = {
        "after": "après `{name}`",
        "before": "avant `{name}`",
        "column": "dans la colonne `{name}`",
        "nameless": "sans nom",
    }

    def unknown_note_guessed(self, f: Facts) -> str:
        return f"Le format est deviné ({self._guessed(f)})."

    def unknown_note_counted_dictionaries(self, f: Facts) -> str:
        every = count_of(f, "every")
        steps = "une étape" if every == 1 else f"{self.number(every)} étapes"
        return (
            f"Il n'y a pas de barre de progression{SPACE}: chaque dictionnaire affiché compte "
            f"pour {steps}."
        )

    def unknown_note_micro_batches(self, f: Facts) -> str:
        return (
            "Une étape est ici un micro-lot. LitGPT mesure le dernier de chaque étape de "
            "l'optimiseur, qui comprend aussi le travail de celui-ci."
        )

    def unknown_note_long_lines(self, f: Facts) -> str:
        length = self.number(count_of(f, "length"))
        return f"Les lignes de plus de {length} caractères sont ignorées{SPACE}: le motif est lent."

    def unknown_note_no_timestamp(self, f: Facts) -> str:
        return f"`{f['text']}` dans le groupe `time` n'est pas un horodatage connu."

    def unknown_note_damaged_document(self, f: Facts) -> str:
        return (
            f"Le document est endommagé{SPACE}: ce qui en reste d'intact a été lu entrée par "
            "entrée."
        )

    def unknown_note_batch_size(self, f: Facts) -> str:
        size = self.number(count_of(f, "size"))
        return f"Un lot compte {size} exemples, à en juger par les chiffres du journal."

    def unknown_note_no_batch_size(self, f: Facts) -> str:
        return (
            f"Le journal ne donne pas la taille des lots{SPACE}: une étape est prise pour un "
            "exemple."
        )

    def unknown_note_several_bars(self, f: Facts) -> str:
        name = f"`{f['name']}`" if f["name"] else "sans nom"
        return (
            f"Il y a plusieurs longues barres{SPACE}: la barre {name} a été prise pour celle de "
            "l'entraînement."
        )

    def unknown_note_bar_an_epoch(self, f: Facts) -> str:
        return (
            f"Chaque époque a sa propre barre{SPACE}: le temps entre deux époques n'est pas dans "
            "le journal."
        )

    def unknown_note_several_jobs(self, f: Facts) -> str:
        kept, records = self.number(count_of(f, "kept")), self.number(count_of(f, "records"))
        return (
            f"Plusieurs tâches écrivent en même temps dans ce journal{SPACE}: la plus longue est "
            f"expliquée, {kept} enregistrements sur {records}."
        )

    def unknown_note_first_job(self, f: Facts) -> str:
        return (
            f"Plusieurs tâches ont écrit en même temps dans ce fichier{SPACE}: la première est lue."
        )

    def unknown_note_cut_off(self, f: Facts) -> str:
        return f"{f['name']} s'arrête au milieu de ses données compressées."

    def unknown_note_empty_file(self, f: Facts) -> str:
        return f"Écarté, car vide{SPACE}: {f['name']}."

    def unknown_note_same_steps(self, f: Facts) -> str:
        more = count_of(f, "more")
        others = f" et {self.number(more)} autre{'s' if more > 1 else ''}" if more else ""
        return (
            f"Écartés, car ils ont les mêmes étapes que {f['kept']}{SPACE}: "
            f"{f['left_out']}{others}."
        )

    def unknown_note_other_run(self, f: Facts) -> str:
        return (
            f"{f['after']} recommence à l'étape {f['step']}, comme {f['before']}\u00a0: s'il "
            "s'agit de deux entraînements et non d'un seul qui a redémarré, comparez-les avec "
            f"`{f['command']}`."
        )

    def unknown_note_failed_saves(self, f: Facts) -> str:
        count = count_of(f, "count")
        failed = "1 enregistrement a échoué"
        if count > 1:
            failed = f"{self.number(count)} enregistrements ont échoué, en dernier"
        return f"{failed}\u00a0: {f['name']} ({f['why']})."

    def unknown_note_counted_beats(self, f: Facts) -> str:
        counted = (
            "La boucle n'appelle pas `saver.due(step)`\u00a0: les étapes sont comptées d'après "
            "l'optimiseur"
        )
        if "begun_at" not in f:
            return f"{counted}."
        return (
            f"{counted}. Aucune ligne ne dit d'où le processus a repris à l'étape "
            f"{f['begun_at']}\u00a0: on suppose la dernière sauvegarde."
        )

    def unknown_note_other_trainer(self, f: Facts) -> str:
        more = f" et {self.number(count_of(f, 'more'))} de plus" if f["more"] else ""
        return (
            f"Laissé de côté, car un journal de {self.trainer(str(f['other']))} ne fait pas partie "
            f"d'un journal de {self.trainer(str(f['trainer']))}\u00a0: {f['left_out']}{more}. Pour "
            f"comparer deux entraînements\u00a0: `{f['command']}`."
        )
