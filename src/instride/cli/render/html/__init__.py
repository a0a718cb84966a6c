"""The report as one HTML file: everything inside, nothing loaded, nothing from a log executed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from instride.cli.render.html.body import Body, escaped
from instride.cli.render.html.content import content
from instride.cli.render.html.data import chart_data
from instride.cli.render.html.texts import texts
from instride.explain.explaining import Explanation
from instride.explain.languages.words import Words

PARTS = files(__name__)
VENDORED = PARTS / "vendor"
UPLOT = "uPlot-1.6.32"
SCRIPTS = ("words.js", "points.js", "axes.js", "drawing.js", "chart.js", "gestures.js", "page.js")
"""Ours, in the order in which they build on each other; they share one scope."""


def write_html(
    explanation: Explanation, path: Path, languages: Mapping[str, Words], chosen: str
) -> None:
    """Write the report; it opens in the `chosen` language and can switch to the others."""
    page = _page(explanation, languages, chosen)
    path.write_text(page, encoding="utf-8", errors="replace", newline="\n")


def _page(explanation: Explanation, languages: Mapping[str, Words], chosen: str) -> str:
    shown = content(explanation)
    words = {code: texts(shown, language) for code, language in languages.items()}
    mine = words[chosen]
    body = Body(shown, mine)
    names = [(code, language.page["name"]) for code, language in languages.items()]
    library = (VENDORED / f"{UPLOT}.iife.min.js").read_text(encoding="utf-8")
    script = _script()
    return Template((PARTS / "page.html").read_text(encoding="utf-8")).substitute(
        {f"t_{key.replace('.', '_')}": escaped(text) for key, text in mine.items()},
        lang=chosen,
        policy=_policy(library, script),
        styles=(VENDORED / f"{UPLOT}.min.css").read_text(encoding="utf-8")
        + (PARTS / "page.css").read_text(encoding="utf-8"),
        licence=(VENDORED / f"{UPLOT}.LICENSE").read_text(encoding="utf-8"),
        library=library,
        script=script,
        words=_json(words),
        data=_json(chart_data(shown)),
        languages=body.languages(names, chosen),
        languages_hidden=" hidden" if len(languages) == 1 else "",
        facts=body.facts(),
        thinned_hidden="" if len(shown.shown) < len(explanation.ledger.timeline.run) else " hidden",
        bar=body.bar(),
        owner_heads=body.owner_heads(),
        owner_rows=body.owner_rows(),
        gap_hidden="" if shown.has_gap else " hidden",
        findings=body.findings(),
        advice=body.advice(),
        unknowns=body.unknowns(),
    )


def _script() -> str:
    ours = "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{ours}}})();\n'


def _policy(*scripts: str) -> str:
    """What a browser may do here: run these very scripts, and fetch nothing at all."""
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = msgspec.json.encode(value).decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
