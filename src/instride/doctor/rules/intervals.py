"""How often a training saves and evaluates, against what a log shows that this costs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from instride.doctor.model import (
    Count,
    Evidence,
    Fact,
    Finding,
    Fix,
    FixKind,
    Place,
    Reading,
    Seconds,
    Share,
)
from instride.doctor.repository import Budget, Repository
from instride.doctor.request import Request
from instride.doctor.rules.interval_settings import (
    EVALUATES,
    SAVES,
    IntervalSetting,
    due_calls,
    due_settings,
    settings,
)
from instride.explain.advice import NEAR, TARGET, Advice, Pausing, advise, pausing
from instride.explain.explaining import Explanation, explain
from instride.explain.spans import Owner
from instride.steps.choosing import choose
from instride.steps.reading import read_with

MOST_LINES = 2
"""Of the log, as evidence."""
HOUR_S = 3600.0


class Measured(msgspec.Struct, frozen=True):
    """What a log says of pauses of one kind."""

    pauses: Pausing
    lines: tuple[Reading, ...]
    """The dearest of them."""


class Costs(msgspec.Struct, frozen=True):
    saving: Measured | None
    evaluating: Measured | None
    advice: tuple[Advice, ...]


def saves_too_often(repository: Repository, request: Request) -> Iterator[Finding]:
    yield from _too_often(repository, request, "saves-too-often", "save-interval")


def evaluates_too_often(repository: Repository, request: Request) -> Iterator[Finding]:
    yield from _too_often(repository, request, "evaluates-too-often", "eval-interval")


def _too_often(
    repository: Repository, request: Request, rule: str, advice_id: str
) -> Iterator[Finding]:
    if request.log is None:
        return
    costs = costs_in(request.log, repository.budget)
    is_save = rule == "saves-too-often"
    measured = costs.saving if is_save else costs.evaluating
    if measured is None:
        return
    setting = _setting(repository, measured.pauses, is_save)
    pauses = _with_interval(measured.pauses, setting)
    if pauses.known_every is None:
        return
    advised = next((each for each in costs.advice if each.id == advice_id), None)
    by_failures = _by_failures(costs) if is_save else None
    if by_failures is not None:
        steps = _whole(by_failures, "steps")
        if steps <= pauses.every:
            return
        change = by_failures.change
    elif pauses.share > TARGET * NEAR and (advised is not None or pauses is not measured.pauses):
        steps = pauses.steps_for(pauses.cost_s * (1 / TARGET - 1))
        change = advised.change if advised is not None else None
    else:
        return
    facts: dict[str, Fact] = {
        "cost": Seconds(pauses.cost_s),
        "every": Count(pauses.known_every),
        "share": Share(pauses.share),
        "steps": Count(steps),
    }
    saved = HOUR_S * max(0.0, pauses.share - _share_at(pauses, steps))
    line = change or _condition(repository, steps, is_save)
    yield _finding(rule, facts, measured, setting, steps, line, saved)


def saves_too_rarely(repository: Repository, request: Request) -> Iterator[Finding]:
    if request.log is None:
        return
    costs = costs_in(request.log, repository.budget)
    advised = _by_failures(costs)
    if advised is None or costs.saving is None:
        return
    pauses, steps = costs.saving.pauses, _whole(advised, "steps")
    if pauses.known_every is None or steps >= pauses.every:
        return
    facts: dict[str, Fact] = {
        "apart": Seconds(_number(advised, "mtbf_s")),
        "every": Count(pauses.known_every),
        "best": Seconds(_number(advised, "daly_s")),
        "steps": Count(steps),
    }
    setting = _setting(repository, pauses, is_save=True)
    saved = HOUR_S * max(0.0, _number(advised, "share") - _number(advised, "best_share"))
    line = advised.change or _condition(repository, steps, is_save=True)
    yield _finding("saves-too-rarely", facts, costs.saving, setting, steps, line, saved)


@lru_cache(maxsize=1)
def costs_in(log: str, budget: Budget) -> Costs:
    """What a log shows; three rules ask the same one."""
    choice = choose([log], None, [])
    run = read_with(choice.reader, choice.sources, budget.check_time)
    explanation = explain(run, choice.sources)
    return Costs(
        _measured(explanation, Owner.SAVE),
        _measured(explanation, Owner.EVAL),
        tuple(advise(explanation.ledger)),
    )


def _measured(explanation: Explanation, owner: Owner) -> Measured | None:
    pauses = pausing(explanation.ledger, owner)
    if pauses is None:
        return None
    spans = [span for span in explanation.ledger.spans if span.owner is owner]
    dearest = sorted(spans, key=lambda span: -span.cost_s)
    numbers = dict.fromkeys(line for span in dearest for line in span.lines)
    lines = []
    for number in list(numbers)[:MOST_LINES]:
        name, line = explanation.place(number)
        lines.append(Reading(f"{name}:{line}", explanation.texts.get(number, "").strip()))
    return Measured(pauses, tuple(lines))


def _by_failures(costs: Costs) -> Advice | None:
    """The interval by Young and Daly, where the log shows failures and another one is used."""
    found = next((each for each in costs.advice if each.id == "save-by-failures"), None)
    return found if found is not None and not found.facts["keep"] else None


def _setting(repository: Repository, pauses: Pausing, is_save: bool) -> IntervalSetting | None:
    """Where the repository sets the interval: the value that the log shows, or the only one."""
    if is_save and (of_saver := _of_saver(repository, pauses)) is not None:
        return of_saver
    names = [SAVES if is_save else EVALUATES]
    if pauses.is_joint:
        names = [EVALUATES, SAVES]
    for name in names:
        found = settings(repository, name)
        if pauses.known_every is not None:
            found = [each for each in found if each.value == pauses.known_every]
        elif len(found) > 1:
            found = []
        if found:
            return found[0]
    return None


def _of_saver(repository: Repository, pauses: Pausing) -> IntervalSetting | None:
    """What a loop asks its `instride.Saver` for.

    The last save of a run may come a step early, as steps are counted from 0.
    """
    found = due_settings(repository)
    every = pauses.known_every
    is_meant = len(found) == 1 and (every is None or abs(found[0].value - every) <= 1)
    return found[0] if is_meant else None


def _with_interval(pauses: Pausing, setting: IntervalSetting | None) -> Pausing:
    """A log with a single pause does not tell the interval, but the repository may."""
    if pauses.known_every is not None or setting is None:
        return pauses
    return msgspec.structs.replace(
        pauses,
        every=float(setting.value),
        share=_share_at(pauses, setting.value),
        is_regular=True,
        count=2,
    )


def _share_at(pauses: Pausing, steps: int) -> float:
    """Of the time, at another interval."""
    return pauses.cost_s / (pauses.cost_s + steps * pauses.step_s)


def _condition(repository: Repository, steps: int, is_save: bool) -> str:
    """What a loop asks in each step."""
    if is_save and due_calls(repository):
        return f"if saver.due(step, every={steps}):"
    return f"if step % {steps} == 0:"


def _finding(
    rule: str,
    facts: dict[str, Fact],
    measured: Measured,
    setting: IntervalSetting | None,
    steps: int,
    line: str,
    saved_s_per_hour: float,
) -> Finding:
    places: list[Place] = [setting.place] if setting is not None else []
    evidence: tuple[Evidence, ...] = (*places, *measured.lines)
    fix = setting.changed_to(steps) if setting is not None else None
    if fix is None:
        fix = Fix(FixKind.LINE, line)
    return Finding(rule, facts, evidence, fixes=(fix,), cost_s_per_hour=saved_s_per_hour)


def _whole(advice: Advice, name: str) -> int:
    return int(_number(advice, name))


def _number(advice: Advice, name: str) -> float:
    value = advice.facts[name]
    assert isinstance(value, int | float)
    return float(value)
