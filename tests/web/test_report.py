"""The report in a real browser: drawn, zoomed, read in four languages, on a phone, on paper."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from instride.cli.render.html import write_html
from instride.explain.languages import LANGUAGES
from tests.web.conftest import Opens
from tests.web.logs import EVAL_EVERY, explained, training_log

WHOLE = "steps 0 to 5,999"
ATTACK = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>-->"
COUNT_COLOURS = """(canvas, alpha) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const colours = new Set();
    let painted = 0;
    for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] < 255 * (alpha || 1) - 1) continue;
        painted++;
        colours.add(data.slice(i, i + 3).join());
    }
    return { painted, colours: [...colours] };
}"""

RESOLVE = """name => {
    const swatch = document.body.appendChild(document.createElement("i"));
    swatch.style.color = `var(--${name})`;
    const { color } = getComputedStyle(swatch);
    swatch.remove();
    return color;
}"""


def range_of(page: Page) -> Locator:
    return page.locator("#range")


def numbers_in(text: str) -> list[int]:
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", text)]


def rgb(page: Page, name: str) -> str:
    """A colour of the page as the canvas has it."""
    return ",".join(re.findall(r"\d+", str(page.evaluate(RESOLVE, name))))


def is_near(colour: str, others: list[str]) -> bool:
    """Whether a colour is among others: what shines through changes it a little."""
    parts = numbers_in(colour.replace(",", " "))
    return any(
        sum(abs(one - other) for one, other in zip(parts, numbers_in(each), strict=True)) < 30
        for each in (other.replace(",", " ") for other in others)
    )


def drag(page: Page, begin: float, end: float) -> None:
    """Drag over the chart, from one share of its width to another."""
    chart = page.locator("#chart .u-over")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + begin * box["width"], height)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], height, steps=5)
    page.mouse.up()


def test_the_chart_has_a_line_and_marks_in_the_colours_of_the_owners(page: Page) -> None:
    expect(range_of(page)).to_contain_text(WHOLE)
    drawn = page.locator("#chart canvas").evaluate(COUNT_COLOURS)
    assert drawn["painted"] > 1000
    assert {rgb(page, name) for name in ("compute", "eval", "aftermath")} <= set(drawn["colours"])


def test_dragging_zooms_to_what_was_dragged_over_and_a_double_click_shows_all(page: Page) -> None:
    drag(page, 0.25, 0.5)
    expect(range_of(page)).not_to_contain_text(WHOLE)
    first, last, *_ = numbers_in(range_of(page).inner_text())
    assert first == pytest.approx(1480, abs=60)
    assert last == pytest.approx(3000, abs=60)
    page.dblclick("#chart .u-over")
    expect(range_of(page)).to_contain_text(WHOLE)


def test_keys_zoom_move_and_show_all(page: Page) -> None:
    page.focus("#chart")
    page.keyboard.press("+")
    expect(range_of(page)).to_contain_text("steps 1,470 to 4,529")
    page.keyboard.press("ArrowRight")
    expect(range_of(page)).to_contain_text("steps 2,235 to 5,294")
    page.keyboard.press("-")
    page.keyboard.press("0")
    expect(range_of(page)).to_contain_text(WHOLE)


def test_a_key_goes_to_the_next_slow_place(page: Page) -> None:
    page.focus("#chart")
    for key in ("+", "+", "+", "+", "n"):
        before = range_of(page).inner_text()
        page.keyboard.press(key)
        expect(range_of(page)).not_to_have_text(before)
    expect(range_of(page)).to_contain_text("slowest: step 3,")


def test_the_wheel_scrolls_the_page_until_the_chart_is_selected(page: Page) -> None:
    page.locator("#chart").scroll_into_view_if_needed()
    page.hover("#chart .u-over")
    page.mouse.wheel(0, -100)
    page.focus("#chart")
    expect(range_of(page)).to_contain_text(WHOLE)
    page.hover("#chart .u-over")
    page.mouse.wheel(0, -400)
    expect(range_of(page)).not_to_contain_text(WHOLE)


PINCH = """root => {
    const box = root.getBoundingClientRect();
    const touch = (name, id, share) => root.dispatchEvent(new PointerEvent(name, {
        pointerType: "touch", pointerId: id, clientX: box.left + share * box.width,
    }));
    touch("pointerdown", 1, 0.5);
    touch("pointerdown", 2, 0.6);
    touch("pointermove", 2, 0.9);
    touch("pointerup", 1, 0.5);
    touch("pointerup", 2, 0.9);
}"""


def test_two_fingers_zoom_and_the_page_says_how(opens: Opens, report: Path) -> None:
    page = opens(report, width=390, has_touch=True, is_mobile=True)
    expect(page.locator("#chart-touch")).to_be_visible()
    expect(page.locator("#chart-keys")).to_be_hidden()
    page.locator("#chart").evaluate(PINCH)
    expect(range_of(page)).not_to_contain_text(WHOLE)
    first, last, *_ = numbers_in(range_of(page).inner_text())
    assert 1000 < last - first < 2500


def test_a_finding_that_is_clicked_is_shown_in_the_chart(page: Page) -> None:
    finding = page.locator("li.finding.owner-eval")
    finding.locator(".show").click()
    expect(range_of(page)).not_to_contain_text(WHOLE)
    expect(finding).to_have_class(re.compile("chosen"))
    first, last, *_ = numbers_in(range_of(page).inner_text())
    assert any(first <= step <= last for step in range(EVAL_EVERY, 6000, EVAL_EVERY))
    assert last - first < 1000
    before = range_of(page).inner_text()
    finding.locator(".chip").nth(1).click()
    expect(range_of(page)).not_to_have_text(before)


def test_the_lines_of_the_log_are_under_their_finding(page: Page) -> None:
    evidence = page.locator("li.finding.owner-eval details.evidence")
    evidence.locator("summary").click()
    expect(evidence.locator("code").first).to_have_text(re.compile("val loss|time"))


def test_the_time_axis_shows_the_same_run_by_time(page: Page) -> None:
    page.click("[data-axis=time]")
    expect(range_of(page)).to_contain_text(re.compile(r"^0 s to 1\d min"))
    drag(page, 0.4, 0.6)
    expect(range_of(page)).not_to_contain_text("0 s to")
    page.click("[data-axis=steps]")
    expect(range_of(page)).to_contain_text(re.compile("^steps [1-9]"))


def test_the_scale_and_the_zoom_buttons_redraw_the_chart(page: Page) -> None:
    canvas = page.locator("#chart canvas")
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    page.click("[data-scale=linear]")
    assert canvas.evaluate("canvas => canvas.toDataURL()") != before
    page.click("[data-zoom=in]")
    expect(range_of(page)).to_contain_text("steps 1,470 to 4,529")
    page.click("[data-zoom=all]")
    expect(range_of(page)).to_contain_text(WHOLE)


def test_the_pointer_says_which_step_it_is_on(page: Page) -> None:
    page.hover("#chart .u-over", position={"x": 300, "y": 40})
    tip = page.locator(".tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(re.compile(r"step [\d,]+"))


def test_a_step_of_several_owners_tells_what_each_of_them_has(page: Page) -> None:
    page.locator("li.finding.owner-save .chip").first.click()
    expect(range_of(page)).to_contain_text("(evaluation, saving)")
    chart = page.locator("#chart .u-over")
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": box["width"] / 2, "y": 40})
    expect(page.locator(".tip")).to_contain_text("evaluation: 4.0")
    expect(page.locator(".tip")).to_contain_text("saving: 2.5")
    drawn = page.locator("#chart canvas").evaluate(COUNT_COLOURS, 0.75)
    assert all(is_near(rgb(page, name), drawn["colours"]) for name in ("eval", "save"))


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


@pytest.mark.parametrize("num_steps", [100_000, 250_000])
def test_a_long_log_is_drawn_and_zoomed(opens: Opens, tmp_path: Path, num_steps: int) -> None:
    explanation = explained(training_log(num_steps), tmp_path / "long.log")
    path = tmp_path / "report.html"
    write_html(explanation, path, LANGUAGES, "en")
    assert path.stat().st_size < 2_000_000
    page = opens(path)
    drawn = page.locator("#chart canvas").evaluate(COUNT_COLOURS)
    assert rgb(page, "eval") in drawn["colours"]
    is_thinned = num_steps > 100_000
    assert page.get_by_text("records are drawn").is_visible() == is_thinned
    drag(page, 0.5, 0.51)
    expect(range_of(page)).to_contain_text(re.compile("^steps (4|5|12)"))
    first, last, *_ = numbers_in(range_of(page).inner_text())
    assert last - first < num_steps / 50
