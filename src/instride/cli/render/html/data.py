"""The numbers behind the chart, small enough to travel inside the page.

Step times and durations are 32-bit floats in base64; steps and owners, which repeat, are runs of
equal values: `[count, value, count, value, ...]`.
"""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Iterable
from itertools import chain, groupby, pairwise
from typing import Any

from instride.cli.render.html.content import Content
from instride.explain.series import OWNERS


def chart_data(shown: Content) -> dict[str, Any]:
    """What the page's script draws."""
    ledger, points = shown.explanation.ledger, shown.shown
    strides = (after - before for before, after in pairwise(chain([0], points.step)))
    return {
        "owners": [owner.value for owner in OWNERS],
        "records": len(points),
        "value": floats(points.value_s),
        "took": floats(after - before for before, after in pairwise(chain([0.0], points.end_s))),
        "stride": runs(strides),
        "owner": runs(points.owner),
        "shared": [[at, each] for at, each in sorted(points.shared.items())],
        "wall": ledger.wall_s,
        "baseline": ledger.baseline_s,
        "quiet": [[each.owner.value, each.begin_s, each.end_s] for each in points.quiet],
        "restarts": [[each.begin_s, each.step] for each in shown.restarts],
        "findings": [
            {
                "owner": told.finding.owner.value,
                "places": [
                    [each.first_step, each.last_step, each.begin_s, each.end_s]
                    for each in told.places
                ],
            }
            for told in shown.told
        ],
    }


def floats(values: Iterable[float]) -> str:
    """Numbers as little-endian 32-bit floats, in base64."""
    packed = array("f", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return b64encode(packed.tobytes()).decode("ascii")


def runs(values: Iterable[int]) -> list[int]:
    """Equal values one after the other, as how many and what."""
    return [number for value, group in groupby(values) for number in (sum(1 for _ in group), value)]
