"""Step times around a block of each rival on one axis, as a picture that needs nobody (SVG)."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from instride.bench.interference.report import Report, Trace

WIDTH, HEIGHT = 900, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 50
COLOURS = ("#d1495b", "#edae49", "#00798c")
"""Told apart in grey, too: the last is the darkest, and lines differ in their dashes."""
DASHES = ("6 3", "2 3", "")
INK, PALE = "#333333", "#dddddd"
MOST_TICKS = 6


def draw(report: Report) -> str:
    top_s = max((max(trace.step_s) for trace in report.traces if trace.step_s), default=1e-3)
    first_s = min((trace.at_s[0] for trace in report.traces if trace.at_s), default=0.0)
    last_s = max((trace.at_s[-1] for trace in report.traces if trace.at_s), default=1.0)
    axes = _Axes(first_s, max(last_s, first_s + 1e-3), top_s * 1.05)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *axes.lines(),
        *(_trace(axes, trace, number) for number, trace in enumerate(report.traces)),
        *_legend(report.traces),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Axes:
    """From seconds to places on the picture."""

    def __init__(self, first_s: float, last_s: float, top_s: float) -> None:
        self._first_s, self._last_s, self._top_s = first_s, last_s, top_s

    def x(self, at_s: float) -> float:
        share = (at_s - self._first_s) / (self._last_s - self._first_s)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, step_s: float) -> float:
        return HEIGHT - BOTTOM - step_s / self._top_s * (HEIGHT - TOP - BOTTOM)

    def lines(self) -> Iterator[str]:
        """A grid with its numbers, and where the work begins."""
        for step_s in _ticks(0.0, self._top_s):
            y = self.y(step_s)
            yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{PALE}"/>'
            yield _text(LEFT - 8, y + 4, f"{1000 * step_s:g} ms", "end")
        for at_s in _ticks(self._first_s, self._last_s):
            yield _text(self.x(at_s), HEIGHT - BOTTOM + 20, f"{at_s:g} s", "middle")
        yield f'<path d="M{self.x(0):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{INK}"/>'
        yield _text(self.x(0) + 6, TOP + 12, "work begins", "start")
        yield _text(WIDTH / 2, HEIGHT - 10, "seconds; the time of each step", "middle")


def _trace(axes: _Axes, trace: Trace, number: int) -> str:
    points = " ".join(
        f"{axes.x(at_s):.1f},{axes.y(step_s):.1f}"
        for at_s, step_s in zip(trace.at_s, trace.step_s, strict=True)
    )
    return (
        f'<polyline points="{points}" fill="none" stroke="{COLOURS[number]}" '
        f'stroke-width="1.6" stroke-dasharray="{DASHES[number]}"/>'
    )


def _legend(traces: list[Trace]) -> Iterator[str]:
    for number, trace in enumerate(traces):
        x = LEFT + number * 260
        yield (
            f'<path d="M{x} 26H{x + 34}" stroke="{COLOURS[number]}" stroke-width="3" '
            f'stroke-dasharray="{DASHES[number]}"/>'
        )
        yield _text(x + 42, 30, trace.name, "start")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'
    )


def _ticks(low: float, high: float) -> Iterator[float]:
    """Round numbers between two, a few of them."""
    rough = (high - low) / MOST_TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    for number in range(ceil(low / step), floor(high / step) + 1):
        yield round(number * step, 10)
