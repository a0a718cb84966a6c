"""The report in a real browser: drawn, zoomed, read in four languages, on a phone, on paper."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from instride.cli.render.html import write_html
from instride.explain.languages import LANGUAGES
from tests.web.conftest import Opens
from tests.web.logs import explained, training_log
from tests.web.looking import COUNT_COLOURS, range_of, rgb

ATTACK = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>-->"


def test_a_line_to_set_is_copied_at_a_click(opens: Opens, report: Path) -> None:
    page = opens(report, permissions=["clipboard-read", "clipboard-write"])
    change = page.locator(".advice .change").first
    line = change.locator("code").inner_text()
    change.get_by_role("button", name="Copy").click()
    expect(change.locator("button")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == line
    page.select_option("#language", "de")
    expect(change.locator("button")).to_have_text("Kopiert")


def test_a_line_that_may_not_be_copied_is_selected(opens: Opens, report: Path) -> None:
    page = opens(report)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject('no'); }")
    change = page.locator(".advice .change").first
    change.locator("button").click()
    assert page.evaluate("getSelection().toString()") == change.locator("code").inner_text()


@pytest.mark.parametrize("code", ["de", "fr", "ja", "en"])
def test_every_text_changes_with_the_language(page: Page, code: str) -> None:
    page.select_option("#language", "ja" if code == "en" else "en")
    page.select_option("#language", code)
    language = LANGUAGES[code]
    assert page.locator("html").get_attribute("lang") == code
    expect(page.locator("#owners-title")).to_have_text(language.page["owners.title"])
    expect(page.locator("#chart")).to_have_attribute("aria-label", language.page["chart.label"])
    expect(page.locator("tbody th").first).to_have_text(language.labels["compute"])
    assert page.title() == language.page["title"].format(name="train.log")
    first, last = language.number(0), language.number(5999)
    expect(range_of(page)).to_contain_text(
        language.page["chart.range.steps"].format(first=first, last=last)
    )
    texts = page.locator("[data-t]").all_text_contents()
    assert len(texts) > 60
    assert all(texts)


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_the_chart_writes_durations_as_the_sentences_do(page: Page, code: str) -> None:
    values = [0.0004, 0.05, 0.123, 1.234, 12.34, 599.0, 601.0, 4000.0, 90_000.0, 400_000.0]
    words = (files("instride.cli.render.html") / "words.js").read_text()
    program = f"([values, code]) => {{ {words}; spoken = code; return values.map(duration); }}"
    written = page.evaluate(program, [values, code])
    assert written == [LANGUAGES[code].seconds(value) for value in values]


def test_the_theme_follows_the_system_until_it_is_chosen(opens: Opens, report: Path) -> None:
    page = opens(report, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(20, 23, 26)"
    page.click("#theme")
    assert page.evaluate(background) == "rgb(253, 253, 252)"
    expect(page.locator("#theme")).to_have_text("Dark")
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert page.evaluate(background) == "rgb(20, 23, 26)"
    drawn = page.locator("#chart canvas").evaluate(COUNT_COLOURS)
    assert rgb(page, "eval") in drawn["colours"]


@pytest.mark.parametrize("width", [320, 390, 768])
@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_nothing_is_wider_than_a_phone(opens: Opens, report: Path, width: int, code: str) -> None:
    page = opens(report, width=width)
    page.select_option("#language", code)
    for details in page.locator("details").all():
        details.evaluate("details => details.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name_and_can_be_reached_by_key(page: Page) -> None:
    for control in page.locator("button, select, summary").all():
        assert control.evaluate("each => each.tabIndex") == 0
    for button in page.locator("button").all():
        name = button.get_attribute("aria-label") or button.text_content() or ""
        assert name.strip()
    expect(page.get_by_label("Language")).to_have_value("en")
    expect(page.get_by_role("group", name="Horizontal axis")).to_be_attached()


def test_on_paper_everything_is_open_and_light(opens: Opens, report: Path) -> None:
    page = opens(report, color_scheme="dark")
    closed = page.locator("details:not([open])")
    num_closed = closed.count()
    assert num_closed > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert closed.count() == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 33, 39)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert closed.count() == num_closed
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(230, 232, 234)"


def test_without_scripts_all_but_the_chart_can_be_read(opens: Opens, report: Path) -> None:
    page = opens(report, java_script_enabled=False)
    expect(page.locator(".headline")).to_contain_text("something other than ordinary steps")
    expect(page.locator("li.finding .show").first).to_be_visible()


def test_what_a_log_says_is_text_and_nothing_else(opens: Opens, tmp_path: Path) -> None:
    log = tmp_path / "<img src=x onerror=alert(1)>.log"
    explanation = explained(training_log(4000, note=ATTACK), log)
    write_html(explanation, tmp_path / "report.html", LANGUAGES, "en")
    page = opens(tmp_path / "report.html")
    expect(page.locator("h1")).to_have_text(log.name)
    quotes = page.locator("code").all_text_contents()
    assert any(ATTACK in quote for quote in quotes)
    page.select_option("#language", "fr")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
