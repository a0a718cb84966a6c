"""All words of the page in one language, by keys that the page's elements carry."""

from __future__ import annotations

import instride
from instride.cli.render.html.content import MOST_PLACES, Content, Told
from instride.cli.render.html.places import Place
from instride.explain.languages.words import Words
from instride.explain.spans import Owner

GOOD = 0.95
"""Share of ordinary steps from which there is nothing to complain about."""


def texts(shown: Content, language: Words) -> dict[str, str]:
    """Every text of the page; numbers are written as the language writes them."""
    made = dict(language.page)
    made |= _head(shown, language)
    made |= _facts(shown, language)
    made |= _owners(shown, language)
    for number, told in enumerate(shown.told):
        made |= _finding(f"finding.{number}", told, language)
    for number, advice in enumerate(shown.explanation.advice):
        made[f"advice.{number}"] = language.advice(advice)
        if advice.saves_s:
            saves = language.seconds(advice.saves_s)
            made[f"advice.{number}.saves"] = language.page["finding.saves"].format(time=saves)
    for number, unknown in enumerate(shown.explanation.unknowns):
        made[f"unknown.{number}"] = language.unknown(unknown)
    return made


def _head(shown: Content, language: Words) -> dict[str, str]:
    ledger, page = shown.explanation.ledger, language.page
    usual = ledger.accounts[Owner.COMPUTE].seconds / shown.whole_s
    is_good = usual >= GOOD and not shown.notable
    headline = page["headline.good" if is_good else "headline"]
    first, *others = shown.names
    name = language.show_files(first, len(others)) if others else language.show_name(first)
    drawn, every = len(shown.shown), len(ledger.timeline.run)
    return {
        "log": name,
        "title": page["title"].format(name=name),
        "headline": headline.format(
            share=language.percent(usual if is_good else 1 - usual),
            wall=language.seconds(shown.whole_s),
        ),
        "chart.thinned": page["chart.thinned"].format(
            shown=language.number(drawn), all=language.number(every)
        ),
        "findings.small": page["findings.small"].format(count=language.number(len(shown.small))),
        "footer": page["footer"].format(version=instride.__version__),
    }


def _facts(shown: Content, language: Words) -> dict[str, str]:
    ledger, page = shown.explanation.ledger, language.page
    run = ledger.timeline.run
    every = max(process.stride for process in ledger.timeline.processes)
    kind = "fact.steps.all" if every == 1 else "fact.steps.sampled"
    ordinary = language.seconds(ledger.baseline_s)
    if ledger.spread_s:
        spread = language.seconds(ledger.spread_s)
        ordinary = page["fact.spread"].format(time=ordinary, spread=spread)
    made = {
        "fact.trainer.value": language.trainer(run.dialect.title),
        "fact.steps.value": page[kind].format(
            first=language.number(run.step.lowest),
            last=language.number(run.step.highest),
            every=language.number(every),
        ),
        "fact.wall.value": language.seconds(ledger.wall_s),
        "fact.ordinary.value": ordinary,
        "fact.restarts.value": language.number(shown.num_restarts),
        "fact.runs.value": language.number(shown.num_runs),
    }
    if ledger.rhythm is not None:
        more = ledger.rhythm.factors[ledger.rhythm.offset] - 1
        made["fact.rhythm.value"] = page["fact.rhythm.value"].format(
            period=language.number(ledger.rhythm.period), more=language.percent(more)
        )
    return made


def _owners(shown: Content, language: Words) -> dict[str, str]:
    made = {f"owner.{owner.value}": language.labels[owner.value] for owner in Owner}
    for owner, account in shown.owners:
        key = f"owner.{owner.value}"
        made[f"{key}.time"] = language.seconds(account.seconds)
        if not (shown.has_gap and owner is Owner.RESTART):
            made[f"{key}.share"] = language.percent(account.seconds / shown.whole_s)
        if account.steps:
            made[f"{key}.steps"] = language.number(account.steps)
        for name, seconds in (("typical", account.typical_s), ("worst", account.worst_s)):
            if seconds is not None:
                made[f"{key}.{name}"] = language.seconds(seconds)
    phrases = language.screen_phrases
    made["owners.typical.note"] = phrases["typical"]
    if shown.is_counted_twice:
        made["owners.typical.note"] += phrases["twice"]
    made["owners.sum"] = language.seconds(shown.explanation.ledger.wall_s)
    return made


def _finding(key: str, told: Told, language: Words) -> dict[str, str]:
    page, finding = language.page, told.finding
    share = page["finding.share.wall" if told.is_of_wall else "finding.share"]
    left_out = len(told.places) - MOST_PLACES
    made = {
        f"{key}.sentence": language.sentence(finding),
        f"{key}.cost": language.seconds(finding.cost_s),
        f"{key}.share": share.format(share=language.percent(told.share)),
        f"{key}.confidence": language.labels[finding.confidence],
        f"{key}.rung": language.rungs[finding.rung.value],
        f"{key}.evidence": page["finding.evidence"].format(count=language.number(len(told.quotes))),
        f"{key}.more": page["finding.more"].format(count=language.number(max(0, left_out))),
    }
    made |= _cures(key, told, language)
    for number, place in enumerate(told.places[:MOST_PLACES]):
        made[f"{key}.place.{number}"] = _place(place, language)
    for number, quote in enumerate(told.quotes):
        kind = "finding.line" if quote.file is None else "finding.line.file"
        # Editors are asked for line numbers as they are: without marks for thousands.
        made[f"{key}.line.{number}"] = page[kind].format(file=quote.file, number=quote.line)
    return made


def _cures(key: str, told: Told, language: Words) -> dict[str, str]:
    """What to do about a finding, and what else it could be."""
    page, made = language.page, {}
    for number, cure in enumerate(told.cures):
        made[f"{key}.cure.{number}"] = language.cure(cure)
        if cure.saves_s is not None:
            saves = language.seconds(cure.saves_s)
            made[f"{key}.saves.{number}"] = page["finding.saves"].format(time=saves)
    others = language.alternatives.get(told.finding.id, ())
    for number, (what, how) in enumerate(others):
        made[f"{key}.other.{number}"] = page["finding.alternative"].format(what=what, how=how)
    made[f"{key}.else"] = page["finding.else"].format(count=language.number(len(others)))
    return made


def _place(place: Place, language: Words) -> str:
    time = language.seconds(place.cost_s)
    if place.first_step == place.last_step:
        step = language.number(place.first_step)
        return language.page["finding.place"].format(step=step, time=time)
    return language.page["finding.stretch"].format(
        first=language.number(place.first_step), last=language.number(place.last_step), time=time
    )
