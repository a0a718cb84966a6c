"""Whole screens about checkpoints, in every language, compared with files that people have seen.

After a change that was wanted, write them anew and look at what has changed:

    UPDATE_SCREENS=1 pytest tests/unit/cli/test_store_screens.py && git diff tests/unit/cli
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.exported import print_export
from instride.cli.render.listing import print_listing
from instride.cli.render.pruning import print_pruning
from instride.cli.render.verdict import print_verdict
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.store.checking import Checked, Verdict
from instride.store.exported import Export
from instride.store.listing import CheckpointEntry, LeftoverEntry, Listing, OwnerEntry
from instride.store.pruning import PrunedEntry, Pruning

SCREENS = Path(__file__).parent / "store_screens"
IS_WRITTEN_ANEW = "UPDATE_SCREENS" in os.environ
COLUMNS = 80
GB = 10**9
Show = Callable[[Words, Console], None]


def entry(step: int, age_s: float, **changed: object) -> CheckpointEntry:
    fields: dict[str, object] = {
        "name": f"step_{step:08d}.pt",
        "step": step,
        "size_bytes": round(15.8 * GB),
        "state": "committed",
        "age_s": age_s,
        "serial": step // 500,
        "metric": 2.5 / step,
        "call_s": 0.0113,
        "durable_s": 6.21,
        "ratio": None,
        "base": None,
        "is_base_gone": False,
        "is_newest": False,
        "is_latest": False,
        "unsafe": [],
    }
    return CheckpointEntry(**{**fields, **changed})  # type: ignore[arg-type]


OWNER = OwnerEntry("node7", 12345, 12399, True, True)
FOREIGN = {"state": "foreign", "serial": None, "metric": None, "call_s": None, "durable_s": None}
LISTING = Listing(
    schema=1,
    directory="runs/gpt/checkpoints",
    checkpoints=[
        entry(500, 90_000.0, **FOREIGN),
        entry(1000, 7300.0, state="damaged"),
        entry(1500, 150.0),
        entry(2000, 12.0, is_newest=True, is_latest=True),
    ],
    leftovers=[LeftoverEntry(".step_00002500.pt.0123abcd.tmp", GB)],
    owner=OWNER,
    total_bytes=4 * round(15.8 * GB),
)
ORPHAN = OwnerEntry("node7", 12345, 12399, False, True)
ELSEWHERE = OwnerEntry("node8", 12345, 12399, True, False)
EMPTY = Listing(1, "checkpoints", [], [LeftoverEntry("a", 1), LeftoverEntry("b", 2)], None, 0)
STALE = replace(LISTING, owner=None, leftovers=[], is_latest_stale=True)
PACK = "step_00001000.pt.pack"
PACKED = replace(
    STALE,
    is_latest_stale=False,
    checkpoints=[
        entry(1500, 150.0, ratio=0.73, base=PACK),
        entry(2000, 12.0, ratio=0.73, base=PACK, is_base_gone=True, is_newest=True),
    ],
    leftovers=[
        LeftoverEntry(".instride/manifests/step_00000500.pt.0123456789abcdef.json", 1500, True),
        LeftoverEntry(".step_00002500.pt.0123abcd.tmp", GB),
    ],
)
SHARED = replace(EMPTY, leftovers=[], owner=ELSEWHERE)


def checked(number: int, **changed: object) -> Checked:
    fields: dict[str, object] = {
        "name": f"step_{number:08d}.pt",
        "step": number,
        "size_bytes": 10 << 20,
        "state": "whole",
        "reason": None,
        "facts": {},
        "why": None,
        "damaged_pieces": [],
        "piece_bytes": 4 << 20,
    }
    return Checked(**{**fields, **changed})  # type: ignore[arg-type]


BITS = checked(
    1000,
    state="damaged",
    reason="other-bytes",
    facts={"offset": 4 << 20, "last": (8 << 20) - 1},
    damaged_pieces=[1, 2],
)
END = checked(1500, state="damaged", reason="other-end", piece_bytes=None)
STRANGER = checked(500, state="foreign", reason="no-manifest", piece_bytes=None)
VERDICT = Verdict(
    1, "checkpoints", "checkpoints", [STRANGER, BITS, END, checked(2000)], 2, 30 << 20
)
DENIED = Verdict(
    1,
    "checkpoints",
    "checkpoints",
    [checked(1500, state="unreadable", reason="os.EACCES", piece_bytes=None), checked(2000)],
    0,
    10 << 20,
    num_unreadable=1,
)
FROZEN = Verdict(1, "c", "c", [checked(2000)], 0, 10 << 20, is_latest_stale=True)
WHOLE = Verdict(1, "c/x.pt", "c", [checked(2000, step=None, name="x.pt")], 0, 10 << 20)


def pruned(*steps: int) -> list[PrunedEntry]:
    return [PrunedEntry(f"step_{step:08d}.pt", step, GB, 1 / step) for step in steps]


DRY = Pruning(
    1, "checkpoints", True, pruned(1000, 1500), pruned(500, 2000), [BITS], 1, 2 * GB, OWNER
)
DONE = Pruning(1, "checkpoints", False, pruned(1000), pruned(2000), [], 2, GB, None)
NOTHING = Pruning(1, "checkpoints", False, [], pruned(2000, 2500), [], 0, 0, None)
PACKS = Pruning(1, "checkpoints", False, pruned(1800), pruned(1200, 1900), [], 0, GB, None)
NEEDED_BY = {"step_00001200.pt": [1900, 2000, 2100, 2200, 2300]}
PRUNE = "instride prune DIR --keep-last 1 --keep-every 500"
NAMES = [f"layers.{number}.weight" for number in range(6)]
EXPORT = Export(1, "x.pt", "model.safetensors", "model", 7, NAMES, GB, NAMES[:2], ["epoch", "args"])
SCREENS_OF: dict[str, Show] = {
    "list": lambda words, console: print_listing(LISTING, words, console),
    "list-empty": lambda words, console: print_listing(EMPTY, words, console),
    "list-stale": lambda words, console: print_listing(STALE, words, console),
    "list-packed": lambda words, console: print_listing(PACKED, words, console),
    "list-shared": lambda words, console: print_listing(SHARED, words, console),
    "verify": lambda words, console: print_verdict(VERDICT, words, console),
    "verify-unreadable": lambda words, console: print_verdict(DENIED, words, console),
    "verify-stale": lambda words, console: print_verdict(FROZEN, words, console),
    "verify-file": lambda words, console: print_verdict(WHOLE, words, console),
    "prune-dry": lambda words, console: print_pruning(DRY, PRUNE, words, console),
    "prune": lambda words, console: print_pruning(DONE, PRUNE, words, console),
    "prune-nothing": lambda words, console: print_pruning(NOTHING, PRUNE, words, console),
    "prune-packs": lambda words, console: print_pruning(PACKS, PRUNE, words, console, NEEDED_BY),
    "export": lambda words, console: print_export(EXPORT, words, console),
}


def printed(show: Show, words: Words, width: int = COLUMNS) -> str:
    out = io.StringIO()
    show(words, Console(file=out, width=width, highlight=False, color_system=None))
    return out.getvalue()


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", SCREENS_OF)
def test_a_screen_is_as_it_was_looked_at(name: str, code: str) -> None:
    text = printed(SCREENS_OF[name], LANGUAGES[code])
    path = SCREENS / f"{name}.{code}.txt"
    if IS_WRITTEN_ANEW:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", [name for name in SCREENS_OF if name != "export"])
def test_no_line_is_wider_than_80_columns(name: str, code: str) -> None:
    lines = printed(SCREENS_OF[name], LANGUAGES[code]).splitlines()
    assert [line for line in lines if cell_len(line) > COLUMNS] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_narrow_terminal_loses_columns_not_marks(code: str) -> None:
    text = printed(SCREENS_OF["list"], LANGUAGES[code], width=50)
    assert LANGUAGES[code].store_phrases["damaged"] in text
    assert LANGUAGES[code].store_phrases["durable"] not in text.splitlines()[3]


def test_a_writer_that_finishes_for_a_training_is_told_by_its_own_pid() -> None:
    listing = replace(LISTING, owner=ORPHAN)
    text = printed(lambda words, console: print_listing(listing, words, console), LANGUAGES["en"])
    assert "process 12399 on node7 finishes for a training that is gone" in text


def test_every_screen_that_is_kept_is_compared() -> None:
    kept = {path.name for path in SCREENS.iterdir()}
    assert kept == {f"{name}.{code}.txt" for name in SCREENS_OF for code in LANGUAGES}
