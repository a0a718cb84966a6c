"""German: the notes of readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.facts import Facts, count_of
from instride.explain.languages.notes import NoteWords


class GermanNotes(NoteWords):
    trainers: ClassVar[Mapping[str, str]] = {
        "unknown trainer (guessed)": "unbekanntes Trainingsprogramm (erraten)",
        "your pattern": "eigenes Muster",
        "tqdm progress bar": "Fortschrittsbalken von tqdm",
        "MetricLogger of torchvision, DETR, DINO, MAE": "MetricLogger aus torchvision, DETR, "
        "DINO, MAE",
        "TensorBoard scalar (CSV or JSON)": "TensorBoard-Skalar (CSV oder JSON)",
        "Weights & Biases history (JSON lines or CSV)": "Weights-&-Biases-Verlauf (JSON-Zeilen "
        "oder CSV)",
    }
    guess_parts: ClassVar[Mapping[str, str]] = {
        "step": "Schritt {place}",
        "epoch": "über die Epochen {place} weitergezählt",
        "epoch.lines": "über die Epochen auf eigenen Zeilen weitergezählt",
        "rate": "Schritte pro Sekunde {place}",
        "microseconds": "Mikrosekunden {place}",
        "milliseconds": "Millisekunden {place}",
        "seconds": "Sekunden {place}",
        "minutes": "Minuten {place}",
        "microseconds.between": "Mikrosekunden {place} für alle Schritte dazwischen",
        "milliseconds.between": "Millisekunden {place} für alle Schritte dazwischen",
        "seconds.between": "Sekunden {place} für alle Schritte dazwischen",
        "minutes.between": "Minuten {place} für alle Schritte dazwischen",
        "elapsed": "Zeit seit dem Start {place}",
        "stamp": "Zeitstempel {place}",
        "data": "Warten auf Daten {place}",
        "clock.dated": "Zeitstempel in den Zeilen",
        "clock.undated": "Zeitstempel ohne Datum in den Zeilen",
        "nothing": "keine Zeit",
    }
    guess_places: ClassVar[Mapping[str, str]] = {
        "after": "nach `{name}`",
        "before": "vor `{name}`",
        "column": "in Spalte `{name}`",
        "nameless": "ohne Namen",
    }

    def unknown_note_guessed(self, f: Facts) -> str:
        return f"Das Format ist geraten ({self._guessed(f)})."

    def unknown_note_counted_dictionaries(self, f: Facts) -> str:
        every = count_of(f, "every")
        steps = "ein Schritt" if every == 1 else f"{self.number(every)} Schritte"
        return f"Es gibt keinen Fortschrittsbalken: Jedes ausgegebene Dictionary zählt als {steps}."

    def unknown_note_micro_batches(self, f: Facts) -> str:
        return (
            "Ein Schritt ist hier ein Micro-Batch. LitGPT misst den letzten jedes "
            "Optimizer-Schritts, in dem auch die Arbeit des Optimizers steckt."
        )

    def unknown_note_long_lines(self, f: Facts) -> str:
        length = self.number(count_of(f, "length"))
        return f"Zeilen mit mehr als {length} Zeichen werden übersprungen: Das Muster ist langsam."

    def unknown_note_no_timestamp(self, f: Facts) -> str:
        return f"`{f['text']}` in der Gruppe `time` ist kein bekannter Zeitstempel."

    def unknown_note_damaged_document(self, f: Facts) -> str:
        return "Das Dokument ist beschädigt: Was heil ist, wurde Eintrag für Eintrag gelesen."

    def unknown_note_batch_size(self, f: Facts) -> str:
        size = self.number(count_of(f, "size"))
        return f"Ein Batch hat {size} Samples, nach den Zahlen im Log zu schließen."

    def unknown_note_no_batch_size(self, f: Facts) -> str:
        return "Das Log nennt die Batchgröße nicht: Ein Schritt gilt als ein Sample."

    def unknown_note_several_bars(self, f: Facts) -> str:
        name = f"`{f['name']}`" if f["name"] else "ohne Namen"
        return f"Es gibt mehrere lange Fortschrittsbalken: Der {name} gilt als der des Trainings."

    def unknown_note_bar_an_epoch(self, f: Facts) -> str:
        return (
            "Jede Epoche hat ihren eigenen Balken: Die Zeit zwischen zwei Epochen steht nicht "
            "im Log."
        )

    def unknown_note_several_jobs(self, f: Facts) -> str:
        kept, records = self.number(count_of(f, "kept")), self.number(count_of(f, "records"))
        return (
            "Mehrere Jobs schreiben gleichzeitig in dieses Log: Erklärt wird der längste, "
            f"{kept} von {records} Einträgen."
        )

    def unknown_note_first_job(self, f: Facts) -> str:
        return "Mehrere Jobs haben gleichzeitig in diese Datei geschrieben: Der erste wird gelesen."

    def unknown_note_cut_off(self, f: Facts) -> str:
        return f"{f['name']} bricht mitten in den komprimierten Daten ab."

    def unknown_note_empty_file(self, f: Facts) -> str:
        return f"Weggelassen, weil leer: {f['name']}."

    def unknown_note_same_steps(self, f: Facts) -> str:
        more = f" und {self.number(count_of(f, 'more'))} weitere" if f["more"] else ""
        return f"Weggelassen, weil dieselben Schritte wie in {f['kept']}: {f['left_out']}{more}."

    def unknown_note_other_run(self, f: Facts) -> str:
        return (
            f"{f['after']} beginnt wieder bei Schritt {f['step']}, wie {f['before']}: Wenn das "
            "zwei Trainings sind und nicht eines, das neu gestartet wurde, vergleicht sie "
            f"`{f['command']}`."
        )

    def unknown_note_failed_saves(self, f: Facts) -> str:
        count = count_of(f, "count")
        failed = "1 Speichern schlug fehl"
        if count > 1:
            failed = f"{self.number(count)} Speicherungen schlugen fehl, zuletzt"
        return f"{failed}: {f['name']} ({f['why']})."

    def unknown_note_counted_beats(self, f: Facts) -> str:
        counted = (
            "Die Schleife ruft `saver.due(step)` nicht auf: gezählt sind die Schritte des "
            "Optimierers"
        )
        if "begun_at" not in f:
            return f"{counted}."
        return (
            f"{counted}. Von wo der Prozess bei Schritt {f['begun_at']} weitermachte, sagt keine "
            "Zeile: angenommen ist der neueste gespeicherte Stand."
        )

    def unknown_note_other_trainer(self, f: Facts) -> str:
        more = f" und {self.number(count_of(f, 'more'))} weitere" if f["more"] else ""
        return (
            f"Nicht gelesen, weil ein Log von {self.trainer(str(f['other']))} kein Teil eines Logs "
            f"von {self.trainer(str(f['trainer']))} ist: {f['left_out']}{more}. Zwei Trainings "
            f"vergleicht `{f['command']}`."
        )
