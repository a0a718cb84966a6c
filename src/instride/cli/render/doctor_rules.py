"""The list of doctor's rules, and how to silence one."""

from __future__ import annotations

from rich.console import Console

from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.languages import LANGUAGES
from instride.explain.languages.screen import ScreenWords


def print_rules(language: ScreenWords, console: Console | None = None) -> None:
    """Print id and title of every rule, the costliest first, by what it is about."""
    sheet = Sheet(console or make_console(), language)
    words = LANGUAGES[sheet.language.code]
    widest = max(len(rule.id) for rule in CATALOGUE) + 4
    for about in About:
        sheet.line((words.phrase(f"about-{about}"), "bold"))
        for rule in CATALOGUE:
            if rule.about is about:
                first = f"  {rule.id}".ljust(widest)
                sheet.paragraph(words.title(rule.id), " " * widest, first)
        sheet.blank()
    example = CATALOGUE[-1].id
    sheet.line(words.phrase("silence"))
    sheet.line("  ", (f"# instride: ignore[{example}]", "bold"))
    sheet.line(words.phrase("silence-all"))
    sheet.line("  ", ("[tool.instride.doctor]", "bold"))
    sheet.line("  ", (f'ignore = ["{example}"]', "bold"))
