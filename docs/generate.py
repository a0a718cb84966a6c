"""Write the reference pages that follow from the code: `python docs/generate.py`.

A test runs this and compares, so that the pages cannot go stale.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import msgspec

from instride import errors
from instride.cli.main import cli
from instride.explain import report
from instride.steps.readers import READERS

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """The text of every generated file, by its path under `docs/`."""
    return {
        "reference/explain.schema.json": schema(),
        "reference/dialects.md": dialects(),
        "reference/exit-codes.md": exit_codes(),
        "reference/explain.md": command("explain"),
    }


def schema() -> str:
    """The JSON contract; what fields mean is taken from the docstrings under them."""
    contract = msgspec.json.schema(report.Report)
    for name, fields in _field_docs(report).items():
        properties = contract["$defs"].get(name, {}).get("properties", {})
        for field, text in fields.items():
            properties[field]["description"] = text
    contract["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    contract["title"] = "instride explain --json, schema 1"
    return json.dumps(contract, indent=1, sort_keys=True) + "\n"


def _field_docs(module: Any) -> dict[str, dict[str, str]]:
    """Docstrings that stand under the fields of the structures in a module."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = dict(_documented_fields(node))
    return found


def _documented_fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, doc in pairwise(node.body):
        match field, doc:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)


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
    lines.append("| 0 | the question was answered, whatever the answer | |")
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


def command(name: str) -> str:
    verb = cli.get_command(click.Context(cli), name)
    assert verb is not None
    context = click.Context(verb, info_name=f"instride {name}", terminal_width=80)
    return f"# instride {name}\n\n```text\n{verb.get_help(context)}\n```\n"


def main() -> int:
    for path, text in pages().items():
        target = HERE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(target.relative_to(HERE.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
