"""The page's elements. Every text carries its key, so that the script can put another language in.

Whatever comes from a log passes through `escaped`; nothing else may put text into the page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from instride.cli.render.html.content import MOST_PLACES, Content, Told
from instride.explain.spans import Owner

CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
COLUMNS = ("time", "share", "steps", "typical", "worst")
GAP_WIDTH = 0.08
"""Width of a gap that is not in the shares, as a share of the bar."""


def escaped(text: str) -> str:
    """Text that is nothing but text, in an element or in an attribute."""
    return html.escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


class Body:
    """Makes the elements of one page, in the language it opens with."""

    def __init__(self, shown: Content, words: Mapping[str, str]) -> None:
        self.shown, self.words = shown, words

    def text(self, key: str, tag: str = "span", attributes: str = "") -> str:
        """An element that holds one text and nothing else."""
        return f'<{tag} data-t="{key}"{attributes}>{escaped(self.words[key])}</{tag}>'

    def facts(self) -> str:
        names = ["trainer", "steps", "wall", "ordinary"]
        if self.shown.explanation.ledger.rhythm:
            names.append("rhythm")
        if self.shown.num_runs > 1:
            names.append("runs")
        if self.shown.num_restarts:
            names.append("restarts")
        return "".join(
            f"<div>{self.text(f'fact.{name}', 'dt')}{self.text(f'fact.{name}.value', 'dd')}</div>"
            for name in names
        )

    def bar(self) -> str:
        """The owners side by side; together they are the whole."""
        return "".join(
            self._segment(owner, account.seconds) for owner, account in self.shown.owners
        )

    def _segment(self, owner: Owner, seconds: float) -> str:
        share = seconds / self.shown.whole_s
        kind = f"segment owner-{owner.value}"
        if self.shown.has_gap and owner is Owner.RESTART:
            share, kind = GAP_WIDTH, kind + " cut"
        return (
            f'<span class="{kind}" style="flex-grow:{share:.6f}" data-owner="{owner.value}"></span>'
        )

    def owner_heads(self) -> str:
        heads = (
            self.text(f"owners.{name}", "th", f' scope="col" class="number {name}"')
            for name in COLUMNS
        )
        return self.text("owners.owner", "th", ' scope="col"') + "".join(heads)

    def owner_rows(self) -> str:
        return "".join(self._owner_row(owner) for owner, _ in self.shown.owners)

    def _owner_row(self, owner: Owner) -> str:
        key = f"owner.{owner.value}"
        cells = "".join(self._cell(f"{key}.{name}", name) for name in COLUMNS)
        swatch = f'<i class="swatch owner-{owner.value}"></i>'
        return f'<tr><th scope="row">{swatch}{self.text(key)}</th>{cells}</tr>'

    def _cell(self, key: str, name: str) -> str:
        kind = f' class="number {name}"'
        return self.text(key, "td", kind) if key in self.words else f"<td{kind}></td>"

    def findings(self) -> str:
        notable, small = self.shown.notable, self.shown.small
        made = self._list(notable, 0) if notable else self.text("findings.none", "p")
        if small:
            title = self.text("findings.small", "summary")
            rest = self._list(small, len(notable))
            made += f'<details class="small">{title}{rest}</details>'
        return made

    def _list(self, group: list[Told], first: int) -> str:
        items = "".join(self._finding(number, told) for number, told in enumerate(group, first))
        return f'<ol start="{first + 1}">{items}</ol>'

    def _finding(self, number: int, told: Told) -> str:
        key, owner = f"finding.{number}", told.finding.owner.value
        sentence = self.text(
            f"{key}.sentence", "button", f' type="button" class="show" data-finding="{number}"'
        )
        notes = "".join(
            self.text(f"{key}.{name}", "span", f' class="{name}"')
            for name in ("cost", "share", "confidence", "rung")
        )
        return (
            f'<li class="finding owner-{owner}" id="finding-{number}"><h3>{sentence}</h3>'
            f'<p class="notes"><i class="swatch owner-{owner}"></i>{self.text(f"owner.{owner}")}'
            f"{notes}</p>{self._places(key, number, told)}{self._cures(key, told)}"
            f"{self._others(key)}{self._quotes(key, told)}</li>"
        )

    def _places(self, key: str, number: int, told: Told) -> str:
        chips = "".join(
            self.text(
                f"{key}.place.{place}",
                "button",
                f' type="button" class="chip" data-finding="{number}" data-place="{place}"',
            )
            for place in range(min(MOST_PLACES, len(told.places)))
        )
        left_out = len(told.places) > MOST_PLACES
        more = self.text(f"{key}.more", "span", ' class="more"') if left_out else ""
        return f'<p class="places">{chips}{more}</p>' if len(told.places) > 1 else ""

    def _cures(self, key: str, told: Told) -> str:
        items = "".join(
            f"<li>{self.text(f'{key}.cure.{number}')}{self._saves(f'{key}.saves.{number}')}"
            f"{self._change(cure.change)}</li>"
            for number, cure in enumerate(told.cures)
        )
        title = self.text("finding.try", "h4")
        return f'<div class="cures">{title}<ul>{items}</ul></div>' if items else ""

    def _change(self, change: str | None) -> str:
        """A line to copy."""
        if change is None:
            return ""
        button = self.text("copy", "button", ' type="button" class="copy"')
        return f'<div class="change"><code>{escaped(change)}</code>{button}</div>'

    def _saves(self, key: str) -> str:
        return self.text(key, "span", ' class="saves"') if key in self.words else ""

    def _others(self, key: str) -> str:
        """What else it could be."""
        count = sum(word.startswith(f"{key}.other.") for word in self.words)
        items = "".join(self.text(f"{key}.other.{number}", "li") for number in range(count))
        title = self.text(f"{key}.else", "summary")
        return f'<details class="others">{title}<ul>{items}</ul></details>' if items else ""

    def _quotes(self, key: str, told: Told) -> str:
        if not told.quotes:
            return ""
        lines = "".join(
            f"<li>{self.text(f'{key}.line.{number}')}<code>{escaped(quote.text)}</code></li>"
            for number, quote in enumerate(told.quotes)
        )
        title = self.text(f"{key}.evidence", "summary")
        return f'<details class="evidence">{title}<ul>{lines}</ul></details>'

    def advice(self) -> str:
        """What to set, with the lines to copy."""
        items = "".join(
            f"<li>{self.text(f'advice.{number}', 'p')}{self._change(each.change)}"
            f"{self._saves(f'advice.{number}.saves')}</li>"
            for number, each in enumerate(self.shown.explanation.advice)
        )
        title = self.text("advice.title", "h2", ' id="advice-title"')
        about = 'class="advice" aria-labelledby="advice-title"'
        return f"<section {about}>{title}<ul>{items}</ul></section>" if items else ""

    def unknowns(self) -> str:
        count = len(self.shown.explanation.unknowns)
        if not count:
            return ""
        items = "".join(self.text(f"unknown.{number}", "li") for number in range(count))
        title = self.text("unknown.title", "h2", ' id="unknown-title"')
        return f'<section aria-labelledby="unknown-title">{title}<ul>{items}</ul></section>'

    def languages(self, names: Iterable[tuple[str, str]], chosen: str) -> str:
        """One entry a language, each by its own name."""
        return "".join(
            f'<option value="{code}" lang="{code}"{" selected" if code == chosen else ""}>'
            f"{escaped(name)}</option>"
            for code, name in names
        )
