"""The catalogue of causes: each with how it is told from a ledger, and what helps."""

from __future__ import annotations

from instride.explain.causes import (
    allocating,
    evaluating,
    hiding,
    loading,
    restarting,
    saving,
    shapes,
    speeds,
    starting,
)
from instride.explain.causes.contract import Cause

CATALOGUE: tuple[Cause, ...] = (
    *evaluating.CAUSES,
    *saving.CAUSES,
    *allocating.CAUSES,
    *starting.CAUSES,
    *loading.CAUSES,
    *restarting.CAUSES,
    *shapes.CAUSES,
    *speeds.CAUSES,
    *hiding.CAUSES,
)
"""In the order they are asked: a span is told by the first that knows it, so particular before
general."""
CAUSES = {cause.id: cause for cause in CATALOGUE}
