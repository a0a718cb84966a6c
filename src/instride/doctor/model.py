"""What doctor finds: facts with their evidence and a fix; a language makes the sentences."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from instride.reasons import Reason


class Certainty(StrEnum):
    """How sure a finding is."""

    SURE = "sure"
    """It was measured, or the code can mean nothing else."""
    LIKELY = "likely"
    """The code looks so; something that was not read could make it different."""
    PERHAPS = "perhaps"
    """Worth a look; ranks last."""


class Bytes(msgspec.Struct, frozen=True):
    value: int


class Seconds(msgspec.Struct, frozen=True):
    value: float


class Speed(msgspec.Struct, frozen=True):
    bytes_per_s: float


class Share(msgspec.Struct, frozen=True):
    """A part of a whole, 0 to 1."""

    value: float


class Count(msgspec.Struct, frozen=True):
    """How many; a template says the noun: `{workers:worker|workers}`."""

    value: int


class Factor(msgspec.Struct, frozen=True):
    """So many times as much."""

    value: float


Fact = str | Bytes | Seconds | Speed | Share | Count | Factor | Reason
"""A text is shown as it is (a path, a name, a line of code); a reason in each language."""


class Place(msgspec.Struct, frozen=True):
    """Evidence in a file."""

    path: str
    """Relative to the repository."""
    line: int
    """From 1."""
    text: str
    """The line itself, cut where it is long."""


class Reading(msgspec.Struct, frozen=True):
    """Evidence on the machine: a counter, and what it said."""

    counter: str
    """As one would look at it: `/proc/4711/autogroup`, `MemAvailable`."""
    value: str


Evidence = Place | Reading


class FixKind(StrEnum):
    DIFF = "diff"
    """A unified diff of the repository."""
    LINE = "line"
    """A line of configuration or code to put there instead."""
    COMMAND = "command"


class Fix(msgspec.Struct, frozen=True):
    kind: FixKind
    text: str
    """Code, not prose: the same in every language."""


class Finding(msgspec.Struct, frozen=True):
    rule: str
    """Its id in the catalogue."""
    facts: dict[str, Fact]
    """What the sentences of the rule need; every language uses the same names."""
    evidence: tuple[Evidence, ...]
    certainty: Certainty = Certainty.SURE
    fixes: tuple[Fix, ...] = ()
    cost_s_per_hour: float | None = None
    """Seconds that it takes from an hour of training, where that was measured."""


class Unknown(msgspec.Struct, frozen=True):
    """Something that could not be told here, and why; a language has the sentence."""

    id: str
    facts: dict[str, Fact] = {}
