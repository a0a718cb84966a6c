"""Where the time went: a row for each owner, with a bar."""

from __future__ import annotations

from rich.cells import cell_len

from instride.cli.render.sheet import STYLES, Sheet
from instride.cli.render.wrapping import pad_left, pad_right, wrap
from instride.explain.ledger import Account, Ledger
from instride.explain.spans import Owner

BAR = 16
NARROWEST = (11, 12, 7, 9, 9, 9)
"""Columns of the terminal that the columns of the table have at least."""
TYPICAL = 4
"""The column that is not of the same thing in all rows."""


def print_owners(sheet: Sheet, ledger: Ledger) -> None:
    """Print the table; the time between processes is told apart from the shares."""
    say, has_gap, whole = sheet.language, ledger.has_gap, ledger.running_s
    gap_s = ledger.accounts[Owner.RESTART].seconds
    owners = [
        owner
        for owner, account in sorted(ledger.accounts.items(), key=lambda each: -each[1].seconds)
        if account.seconds > 0 and not (has_gap and owner is Owner.RESTART)
    ]
    labels = {owner: say.labels[owner.value] for owner in owners}
    if _are_joint(ledger):
        labels[Owner.EVAL] = say.screen_phrases["joint"]
    rows = [_cells(sheet, labels[owner], ledger.accounts[owner], whole) for owner in owners]
    head = ["", *(say.table_heads[name] for name in ("time", "share", "steps", "typical", "worst"))]
    gap = [say.labels[Owner.RESTART.value], say.seconds(gap_s)]
    widths = _that_fit(_widths([head, *rows, *([gap] if has_gap else [])]), sheet.width)
    sheet.line((say.screen_phrases["where"], "bold"))
    sheet.line((_aligned(head, widths), "dim"))
    for owner, row in zip(owners, rows, strict=True):
        text = _aligned(row, widths) + " "
        bar = _bar(sheet, ledger.accounts[owner].seconds / whole if whole else 0.0, text)
        sheet.line(text, (bar, STYLES[owner]))
    if has_gap:
        between = say.screen_phrases["between"]
        sheet.line((f"{_aligned(gap, widths[:2])}   {between}", "dim"))
    if len(rows) > 1 and len(widths) > TYPICAL:
        is_twice = sum(each.steps for each in ledger.accounts.values()) > ledger.num_steps
        for line in wrap(_footnote(sheet, is_twice), sheet.width, "  ", "  "):
            sheet.line((line, "dim"))


def _footnote(sheet: Sheet, is_twice: bool) -> str:
    """What a typical value is of; why the steps may sum up to more than there are."""
    phrases = sheet.language.screen_phrases
    return phrases["typical"] + (phrases["twice"] if is_twice else "")


def _are_joint(ledger: Ledger) -> bool:
    """Whether saves have no seconds of their own because evaluations hold them."""
    has_saves = ledger.accounts[Owner.SAVE].seconds > 0
    return not has_saves and any(span.is_joint for span in ledger.spans)


def _cells(sheet: Sheet, label: str, account: Account, whole: float) -> list[str]:
    say = sheet.language
    share = account.seconds / whole if whole else 0.0
    return [
        label,
        say.seconds(account.seconds),
        say.percent(share),
        say.number(account.steps) if account.steps else "",
        "" if account.typical_s is None else say.seconds(account.typical_s),
        "" if account.worst_s is None else say.seconds(account.worst_s),
    ]


def _widths(rows: list[list[str]]) -> list[int]:
    """What each column needs; rows may be shorter than the table."""
    return [
        max(least, *(cell_len(row[column]) for row in rows if column < len(row)))
        for column, least in enumerate(NARROWEST)
    ]


def _that_fit(widths: list[int], room: int) -> list[int]:
    """Leave the last columns out where a log holds times of a thousand years."""
    while len(widths) > 2 and sum(widths) + len(widths) + 2 > room:
        widths = widths[:-1]
    return widths


def _aligned(row: list[str], widths: list[int]) -> str:
    """The label to the left, numbers to the right, as many as there are widths."""
    label, *numbers = row
    cells = [pad_left(text, width) for text, width in zip(numbers, widths[1:], strict=False)]
    return "  " + " ".join([pad_right(label, widths[0]), *cells])


def _bar(sheet: Sheet, share: float, text: str) -> str:
    room = max(0, min(BAR, sheet.width - cell_len(text) - 1))
    filled = round(share * room) or (1 if share > 0.002 and room else 0)
    return ("\u2588" if sheet.is_unicode else "#") * filled
