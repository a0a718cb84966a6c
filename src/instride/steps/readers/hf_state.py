"""`trainer_state.json` of a Hugging Face Trainer: no time for a step, only totals.

{"epoch": 0.19, "loss": 0.3048, "step": 25},
{"epoch": 7.63, "eval_loss": 0.21, "eval_runtime": 1728.05, "step": 1000},
{"epoch": 38.17, "step": 5000, "train_loss": 0.019, "train_runtime": 77350.9963}
"""

from __future__ import annotations

import re
from array import array
from itertools import groupby
from typing import ClassVar

import msgspec

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.contract import Reader
from instride.steps.readers.gaps import Mark, Printed
from instride.steps.recording import Recording

NOT_JSON = re.compile(r"(?<=[\s:\[,])-?(?:NaN|Infinity)(?=\s*[,}\]])")
"""What Python writes for such numbers; JSON has none."""
HIGHEST = 1e15
ENTRY = re.compile(r"\{[^{}]*\}")

Entry = dict[str, object]


class State(msgspec.Struct):
    log_history: list[Entry] = []


class HFState(Reader):
    """`train_runtime` holds the evaluations, so a step takes less than it divided by the steps."""

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="hf-trainer-state",
        title="Hugging Face trainer_state.json",
        sample='{"global_step": 50, "log_history": [{"loss": 0.3, "step": 50}]}',
        pauses=Pauses.NONE,
        sampling=Sampling.TOTALS,
    )
    takes_long_lines: ClassVar[bool] = True

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.texts: list[str] = []
        self.step_lines = array("q")
        """For each entry, where its step stands."""

    @staticmethod
    def sniff(line: str) -> bool:
        return '"log_history": [' in line or '"log_history":[' in line

    def feed(self, number: int, line: str) -> None:
        if line.startswith("{") and self.texts:
            self._read()
        if line or self.texts:
            self.texts.append(line)
        if '"step":' in line:
            self.step_lines.extend([number] * line.count('"step":'))

    def finish(self) -> None:
        if self.texts:
            self._read()

    def _read(self) -> None:
        """Read one document, and forget it: several may follow one another."""
        entries = self._entries("\n".join(self.texts))
        lines, self.texts, self.step_lines = self.step_lines, [], array("q")
        stepped = [entry for entry in entries if "step" in entry]
        lines.extend([lines[-1] if lines else 1] * (len(stepped) - len(lines)))
        printed = Printed()
        if len(self.log.run):
            printed.mark(Mark(EventKind.START, lines[0] if lines else 1))
        placed = [
            (entry, int(step), line)
            for entry, line in zip(stepped, lines, strict=False)
            if (step := _number(entry["step"])) is not None and step.is_integer()
        ]
        for step, group in groupby(placed, key=lambda place: place[1]):
            # An evaluation is after its step, whatever the order in the document.
            for entry, _, line in sorted(group, key=lambda place: "loss" not in place[0]):
                self._take(printed, entry, step, line)
        printed.replay(self.log)

    def _take(self, printed: Printed, entry: Entry, step: int, line: int) -> None:
        if "loss" in entry:
            printed.add(step, line)
        for key, value in entry.items():
            if key == "train_runtime":
                self.log.run.total_s = _number(value)
                printed.mark(Mark(EventKind.END, line))
            elif key.endswith("_runtime"):
                printed.mark(Mark(EventKind.EVAL, line, _number(value), key, step=step))

    def _entries(self, text: str) -> list[Entry]:
        text = NOT_JSON.sub("null", text)
        try:
            return msgspec.json.decode(text, type=State).log_history
        except (msgspec.DecodeError, RecursionError):
            self.log.note(Note("damaged-document"))
        return [entry for found in ENTRY.finditer(text) if (entry := _entry(found[0]))]


def _number(value: object) -> float | None:
    """A count or a duration, if it is one that can be."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < HIGHEST else None


def _entry(text: str) -> Entry | None:
    try:
        return msgspec.json.decode(text, type=Entry)
    except (msgspec.DecodeError, RecursionError):
        return None
