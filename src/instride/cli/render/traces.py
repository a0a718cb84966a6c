"""Step times before and beside each rival on one axis, as a picture that needs nobody (SVG)."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from instride.bench.interference.names import TRACED
from instride.bench.interference.report import Report, Trace

WIDTH, HEIGHT = 900, 430
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 92, 56
STYLES = dict(
    zip(TRACED, (("#c43b4e", "1.6"), ("#d98e04", "1.6"), ("#00667a", "2.6")), strict=True)
)
"""Colour and width; told apart in grey, too: the last is the darkest and the thickest."""
INK, PALE, WORK = "#333333", "#dddddd", "#f3f1ec"
MOST_TICKS = 7
LETTER_WIDTH = 7.5
FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"


def draw(report: Report) -> str:
    top_s = max((max(trace.step_s) for trace in report.traces if trace.step_s), default=1e-3)
    first_s = min((_start_s(trace) for trace in report.traces if trace.at_s), default=0.0)
    axes = _Axes(min(first_s, 0.0), report.block_s, top_s * 1.05)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="{FONT}" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 28, _title(report), "start", size=16),
        *axes.lines(),
        *(_trace(axes, trace) for trace in report.traces),
        *_legend(report),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _title(report: Report) -> str:
    size = f"{report.file_bytes / 1e9:.1f} GB"
    return f"Each step of a training that needs the {report.scenario}, as {size} are compressed"


class _Axes:
    """From seconds to places on the picture."""

    def __init__(self, first_s: float, last_s: float, top_s: float) -> None:
        self._first_s, self._last_s, self._top_s = first_s, last_s, top_s

    def x(self, at_s: float) -> float:
        within_s = min(max(at_s, self._first_s), self._last_s)
        share = (within_s - self._first_s) / (self._last_s - self._first_s)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, step_s: float) -> float:
        return HEIGHT - BOTTOM - step_s / self._top_s * (HEIGHT - TOP - BOTTOM)

    def lines(self) -> Iterator[str]:
        """A grid with its numbers, and where the work begins."""
        start, bottom = self.x(0), HEIGHT - BOTTOM
        yield (
            f'<rect x="{start:.1f}" y="{TOP}" width="{WIDTH - RIGHT - start:.1f}" '
            f'height="{bottom - TOP}" fill="{WORK}"/>'
        )
        for step_s in _ticks(0.0, self._top_s):
            y = self.y(step_s)
            yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{PALE}"/>'
            yield _text(LEFT - 8, y + 4, f"{1000 * step_s:g} ms", "end")
        for at_s in _ticks(self._first_s, self._last_s):
            yield _text(self.x(at_s), bottom + 20, f"{at_s:g} s", "middle")
        yield f'<path d="M{start:.1f} {TOP}V{bottom}" stroke="{INK}"/>'
        yield _text(start - 6, TOP + 16, "alone", "end")
        yield _text(start + 6, TOP + 16, "compressing beside it", "start")
        yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "seconds since it began", "middle")


def _start_s(trace: Trace) -> float:
    return trace.at_s[0] - trace.step_s[0]


def _trace(axes: _Axes, trace: Trace) -> str:
    """As high as each step is long, for as long as it is."""
    points = []
    for at_s, step_s in zip(trace.at_s, trace.step_s, strict=True):
        y = axes.y(step_s)
        points += [f"{axes.x(at_s - step_s):.1f},{y:.1f}", f"{axes.x(at_s):.1f},{y:.1f}"]
    colour, width = STYLES[trace.name]
    return (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linejoin="round"/>'
    )


def _legend(report: Report) -> Iterator[str]:
    inflations = {row.name: row.mean_inflation for row in report.rows}
    x = float(LEFT)
    for trace in report.traces:
        colour, width = STYLES[trace.name]
        yield f'<path d="M{x} 58h28" stroke="{colour}" stroke-width="{2 * float(width):g}"/>'
        said = f": {inflations[trace.name]:.2f}x" if trace.name in inflations else ""
        yield _text(x + 36, 62, trace.name + said, "start")
        x += 70 + LETTER_WIDTH * len(trace.name + said)
    blocks = min((row.num_blocks for row in report.rows), default=0)
    yield _text(LEFT, 80, f"means of {blocks} blocks; of each, a typical one is drawn", "start", 11)


def _text(x: float, y: float, text: str, anchor: str, size: int = 13) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}" font-size="{size}">'
        f"{escape(text)}</text>"
    )


def _ticks(low: float, high: float) -> Iterator[float]:
    """Round numbers between two, a few of them."""
    rough = (high - low) / MOST_TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    for number in range(ceil(low / step), floor(high / step) + 1):
        yield round(number * step, 10)
