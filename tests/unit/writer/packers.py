"""What the writer packs with, without a training; light, so that its memory can be measured."""

from __future__ import annotations

import socket
from pathlib import Path
from queue import SimpleQueue

from instride.store.retention import Keep
from instride.writer.hands import Crew
from instride.writer.packs import Packs, Spoilt
from instride.writer.page import SharedPage
from instride.writer.protocol import ToWriter, Wire
from instride.writer.swapping import Draft
from instride.writer.telling import Told

Results = SimpleQueue[Draft | Spoilt]


def packs_for(store: Path, results: Results, crew: Crew | None = None) -> Packs:
    """Packs of a store that something was saved into."""
    with socket.socket(socket.AF_UNIX) as nobody:
        told = Told(Wire(nobody, ToWriter), None)
    page = SharedPage.create()
    packs = Packs(store, Keep(), page, crew or Crew(), told, None, results.put)
    packs.wake()
    return packs
