"""`instride bench`: ways of doing a thing, measured side by side on this machine."""

from __future__ import annotations

import sys

import click

from instride.bench.names import DEFAULT_PARAMS, DEFAULT_ROUNDS, NAMES

HELP = {"help_option_names": ["-h", "--help"]}


@click.group("bench", context_settings=HELP)
def command() -> None:
    """Measure ways of doing a thing side by side, on this machine.

    Benchmarks speak English only.
    """


@command.command("save", context_settings=HELP)
@click.option("--device", type=click.Choice(["cpu"]), default="cpu", help="Where to train.")
@click.option(
    "--params",
    type=click.IntRange(min=1),
    default=DEFAULT_PARAMS,
    show_default=True,
    metavar="N",
    help="Parameters of the model; each has 12 bytes of state.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=DEFAULT_ROUNDS,
    show_default=True,
    metavar="N",
    help="Processes for each way, with 3 saves each.",
)
@click.option(
    "--ways",
    multiple=True,
    type=click.Choice(NAMES),
    metavar="WAY",
    help=f"Only this way of saving, beside `none`: {', '.join(NAMES[1:])}. May be repeated.",
)
@click.option(
    "--folder",
    default=".",
    metavar="DIR",
    help="Where to write, and delete again, four times the state; here by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@click.option("--record", metavar="FILE", help="Also write the answer down, as Markdown.")
def save(
    device: str,
    params: int,
    rounds: int,
    ways: tuple[str, ...],
    folder: str,
    as_json: bool,
    record: str | None,
) -> None:
    """Run the same training once per way of saving, and say what each costs.

    Takes about ten minutes; a figure is worth something only if nothing else runs.
    """
    from instride.bench.saving import Request, run

    report = run(Request(ways or NAMES, params, rounds, device, folder), _say)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(report)
    else:
        from instride.cli.render.bench import print_report

        print_report(report)
    if record is not None:
        import datetime
        import shlex

        from instride.cli.render.bench import write_record

        asked = shlex.join(["instride", *sys.argv[1:]])
        write_record(report, record, asked, datetime.date.today())


@command.command("pack", context_settings=HELP)
@click.option(
    "--checkpoints",
    metavar="DIR",
    help="Where trained checkpoints are, or are left for the next time.",
)
@click.option("--steps", default=300, show_default=True, metavar="N", help="Steps to train.")
@click.option(
    "--megabytes",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Repeat the tensors until files are that large; by default they are as trained.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
def pack(checkpoints: str | None, steps: int, megabytes: int, as_json: bool) -> None:
    """Train a small GPT, pack its checkpoints, and say what other ways make of them.

    Ratios are those of any machine; speeds are worth something only if nothing else runs.
    """
    import tempfile
    from pathlib import Path

    from instride.bench.packing import bench

    with tempfile.TemporaryDirectory(prefix="bench-pack-") as temporary:
        folder = Path(checkpoints or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        answer = bench(folder, megabytes * 10**6, steps)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(answer)
    else:
        from instride.cli.render.bench_pack import print_bench

        print_bench(answer)


def _say(text: str) -> None:
    """Where somebody watches, say how far it is."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
