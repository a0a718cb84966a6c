"""The page as text: complete in every language, self-contained, and deaf to what a log says."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.cli.render.html import write_html
from instride.cli.render.html.body import escaped
from instride.cli.render.html.content import content
from instride.cli.render.html.data import floats, runs
from instride.cli.render.html.places import places
from instride.cli.render.html.texts import texts
from instride.explain.advice import Advice
from instride.explain.languages import LANGUAGES
from instride.explain.series import series
from instride.explain.spans import Owner
from instride.steps.source import Source
from tests.unit.cli.runs import STORIES, explained
from tests.unit.languages.test_advice import FAILURES

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' --> $name"
PLACEHOLDER = re.compile(r"\{\w*\}")
OTHERS = [LANGUAGES[code].page for code in sorted(LANGUAGES) if code != "en"]


def written(name: str, folder: Path, line: str = "a line", chosen: str = "en") -> str:
    path = folder / "report.html"
    write_html(explained(name, folder, line), path, LANGUAGES, chosen)
    return path.read_text(encoding="utf-8")


def embedded(page: str, name: str) -> Any:
    """The JSON that the page carries under this id."""
    (text,) = re.findall(f'<script type="application/json" id="{name}">(.*?)</script>', page)
    return json.loads(text)


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page["name"])
def test_every_language_has_every_text_with_the_same_numbers_in_it(page: dict[str, str]) -> None:
    english = LANGUAGES["en"].page
    assert set(page) == set(english)
    for key, text in page.items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(english[key])), key
        assert text or key == "unit.between"


@pytest.mark.parametrize("name", sorted(STORIES))
def test_the_page_says_the_same_in_every_language(name: str, tmp_path: Path) -> None:
    page = written(name, tmp_path, chosen="de")
    words = embedded(page, "words")
    assert set(words) == set(LANGUAGES)
    assert len({frozenset(each) for each in words.values()}) == 1
    shown = re.findall(r'data-t="([^"]+)"', page)
    assert set(shown) <= set(words["de"])
    filled = {key: text for key, text in words["ja"].items() if key in shown}
    assert not [key for key, text in filled.items() if PLACEHOLDER.search(text) or not text]


@pytest.mark.parametrize("name", sorted(STORIES))
def test_every_finding_can_be_found_in_the_chart(name: str, tmp_path: Path) -> None:
    explanation = explained(name, tmp_path)
    full = series(explanation.ledger)
    for finding in explanation.findings:
        found = places(finding, explanation.ledger, full)
        assert found, finding.id
        for place in found:
            assert 0 <= place.begin_s <= place.end_s <= full.wall_s * (1 + 1e-9)
            assert min(full.step) <= place.first_step <= place.last_step <= max(full.step)


@pytest.mark.parametrize("name", ["eval-0", "aftermath-1", "periodic-0", "data-stalls-0"])
def test_what_a_finding_costs_is_what_its_places_cost(name: str, tmp_path: Path) -> None:
    explanation = explained(name, tmp_path)
    told = {each.finding.id: each for each in content(explanation).told}
    each = told[name.rsplit("-", 1)[0]]
    assert sum(place.cost_s for place in each.places) == pytest.approx(each.finding.cost_s)


@pytest.mark.parametrize("name", ["eval-0", "restart-1", "note-batch-size-0"])
def test_a_log_line_cannot_leave_its_element(name: str, tmp_path: Path) -> None:
    page = written(name, tmp_path, ATTACK)
    assert ATTACK not in page
    assert page.count("<img") == 0
    assert page.count("<script") == page.count("</script>") == 4


def test_nothing_is_loaded_and_only_our_scripts_may_run(tmp_path: Path) -> None:
    page = written("eval-0", tmp_path)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    for script in scripts:
        assert b64encode(sha256(script.encode()).digest()).decode() in policy
    assert len(scripts) == 2
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)=\"(?!data:,)", markup)
    assert not re.findall(r"@import|url\(", page)


def test_the_licence_of_the_chart_library_travels_with_it(tmp_path: Path) -> None:
    page = written("eval-0", tmp_path)
    assert "Copyright (c) 2022 Leon Sorokin" in page
    assert "uPlot 1.6.32" in page


def test_the_bar_and_the_table_add_up_to_the_wall(tmp_path: Path) -> None:
    explanation = explained("restart-1", tmp_path)
    shown = content(explanation)
    assert shown.has_gap
    seconds = [account.seconds for _, account in shown.owners]
    assert sum(seconds) == pytest.approx(explanation.ledger.wall_s)
    page = written("eval-0", tmp_path)
    widths = [float(each) for each in re.findall(r'style="flex-grow:([\d.]+)"', page)]
    assert sum(widths) == pytest.approx(1, abs=1e-4)


def test_what_to_set_is_on_the_page_with_the_lines_to_copy(tmp_path: Path) -> None:
    explanation = explained("eval-0", tmp_path)
    told = [Advice("save-by-failures", dict(FAILURES), "save_interval = <9>", 12.5)]
    page = tmp_path / "report.html"
    write_html(msgspec.structs.replace(explanation, advice=told), page, LANGUAGES, "fr")
    text = page.read_text(encoding="utf-8")
    assert LANGUAGES["fr"].page["advice.title"] in text
    assert f'<p data-t="advice.0">{escaped(LANGUAGES["fr"].advice(told[0]))}</p>' in text
    assert "<code>save_interval = &lt;9&gt;</code>" in text
    saves = embedded(text, "words")["ja"]["advice.0.saves"]
    assert LANGUAGES["ja"].seconds(12.5) in saves


def test_a_log_without_advice_has_no_heading_for_it(tmp_path: Path) -> None:
    explanation = msgspec.structs.replace(explained("eval-0", tmp_path), advice=[])
    write_html(explanation, tmp_path / "report.html", LANGUAGES, "en")
    assert "advice-title" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_pipe_and_several_files_are_named_in_the_language(code: str, tmp_path: Path) -> None:
    say = LANGUAGES[code]
    explanation = explained("eval-0", tmp_path)
    pipe = Source(str(tmp_path / "train.log"), "-")
    for sources, name in (
        ([pipe], say.show_name("-")),
        ([*explanation.sources, pipe, pipe], say.show_files("train.log", 2)),
    ):
        shown = content(msgspec.structs.replace(explanation, sources=sources))
        assert texts(shown, say)["log"] == name
        assert name in texts(shown, say)["title"]


def test_one_language_alone_needs_no_switch(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(explained("eval-0", tmp_path), path, {"fr": LANGUAGES["fr"]}, "fr")
    page = path.read_text(encoding="utf-8")
    assert '<html lang="fr">' in page
    assert "<label hidden>" in page


PARTS = Path(write_html.__code__.co_filename).parent


def palettes() -> list[dict[str, str]]:
    """The colours by name: light and dark."""
    css = (PARTS / "page.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", css)
    return [{name: pair[i] for name, *pair in pairs} for i in (0, 1)]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_text_and_colours_stand_out_from_the_paper(palette: dict[str, str]) -> None:
    for name in ("ink", "ink-soft", "accent"):
        assert contrast(palette[name], palette["paper"]) >= 4.5, name
        assert contrast(palette[name], palette["shade"]) >= 4.5, name
    for owner in Owner:
        assert contrast(palette[owner.value], palette["paper"]) >= 3, owner


def test_no_text_is_there_for_nothing() -> None:
    sources = [path for path in PARTS.iterdir() if path.suffix in (".py", ".js", ".html")]
    used = "".join(path.read_text(encoding="utf-8") for path in sources)
    built = re.compile(r"unit\.|owners\.|fact\.")  # by names that the code puts together
    keys = [key for key in LANGUAGES["en"].page if not built.match(key)]
    assert [key for key in keys if key not in used and key.replace(".", "_") not in used] == []


@given(st.text())
def test_escaped_text_has_no_markup_and_no_control_characters(text: str) -> None:
    safe = escaped(text)
    assert not set(safe) & set("<>\"'\x00\x1b\x7f\x9b")
    safe.encode("utf-8")


@given(st.lists(st.integers(0, 9)))
def test_runs_hold_the_same_values(values: list[int]) -> None:
    made = runs(values)
    pairs = zip(made[::2], made[1::2], strict=True)
    assert [value for count, value in pairs for _ in range(count)] == values


def test_floats_are_little_endian_whatever_the_machine() -> None:
    assert b64decode(floats([1.0, -2.0])) == b"\x00\x00\x80\x3f\x00\x00\x00\xc0"
