"""English: the notes of readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.facts import Facts, count_of
from instride.explain.languages.notes import NoteWords


class EnglishNotes(NoteWords):
    trainers: ClassVar[Mapping[str, str]] = {
        "unknown trainer (guessed)": "unknown trainer (guessed)",
        "your pattern": "your pattern",
        "tqdm progress bar": "tqdm progress bar",
        "MetricLogger of torchvision, DETR, DINO, MAE": "MetricLogger of torchvision, DETR, DINO, "
        "MAE",
        "TensorBoard scalar (CSV or JSON)": "TensorBoard scalar (CSV or JSON)",
        "Weights & Biases history (JSON lines or CSV)": "Weights & Biases history (JSON lines or "
        "CSV)",
    }
    guess_parts: ClassVar[Mapping[str, str]] = {
        "step": "step {place}",
        "epoch": "counted on through the epochs {place}",
        "epoch.lines": "counted on through the epochs on lines of their own",
        "rate": "steps a second {place}",
        "microseconds": "microseconds {place}",
        "milliseconds": "milliseconds {place}",
        "seconds": "seconds {place}",
        "minutes": "minutes {place}",
        "microseconds.between": "microseconds {place} for all steps between",
        "milliseconds.between": "milliseconds {place} for all steps between",
        "seconds.between": "seconds {place} for all steps between",
        "minutes.between": "minutes {place} for all steps between",
        "elapsed": "time since the start {place}",
        "stamp": "timestamps {place}",
        "data": "waiting for data {place}",
        "clock.dated": "timestamps on the lines",
        "clock.undated": "timestamps without a date on the lines",
        "nothing": "no time",
    }
    guess_places: ClassVar[Mapping[str, str]] = {
        "after": "after `{name}`",
        "before": "before `{name}`",
        "column": "in column `{name}`",
        "nameless": "without a name",
    }

    def unknown_note_guessed(self, f: Facts) -> str:
        return f"The format is a guess ({self._guessed(f)})."

    def unknown_note_counted_dictionaries(self, f: Facts) -> str:
        every = self.number(count_of(f, "every"))
        return (
            f"There is no progress bar: steps are counted as {every} for each printed dictionary."
        )

    def unknown_note_micro_batches(self, f: Facts) -> str:
        return (
            "A step here is one micro-batch. LitGPT times the last one of each optimizer step, "
            "which holds the optimizer's work."
        )

    def unknown_note_long_lines(self, f: Facts) -> str:
        length = self.number(count_of(f, "length"))
        return f"Lines over {length} characters are skipped: the pattern is slow."

    def unknown_note_no_timestamp(self, f: Facts) -> str:
        return f"`{f['text']}` in the group `time` is no known timestamp."

    def unknown_note_damaged_document(self, f: Facts) -> str:
        return "The document is damaged: what is whole in it was read entry by entry."

    def unknown_note_batch_size(self, f: Facts) -> str:
        size = self.number(count_of(f, "size"))
        return f"A batch has {size} samples, to judge by the numbers in the log."

    def unknown_note_no_batch_size(self, f: Facts) -> str:
        return "The log does not tell the batch size: a step is taken as one sample."

    def unknown_note_several_bars(self, f: Facts) -> str:
        name = f"`{f['name']}`" if f["name"] else "without a name"
        return f"There are several long bars: the one {name} was taken for the training."

    def unknown_note_bar_an_epoch(self, f: Facts) -> str:
        return "Every epoch has a bar of its own: the time between two epochs is not in the log."

    def unknown_note_several_jobs(self, f: Facts) -> str:
        kept, records = self.number(count_of(f, "kept")), self.number(count_of(f, "records"))
        return (
            "Several jobs write into this log at once: the longest is explained, "
            f"{kept} of {records} records."
        )

    def unknown_note_first_job(self, f: Facts) -> str:
        return "Several jobs wrote to this file at the same time: the first one is read."

    def unknown_note_cut_off(self, f: Facts) -> str:
        return f"{f['name']} ends in the middle of its compressed data."

    def unknown_note_empty_file(self, f: Facts) -> str:
        return f"Left out, for it is empty: {f['name']}."

    def unknown_note_same_steps(self, f: Facts) -> str:
        more = f" and {self.number(count_of(f, 'more'))} more" if f["more"] else ""
        return f"Left out, with the same steps as {f['kept']}: {f['left_out']}{more}."

    def unknown_note_other_run(self, f: Facts) -> str:
        return (
            f"{f['after']} starts at step {f['step']} again, like {f['before']}: if these are two "
            f"trainings and not one that was restarted, say `{f['command']}`."
        )

    def unknown_note_failed_saves(self, f: Facts) -> str:
        count = count_of(f, "count")
        failed = "1 save failed" if count == 1 else f"{self.number(count)} saves failed, the last"
        return f"{failed}: {f['name']} ({f['why']})."

    def unknown_note_counted_beats(self, f: Facts) -> str:
        counted = "The loop does not call `saver.due(step)`: counted are the steps of the optimizer"
        if "begun_at" not in f:
            return f"{counted}."
        return (
            f"{counted}. Where the process at step {f['begun_at']} went on from, no line says: "
            "taken is the newest save."
        )

    def unknown_note_other_trainer(self, f: Facts) -> str:
        more = f" and {self.number(count_of(f, 'more'))} more" if f["more"] else ""
        return (
            f"Left out, for a log of {self.trainer(str(f['other']))} is no part of one of "
            f"{self.trainer(str(f['trainer']))}: {f['left_out']}{more}. Two trainings are compared "
            f"by `{f['command']}`."
        )
