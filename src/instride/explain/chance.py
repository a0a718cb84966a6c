"""Whether slow steps after saves are more than chance: what was found, against the same elsewhere.

A machine that others use too has slow stretches of its own, and some begin right after a save. So
whoever looks at the steps after saves looks at places without one as well, by the same rules and in
the same regimes (an A/A test): how often that finds as much is how often chance does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from math import exp, inf, lgamma, log

import msgspec

SURE = 0.01
"""Chance makes as much in less than one run of a hundred: that is called sure."""
LIKELY = 0.05
"""In less than one of twenty: that is worth a finding. What is left has no known reason."""
NOTHING = 1e-9
"""Of a sum: what is less is left out, and so is all that would follow."""


class Elsewhere(msgspec.Struct, frozen=True):
    """What the look found at places without a save, one number each, in ascending order."""

    costs: Sequence[float]

    def share_from(self, cost: float) -> float:
        """How often as much is found; the save itself counts as a place, so it is never nought."""
        num_as_much = len(self.costs) - bisect_left(self.costs, cost)
        return (num_as_much + 1) / (len(self.costs) + 1)


class Verdict(msgspec.Struct, frozen=True):
    """What is more than chance."""

    least: float = inf
    """What the look must have found after a save to be believed."""
    chance: float = 1.0
    """How likely ordinary steps alone show as much after as many saves."""


def weigh(found: Sequence[tuple[float, Elsewhere]]) -> Verdict:
    """Believe as many saves as together are sure; if there are none, as together are likely.

    `found` has what was found after each save, nought for nothing, and what elsewhere in its
    regime. Each number of saves that could have been believed is a chance of its own to be wrong.
    """
    costs = sorted((cost for cost, _ in found if cost > 0), reverse=True)
    regimes = {id(elsewhere): elsewhere for _, elsewhere in found}
    num_saves = Counter(id(elsewhere) for _, elsewhere in found)
    num_places = sum(len(elsewhere.costs) for elsewhere in regimes.values())
    likely: Verdict | None = None
    for count in range(len(costs), 0, -1):
        least = costs[count - 1]
        usual = sum(
            num_saves[key] * elsewhere.share_from(least) for key, elsewhere in regimes.items()
        ) / len(found)
        limit = (LIKELY if likely is None else SURE) / len(costs)
        chance = at_least(count, len(found), usual, num_places, enough=limit)
        if chance < limit:
            verdict = Verdict(least, len(costs) * chance)
            if verdict.chance < SURE:
                return verdict
            likely = likely or verdict
    return likely or Verdict()


def at_least(count: int, tries: int, share: float, num_seen: int, *, enough: float = inf) -> float:
    """How likely so many of all tries succeed, or more, where such a share of others did.

    A share of few others may be far from the true one, which the beta-binomial distribution knows.
    From `enough` on nobody asks how likely, and as many terms as there are tries are not added up.
    """
    others, successes = num_seen + 1, share * (num_seen + 1)
    failures = others - successes
    if failures <= 0:
        return 1.0
    if count > tries:
        return 0.0
    # The terms grow up to the share: the largest one alone may tell.
    largest = _exactly(max(count, int(share * tries)), tries, successes, failures)
    if largest >= enough:
        return largest
    total = 0.0
    for hits in range(count, tries + 1):
        each = _exactly(hits, tries, successes, failures)
        total += each
        if total >= enough or (hits > share * tries and each < NOTHING * total):
            break
    return total


def _exactly(hits: int, tries: int, successes: float, failures: float) -> float:
    return exp(
        _log_beta(successes + hits, failures + tries - hits)
        - _log_beta(successes, failures)
        - _log_beta(hits + 1, tries - hits + 1)
        - log(tries + 1)
    )


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
