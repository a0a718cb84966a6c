"""What the page shows, and what is painted."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

WHOLE = "steps 0 to 5,999"
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
