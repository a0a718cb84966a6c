"""Which characters a terminal has, and what stands for those that it has not."""

from __future__ import annotations

PLAINER = {
    "\u202f": " ",
    "\u00a0": " ",
    "\u00d7": "x",
    "\u00b1": "+-",
    "\u2212": "-",
    "\u0153": "oe",
}
"""What stands for a character that the terminal does not have."""


def can_show(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plainer(encoding: str) -> dict[int, str]:
    """What to translate for a terminal, as `str.translate` takes it."""
    return {ord(char): plain for char, plain in PLAINER.items() if not can_show(char, encoding)}
