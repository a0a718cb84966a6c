"""Notes of readers for the user, as facts; a language makes the sentence."""

from __future__ import annotations

from typing import Literal

import msgspec

Facts = dict[str, float | int | str | None]
NoteId = Literal[
    "guessed",
    "counted-dictionaries",
    "micro-batches",
    "long-lines",
    "no-timestamp",
    "damaged-document",
    "batch-size",
    "no-batch-size",
    "several-bars",
    "bar-an-epoch",
    "several-jobs",
    "first-job",
    "cut-off",
    "empty-file",
    "same-steps",
    "other-run",
    "other-trainer",
    "failed-saves",
    "counted-beats",
]


class Note(msgspec.Struct, frozen=True):
    """What had to be guessed, could not be read or was left out."""

    id: NoteId
    facts: Facts = {}
