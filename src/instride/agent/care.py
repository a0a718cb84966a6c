"""All that taking care of one directory needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from instride.agent.arrivals import Arrivals
from instride.agent.configuration import Configuration
from instride.agent.pacing import Governing
from instride.agent.proving import Proofs
from instride.agent.remembering import Memory
from instride.agent.telling import Teller


class Tally(msgspec.Struct):
    """What came of it, since the agent was started."""

    num_made: int = 0
    saved_bytes: int = 0


class Care(msgspec.Struct, frozen=True):
    directory: Path
    configuration: Configuration
    governing: Governing
    teller: Teller
    memory: Memory
    arrivals: Arrivals
    proofs: Proofs
    tally: Tally
    tick: Callable[[], None]
    """Is called some times a second while something takes long."""
