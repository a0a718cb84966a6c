"""Advice has the same numbers in every language, whatever it is about."""

from __future__ import annotations

import pytest

from instride.explain.advice import Advice
from instride.explain.languages import LANGUAGES
from instride.explain.languages.facts import Facts

INTERVAL: Facts = {
    "cost_s": 42.5,
    "blocking_s": 42.5,
    "every": 1250,
    "share": 0.061,
    "target": 0.01,
    "steps": 7500,
    "beyond": 0,
    "instead": "evaluate-fewer",
    "joint": 0,
    "count": 4,
    "setting": None,
}
AFTERMATH: Facts = {**INTERVAL, "blocking_s": 12.5}
FAILURES: Facts = {
    **AFTERMATH,
    "mtbf_s": 40_000.0,
    "restarts": 3,
    "young_s": 1843.9,
    "daly_s": 1810.0,
    "best_share": 0.046,
    "keep": 0,
}
ADVICE = {
    "evaluate less": ("eval-interval", INTERVAL, (42.5, "1250", 0.061, "7500")),
    "evaluate less than once": ("eval-interval", {**INTERVAL, "beyond": 1}, (42.5, "7500")),
    "evaluated once": ("eval-interval", {**INTERVAL, "every": None}, (42.5, "7500")),
    "one pause for both": ("save-interval", {**INTERVAL, "joint": 1}, (42.5, "7500")),
    "one setting": ("eval-interval", {**INTERVAL, "joint": 1, "setting": "x_every"}, (42.5,)),
    "save less": ("save-interval", AFTERMATH, (42.5, 30.0, "1250", 0.061, "7500")),
    "save in the background": (
        "save-interval",
        {**AFTERMATH, "beyond": 1, "instead": "save-async"},
        (42.5, "7500"),
    ),
    "nothing else known": (
        "save-interval",
        {**AFTERMATH, "beyond": 1, "instead": None},
        (42.5, "7500"),
    ),
    "failures": ("save-by-failures", FAILURES, (42.5, 30.0, 40_000.0, 1810.0, "7500", 0.046)),
    "no restart": ("save-by-failures", {**FAILURES, "restarts": 0}, (40_000.0, 1810.0)),
    "one restart": ("save-by-failures", {**FAILURES, "restarts": 1}, (40_000.0, 1810.0)),
    "well set": ("save-by-failures", {**FAILURES, "keep": 1}, (40_000.0, 1810.0)),
    "saved once": ("save-by-failures", {**FAILURES, "every": None}, (40_000.0, 1810.0, 0.046)),
    "failures, one setting": ("save-by-failures", {**FAILURES, "setting": "x_every"}, (1810.0,)),
    "failures, both": ("save-by-failures", {**FAILURES, "joint": 1}, (40_000.0, 1810.0)),
}


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(("name", "facts", "told"), ADVICE.values(), ids=ADVICE)
def test_advice_tells_its_numbers(
    name: str, facts: Facts, told: tuple[float | str, ...], code: str
) -> None:
    say = LANGUAGES[code]
    sentence = say.advice(Advice(name, dict(facts), None, None))
    assert sentence[-1] in ".\u3002"
    for value in told:
        if isinstance(value, str):
            assert say.number(int(value)) in sentence
        else:
            written = say.percent(value) if value < 1 else say.seconds(value)
            assert written in sentence


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_setting_that_does_both_is_named_and_an_average_is_called_one(code: str) -> None:
    say = LANGUAGES[code]
    facts = {**FAILURES, "setting": "x_every"}
    for name in ("eval-interval", "save-by-failures"):
        assert "`x_every`" in say.advice(Advice(name, dict(facts), None, None))
        once = say.advice(Advice(name, {**facts, "count": 1}, None, None))
        assert len(once) < len(say.advice(Advice(name, dict(facts), None, None)))


@pytest.mark.parametrize("code", LANGUAGES)
def test_advice_differs_where_its_facts_do(code: str) -> None:
    say = LANGUAGES[code]
    told = [say.advice(Advice(name, dict(facts), None, None)) for name, facts, _ in ADVICE.values()]
    assert len(set(told)) == len(told)
