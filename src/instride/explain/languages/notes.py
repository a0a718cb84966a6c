"""What a language must be able to say of the notes of readers: guesses, and what was left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from instride.explain.languages.contract import Language
from instride.explain.languages.facts import Facts

TIMES = ("elapsed", "stamp", "data")


class NoteWords(Language, ABC):
    """A sentence for each note, named after its id; what was guessed is told as a list."""

    guess_parts: ClassVar[Mapping[str, str]]
    """What was found, each with its {place}: `step`, `epoch`, a time by its unit, `elapsed`,
    `stamp`, `data`; with `.between` a time is that of all steps between two records; `epoch.lines`,
    `clock.dated` and `clock.undated` tell of lines, `nothing` that there is no time."""
    guess_places: ClassVar[Mapping[str, str]]
    """Where a number stands, from the {name} that it has in the log."""
    guess_gap: ClassVar[str] = ", "

    def _guessed(self, f: Facts) -> str:
        return self.guess_gap.join(self._found(f))

    def _found(self, f: Facts) -> Iterator[str]:
        yield self._part("step", f, "step")
        if f.get("epoch_at") == "lines":
            yield self.guess_parts["epoch.lines"]
        elif "epoch" in f:
            yield self._part("epoch", f, "epoch")
        times = [self._part(what, f, what) for what in TIMES if what in f]
        if "time" in f:
            unit = f"{f['unit']}.between" if f["between"] else str(f["unit"])
            times.insert(0, self._part(unit, f, "time"))
        if "clock" in f:
            times.append(self.guess_parts[f"clock.{f['clock']}"])
        yield from times or [self.guess_parts["nothing"]]

    def _part(self, key: str, f: Facts, what: str) -> str:
        place = self.guess_places[str(f[f"{what}_at"])].format(name=f[what])
        return self.guess_parts[key].format(place=place)

    @abstractmethod
    def unknown_note_guessed(self, f: Facts) -> str:
        """What was taken for what in the log of an unknown trainer."""

    @abstractmethod
    def unknown_note_counted_dictionaries(self, f: Facts) -> str:
        """There is no bar: `every` printed dictionary stands for so many steps."""

    @abstractmethod
    def unknown_note_micro_batches(self, f: Facts) -> str:
        """LitGPT prints micro-batches."""

    @abstractmethod
    def unknown_note_long_lines(self, f: Facts) -> str:
        """Lines over a `length` are skipped."""

    @abstractmethod
    def unknown_note_no_timestamp(self, f: Facts) -> str:
        """The group `time` of a pattern matched a `text` that is none."""

    @abstractmethod
    def unknown_note_damaged_document(self, f: Facts) -> str:
        """A JSON document is not whole."""

    @abstractmethod
    def unknown_note_batch_size(self, f: Facts) -> str:
        """The `size` of a batch follows from times only."""

    @abstractmethod
    def unknown_note_no_batch_size(self, f: Facts) -> str:
        """A step is taken as one sample."""

    @abstractmethod
    def unknown_note_several_bars(self, f: Facts) -> str:
        """One of several bars was taken, by its `name` if it has one."""

    @abstractmethod
    def unknown_note_bar_an_epoch(self, f: Facts) -> str:
        """Bars of epochs hide the time between them."""

    @abstractmethod
    def unknown_note_several_jobs(self, f: Facts) -> str:
        """The longest job of several: `kept` of all `records`."""

    @abstractmethod
    def unknown_note_first_job(self, f: Facts) -> str:
        """The first job of several."""

    @abstractmethod
    def unknown_note_cut_off(self, f: Facts) -> str:
        """The compressed data of a file, by its `name`, is not whole."""

    @abstractmethod
    def unknown_note_empty_file(self, f: Facts) -> str:
        """A file was left out, by its `name`."""

    @abstractmethod
    def unknown_note_same_steps(self, f: Facts) -> str:
        """Files `left_out`, and so many `more`, repeat the one that was `kept`."""

    @abstractmethod
    def unknown_note_other_run(self, f: Facts) -> str:
        """The file `after` starts at the same `step` as the one `before`: another training?"""

    @abstractmethod
    def unknown_note_failed_saves(self, f: Facts) -> str:
        """So many (`count`) saves failed; of the last one, the `name`, and `why` in English."""

    @abstractmethod
    def unknown_note_counted_beats(self, f: Facts) -> str:
        """The loop does not tell its steps: they were counted by the optimizer. With `begun_at`:
        a process was taken to go on from the newest save, for no line says from where it did."""

    @abstractmethod
    def unknown_note_other_trainer(self, f: Facts) -> str:
        """Files `left_out`, and so many `more`, are of an `other` trainer than the one read."""
