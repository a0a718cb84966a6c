"""English: the machine."""

from __future__ import annotations

from instride.doctor.languages import en_machine_disks, en_machine_load
from instride.doctor.languages.template import Wording

WORDINGS: dict[str, Wording] = en_machine_disks.WORDINGS | en_machine_load.WORDINGS
UNKNOWNS: dict[str, str] = {
    "silent-filesystem": "What `{path}` is on did not answer in time; a file server may be gone.",
    "unreadable-path": "`{path}` could not be looked at: {error}.",
    "unknown-filesystem": "This system does not say what filesystem `{path}` is on.",
    "checkpoint-size": "How many checkpoints fit, and whether memory holds a copy of one: there is"
    " none in `{path}` yet to tell its size.",
    "not-measured": "How fast `{path}` is: there is too little room left to write a probe.",
    "quota": "Whether a quota applies to `{path}` ({filesystem}): only its server knows;"
    " `quota -s` asks it.",
    "hidden-processes": "What {processes:busy process reads and writes"
    "|busy processes read and write}: that takes more rights.",
    "hidden-from-root": "What {processes:busy process reads and writes"
    "|busy processes read and write}: here, root is not told either.",
    "open-files": "Which programs have checkpoints open: that is only looked at on Linux.",
    "swapping": "Whether memory is swapped just now: that is only looked at on Linux.",
    "pressure": "Whether programs wait for memory: this kernel does not count it (no"
    " /proc/pressure).",
    "gpu-library": "How the GPU is doing: `pip install 'instride[gpu]'` brings the library that"
    " asks its driver.",
    "silent-gpu": "How the GPU is doing: its driver did not answer in time.",
}
"""Templates of what could not be told, by id; whole sentences."""
