"""The chart in a real browser: drawn, zoomed by mouse, keys and fingers, and read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from instride.cli.render.html import write_html
from instride.explain.languages import LANGUAGES
from tests.web.conftest import Opens
from tests.web.logs import EVAL_EVERY, explained, training_log
from tests.web.looking import COUNT_COLOURS, WHOLE, numbers_in, range_of, rgb


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
