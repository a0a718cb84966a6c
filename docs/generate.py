"""Write the reference pages that follow from the code: `python docs/generate.py`.

A test runs this and compares, so that the pages cannot go stale.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.layouts import field_docs, filled
from instride import errors
from instride.agent import status as agent_status
from instride.bench import packing as bench_packing
from instride.bench import report as bench_report
from instride.bench.interference import report as interference_report
from instride.cli.commands import agent as agent_verb
from instride.cli.main import cli
from instride.doctor import catalogue
from instride.doctor import report as doctor_report
from instride.doctor.languages.en import WORDINGS
from instride.explain import comparison_report, report
from instride.explain.causes import CATALOGUE
from instride.explain.causes.contract import Cause, Rung
from instride.explain.causes.trainers import ANY_TRAINER, INSTEAD, TRAINERS
from instride.explain.languages.en import English
from instride.explain.spans import Owner
from instride.pack import packing, unpacking
from instride.steps.readers import READERS
from instride.store import checking, exported, listing, pruning

HERE = Path(__file__).parent
INTERNALS = ("image", "protocol", "manifest")
"""Pages written by hand, with tables that are not."""
WORDS = English()
ABOUT = {
    catalogue.About.MACHINE: "The machine",
    catalogue.About.REPOSITORY: "The repository",
}


def pages() -> dict[str, str]:
    """The text of every generated file, by its path under `docs/`."""
    return {
        "reference/explain.schema.json": schema("explain", report, report.Report),
        "reference/compare.schema.json": schema(
            "compare", comparison_report, comparison_report.ComparisonReport
        ),
        "reference/doctor.schema.json": schema("doctor", doctor_report, doctor_report.Report),
        "reference/list.schema.json": schema("list", listing, listing.Listing),
        "reference/verify.schema.json": schema("verify", checking, checking.Verdict),
        "reference/prune.schema.json": schema("prune", pruning, pruning.Pruning, listing, checking),
        "reference/export.schema.json": schema("export", exported, exported.Export),
        "reference/bench-save.schema.json": schema("bench save", bench_report, bench_report.Report),
        "reference/dialects.md": dialects(),
        "reference/exit-codes.md": exit_codes(),
        "reference/explain.md": command("explain"),
        "reference/compare.md": command("compare"),
        "reference/doctor.md": command("doctor"),
        "reference/bench-save.md": command("bench", "save"),
        **{f"reference/{verb}.md": command(verb) for verb in ("list", "verify", "prune", "export")},
        **{f"reference/{verb}.md": command(verb) for verb in ("pack", "unpack")},
        "reference/pack.schema.json": schema("pack", packing, packing.PackReport),
        "reference/unpack.schema.json": schema("unpack", unpacking, unpacking.UnpackReport),
        "reference/agent.md": command("agent"),
        "reference/agent-status.md": help_page(agent_verb.status, "agent status"),
        "reference/agent-status.schema.json": schema(
            "agent status", agent_status, agent_status.Status, listing
        ),
        "reference/bench-interference.md": command("bench", "interference"),
        "reference/bench-interference.schema.json": schema(
            "bench interference", interference_report, interference_report.Report, bench_report
        ),
        "reference/bench-pack.md": command("bench", "pack"),
        "reference/bench-pack.schema.json": schema(
            "bench pack", bench_packing, bench_packing.Bench
        ),
        "reference/rules.md": rules(),
        **{f"reference/rules/{rule.id}.md": rule_page(rule) for rule in catalogue.CATALOGUE},
        "reference/causes.md": causes(),
        **{f"reference/causes/{cause.id}.md": cause_page(cause) for cause in CATALOGUE},
        **{f"reference/owners/{owner}.md": owner_page(owner) for owner in Owner},
        **{f"internals/{name}.md": filled(HERE / f"internals/{name}.md") for name in INTERNALS},
    }


def schema(verb: str, module: ModuleType, answer: type[msgspec.Struct], *others: ModuleType) -> str:
    """The JSON contract; what fields mean is taken from the docstrings under them.

    `others` hold structures that the answer has from elsewhere.
    """
    contract = msgspec.json.schema(answer)
    documented = {
        name: docs for each in (*others, module) for name, docs in field_docs(each).items()
    }
    for name in documented.keys() & contract["$defs"].keys():
        for field, text in documented[name].items():
            contract["$defs"][name]["properties"][field]["description"] = text
    contract["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    contract["title"] = f"instride {verb} --json, schema {module.SCHEMA}"
    return json.dumps(contract, indent=1, sort_keys=True) + "\n"


def dialects() -> str:
    lines = [
        "# Dialects",
        "",
        "`instride explain` recognises these by content; `--dialect NAME` forces one."
        " *Pauses in it* says where the time of an evaluation or a save lands: in the record"
        " printed `next`, in the `same` step's record, in `none` (the trainer stops its clock), or"
        " `smoothed` over several.",
        "",
        "| name | trainer | a time stands for | pauses in it | a line |",
        "|---|---|---|---|---|",
    ]
    for reader in READERS:
        each = reader.dialect
        sample = each.sample.replace("|", "\\|")
        lines.append(
            f"| `{each.name}` | {each.title} | {each.sampling} | {each.pauses} | `{sample}` |"
        )
    lines += [
        "",
        "Anything else is guessed from lines that carry a step number and a duration or a"
        " timestamp, and the answer says what was guessed; `--pattern` says it exactly.",
    ]
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    rows = sorted((error.exit_code, error.__name__, _summary(error)) for error in _error_classes())
    lines = ["# Exit codes", "", "| code | when | error |", "|---|---|---|"]
    lines.append("| 0 | the question was answered; doctor: nothing sure or likely was found | |")
    lines.append("| 1 | doctor: something was found that is sure or likely | |")
    lines += [f"| {code} | {summary} | `{name}` |" for code, name, summary in rows]
    lines.append("| 130 | interrupted (Ctrl-C) | |")
    return "\n".join(lines) + "\n"


def _error_classes() -> Iterator[type[errors.InstrideError]]:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.InstrideError):
            yield value


def _summary(error: type[errors.InstrideError]) -> str:
    if error is errors.InstrideError:
        return "The command line was not understood."
    return (error.__doc__ or "").strip().splitlines()[0]


def command(*names: str) -> str:
    verb: click.Command = cli
    for each in names:
        assert isinstance(verb, click.Group)
        found = verb.get_command(click.Context(verb), each)
        assert found is not None
        verb = found
    return help_page(verb, " ".join(names))


def help_page(verb: click.Command, name: str) -> str:
    # With its own settings: click keeps the help option of whoever asks first.
    context = click.Context(
        verb, info_name=f"instride {name}", terminal_width=80, **verb.context_settings
    )
    return f"# instride {name}\n\n```text\n{verb.get_help(context)}\n```\n"


def causes() -> str:
    """All causes on one page, by owner."""
    rungs = " > ".join(f"{WORDS.rungs[rung]} (`{rung}`)" for rung in Rung)
    lines = [
        "# Causes",
        "",
        "What `instride explain` can name, by the owner of the seconds. Each finding says how it"
        f" was told, best first: {rungs}. What only a shape tells is never called sure.",
    ]
    for owner in Owner:
        lines += ["", f"## [{WORDS.labels[owner]}](owners/{owner}.md)", ""]
        lines += [
            f"- [{WORDS.titles[cause.id]}](causes/{cause.id}.md) (`{cause.id}`)"
            for cause in CATALOGUE
            if owner in cause.owners
        ]
    return "\n".join(lines) + "\n"


def cause_page(cause: Cause) -> str:
    owners = ", ".join(f"[{WORDS.labels[each]}](../owners/{each}.md)" for each in cause.owners)
    lines = [
        f"# {WORDS.titles[cause.id]}",
        "",
        f"Finding `{cause.id}`; owner: {owners}. [All causes](../causes.md)",
        "",
        "## How it is told",
        "",
        cause.told_by,
        "",
        "## What else it could be, and how to tell",
        "",
    ]
    lines += [
        f"- {_upper(what)}: {how}{'' if how.endswith('?') else '.'}"
        for what, how in WORDS.alternatives[cause.id]
    ]
    lines += ["", "## What helps", ""]
    for remedy in cause.remedies:
        lines.append(f"- {_upper(WORDS.cures[remedy])}.")
        lines += [f"  - {trainer}: `{line}`" for trainer, line in _lines_for(remedy)]
    for dialect, instead in INSTEAD.items():
        if cause.id in instead:
            lines += ["", f"In the log of {_titles()[dialect]}, instead:", ""]
            lines += [f"- {_with_line(dialect, remedy)}." for remedy in instead[cause.id]]
    return "\n".join(lines) + "\n"


def _with_line(dialect: str, remedy: str) -> str:
    """A remedy in words, and the line of the trainer if it has one."""
    words, line = _upper(WORDS.cures[remedy]), TRAINERS[dialect].get(remedy)
    return words if line is None else f"{words}: `{line.format(n='N')}`"


def _titles() -> dict[str, str]:
    return {reader.dialect.name: reader.dialect.title for reader in READERS}


def _lines_for(remedy: str) -> Iterator[tuple[str, str]]:
    """What to change, trainer by trainer; N stands for the value."""
    titles = _titles()
    if remedy in ANY_TRAINER:
        yield "any", ANY_TRAINER[remedy]
    for dialect, lines in TRAINERS.items():
        if remedy in lines:
            yield titles[dialect], lines[remedy].replace("{n}", "N")


def owner_page(owner: Owner) -> str:
    lines = [
        f"# {_upper(WORDS.labels[owner])}",
        "",
        f"The seconds of the owner `{owner}` are: {_owner_means()[owner]}.",
        "[How every second gets an owner](../../concepts/ledger.md)",
        "",
        "## Causes",
        "",
    ]
    for cause in CATALOGUE:
        if owner in cause.owners:
            title = f"[{WORDS.titles[cause.id]}](../causes/{cause.id}.md)"
            lines.append(f"- {title}: {cause.told_by}")
    return "\n".join(lines) + "\n"


def _owner_means() -> dict[str, str]:
    """What belongs to an owner, from the table of the concept."""
    concept = (HERE / "concepts/ledger.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", concept, re.MULTILINE))


def rules() -> str:
    """All rules of doctor on one page, the costliest first."""
    lines = [
        "# Rules",
        "",
        "What [`instride doctor`](doctor.md) looks for, in the order in which findings are told"
        " where nothing was measured. Each page says why it matters, how it is detected, how to"
        " fix it and how to silence it.",
    ]
    for about, head in ABOUT.items():
        lines += ["", f"## {head}", ""]
        lines += [
            f"- [{WORDINGS[rule.id].title}](rules/{rule.id}.md) (`{rule.id}`)"
            for rule in catalogue.CATALOGUE
            if rule.about is about
        ]
    return "\n".join(lines) + "\n"


def rule_page(rule: catalogue.Rule) -> str:
    wording = WORDINGS[rule.id]
    is_in_files = rule.about is catalogue.About.REPOSITORY
    beside = (
        f"Beside the line, or above it: `# instride: ignore[{rule.id}]`. " if is_in_files else ""
    )
    lines = [
        f"# {wording.title}",
        "",
        f"Rule `{rule.id}`, about the {rule.about}. [All rules](../rules.md)",
        "",
        "## Why it matters",
        "",
        wording.why,
        "",
        "## How it is detected",
        "",
        wording.detected,
        "",
        "## How to fix it",
        "",
        _with_gaps(wording.fix),
        "",
        "## How to silence it",
        "",
        f"{beside}For all of a repository, in its `pyproject.toml`:",
        "",
        "```toml",
        "[tool.instride.doctor]",
        f'ignore = ["{rule.id}"]',
        "```",
    ]
    return "\n".join(lines) + "\n"


def _with_gaps(template: str) -> str:
    """A template as people read it: *name* for a fact, `N steps` for a number of something."""
    counted = re.sub(r"\{\w+:[^}|]*\|([^}]*)\}", r"*N* \1", template)
    return re.sub(r"\{(\w+)\}", r"*\1*", counted)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def main() -> int:
    for path, text in pages().items():
        target = HERE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(target.relative_to(HERE.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
