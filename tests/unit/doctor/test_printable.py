"""What comes from files of others can do nothing to a terminal or to JSON."""

from __future__ import annotations

import msgspec

from instride.doctor.model import Finding, Fix, FixKind, Place, Reading, Unknown
from instride.doctor.printable import printable, printable_finding, printable_unknown

ESCAPE = "\x1b]0;title\x07"
BYTES = "out\udcff"
"""A file name that is not UTF-8, as Python has it."""


def test_what_a_terminal_would_obey_becomes_a_question_mark() -> None:
    assert printable(f"a{ESCAPE}b") == "a?]0;title?b"
    assert printable("\u202egpj.exe") == "?gpj.exe"


def test_ordinary_text_stays_as_it_is() -> None:
    for text in ("", "torch.save(x, p)", "\tif x:\n", "\u5b66\u7fd2", "d\u00e9p\u00f4t"):
        assert printable(text) == text


def test_no_text_of_a_finding_is_left_out() -> None:
    finding = Finding(
        "save-in-place",
        {"path": BYTES, "code": "a\n  b"},
        (Place(BYTES, 1, ESCAPE), Reading(ESCAPE, BYTES)),
        fixes=(Fix(FixKind.DIFF, f"-\ta\n+\tb{ESCAPE}\n"),),
    )
    clean = printable_finding(finding)
    assert msgspec.json.decode(msgspec.json.encode(clean)) is not None
    assert "\x1b" not in str(clean)
    assert clean.facts["code"] == "a b"
    assert clean.fixes[0].text == "-\ta\n+\tb?]0;title?\n"


def test_what_could_not_be_told_is_made_printable_too() -> None:
    assert printable_unknown(Unknown("skipped-broken", {"path": BYTES})).facts["path"] == "out?"
