"""A real browser, which notes every error and every request of the pages it opens."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from instride.cli.render.html import write_html
from instride.explain.languages import LANGUAGES
from tests.web.logs import explained, training_log

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Opens = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield running
        running.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a training with evaluations, saves, slow steps after them, and a restart."""
    folder = tmp_path_factory.mktemp("report")
    explanation = explained(training_log(6000, restart_at=4300), folder / "train.log")
    write_html(explanation, folder / "report.html", LANGUAGES, "en")
    return folder / "report.html"


@pytest.fixture
def opens(browser: Browser) -> Iterator[Opens]:
    """Open a file; at the end nothing may have gone wrong, and nothing been asked of a network."""
    problems: list[str] = []
    contexts = []

    def open_page(path: Path, width: int = 1280, **settings: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()

        def look(request: Request) -> None:
            if request.url not in (path.as_uri(), "data:,"):
                problems.append(f"asked for {request.url}")

        page.on("request", look)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(opens: Opens, report: Path) -> Page:
    return opens(report)
