"""A picture of what steps take around a save, a row for each way, as one SVG file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from pathlib import Path

from instride.bench.names import saves_nothing
from instride.bench.report import Report, Row
from instride.bench.summary import NUM_TRACED_BEFORE

WIDTH = 880
LABEL_WIDTH = 210
ROW_HEIGHT = 64
TOP = 64
MOST_STEPS = 60
BAR_WIDTH = (WIDTH - LABEL_WIDTH - 130) / (NUM_TRACED_BEFORE + MOST_STEPS)
CALM, SLOW = "#4c78a8", "#e45756"
SLOW_FACTOR = 1.15
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#777}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#999}}"
)


def write_picture(report: Report, path: Path) -> None:
    path.write_text(picture_of(report), encoding="utf-8")


def picture_of(report: Report) -> str:
    """Bars as high as the logarithm of a step: one of 20 s must not hide one of 20 ms."""
    rows = [row for row in report.rows if not saves_nothing(row.name)]
    longest_s = max(step_s for row in rows for step_s in row.trace_s)
    height = TOP + ROW_HEIGHT * len(rows) + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}"><style>{STYLE}</style>',
        f'<text x="8" y="22">What each step takes around one save of '
        f"{report.state_bytes / 1e9:.1f} GB; an ordinary step takes "
        f"{report.base_step_s * 1e3:.0f} ms</text>",
        '<text x="8" y="42" class="small">a bar is a step, higher is longer (logarithmic); '
        "red from 15 % on; the save is called at the line</text>",
    ]
    for number, row in enumerate(rows):
        pays = (
            f"{_show(row.early_cost_s)} in the call and ten steps"
            if report.device != "cpu" and report.is_synced_loop
            else f"training pays {_show(row.cost_s)} in the median"
        )
        parts += _row(row, pays, TOP + number * ROW_HEIGHT, report.base_step_s, longest_s)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(row: Row, pays: str, top: float, base_s: float, longest_s: float) -> Iterator[str]:
    bottom = top + ROW_HEIGHT - 12
    scale = (ROW_HEIGHT - 16) / math.log(2 * longest_s / base_s)
    yield f'<text x="8" y="{bottom - 14}">{escape(row.name)}</text>'
    yield f'<text x="8" y="{bottom}" class="small">{pays}</text>'
    for number, step_s in enumerate(row.trace_s[: NUM_TRACED_BEFORE + MOST_STEPS]):
        tall = max(1.0, scale * math.log(max(1.0, 2 * step_s / base_s)))
        colour = SLOW if step_s > SLOW_FACTOR * base_s else CALM
        yield (
            f'<rect x="{LABEL_WIDTH + number * BAR_WIDTH:.1f}" y="{bottom - tall:.1f}" '
            f'width="{BAR_WIDTH - 1:.1f}" height="{tall:.1f}" fill="{colour}"/>'
        )
    at = LABEL_WIDTH + NUM_TRACED_BEFORE * BAR_WIDTH - 0.5
    yield f'<path d="M{at:.1f} {top + 2}V{bottom}" stroke="#888" stroke-dasharray="2 2"/>'
    worst = _show(max(row.trace_s))
    yield f'<text x="{WIDTH - 120}" y="{bottom}" class="small">longest {worst}</text>'


def _show(seconds: float) -> str:
    return f"{seconds:.1f} s" if abs(seconds) >= 1 else f"{seconds * 1e3:.0f} ms"
