"""Takes the pictures of the page that these docs show, from the log of a quiet `make demo`.

Run it as `python docs/pictures.py demo-out/train.log`; it needs Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from instride.cli.answering import explained
from instride.cli.render.html import write_html
from instride.explain.languages import LANGUAGES

IMAGES = Path(__file__).parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE: ViewportSize = {"width": 1100, "height": 1150}
PHONE: ViewportSize = {"width": 390, "height": 844}


def take(log: str, images: Path = IMAGES) -> None:
    """Open the page of a log wide and light, then on a phone in the dark."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "report.html")
        write_html(explained([log], None, ()), page, LANGUAGES, "en")
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        _picture(browser, page, images / "report.png", WIDE)
        _picture(browser, page, images / "report-phone.png", PHONE, is_dark=True)
        browser.close()


def _picture(
    browser: Browser, page: Path, target: Path, size: ViewportSize, is_dark: bool = False
) -> None:
    opened = browser.new_page(viewport=size, color_scheme="dark" if is_dark else "light")
    opened.goto(page.as_uri())
    opened.locator("#chart canvas").wait_for()
    opened.screenshot(path=target)
    opened.close()


if __name__ == "__main__":
    take(sys.argv[1])
