"""`instride bench`: ways of doing a thing, measured side by side on this machine."""

from __future__ import annotations

import sys

import click

from instride.bench.interference.names import (
    DEFAULT_BLOCKS,
    DEFAULT_MEGABYTES,
    DEFAULT_SECONDS,
    Scenario,
)
from instride.bench.interference.names import NAMES as RIVALS
from instride.bench.names import (
    DEFAULT_PARAMS,
    DEFAULT_ROUNDS,
    DEVICES,
    NAMES,
    SAVES_A_ROUND,
    names_on,
)

HELP = {"help_option_names": ["-h", "--help"]}


@click.group("bench", context_settings=HELP)
def command() -> None:
    """Measure ways of doing a thing side by side, on this machine.

    Benchmarks speak English only.
    """


@command.command("save", context_settings=HELP)
@click.option("--device", type=click.Choice(DEVICES), default="cpu", help="Where to train.")
@click.option(
    "--params",
    type=click.IntRange(min=1),
    default=DEFAULT_PARAMS,
    show_default=True,
    metavar="N",
    help="Parameters of the model; each has 12 bytes of state. On a GPU, the nearest GPT.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=DEFAULT_ROUNDS,
    show_default=True,
    metavar="N",
    help="Processes for each way.",
)
@click.option(
    "--saves",
    type=click.IntRange(min=2),
    default=SAVES_A_ROUND,
    show_default=True,
    metavar="N",
    help="Saves of each process.",
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
@click.option("--no-memory", is_flag=True, help="Do not look how much memory each way takes.")
@click.option("--no-sync", is_flag=True, help="Do not wait for the GPU after every step.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@click.option("--record", metavar="FILE", help="Also write the answer down, as Markdown.")
@click.option("--picture", metavar="FILE", help="Also draw the steps around a save, as SVG.")
def save(
    device: str,
    params: int,
    rounds: int,
    saves: int,
    ways: tuple[str, ...],
    folder: str,
    no_memory: bool,
    no_sync: bool,
    as_json: bool,
    record: str | None,
    picture: str | None,
) -> None:
    """Run the same training once per way of saving, and say what each costs.

    Takes about ten minutes; a figure is worth something only if nothing else runs.
    """
    from instride.bench.saving import Request, run

    request = Request(
        ways or names_on(device),
        params,
        rounds,
        device,
        folder,
        saves,
        watches_memory=not no_memory,
        is_synced_loop=not no_sync,
    )
    report = run(request, _say)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(report)
    else:
        from instride.cli.render.bench import print_report

        print_report(report)
    if picture is not None:
        from pathlib import Path

        from instride.bench.picture import write_picture

        write_picture(report, Path(picture))
    if record is not None:
        import datetime

        from instride.cli.render.bench import write_record

        write_record(report, record, _asked(), datetime.date.today())


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
    default=200,
    show_default=True,
    metavar="N",
    help="Repeat the tensors until files are that large; with 0 they are as trained.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@click.option("--record", metavar="FILE", help="Also write the answer down, as Markdown.")
def pack(
    checkpoints: str | None, steps: int, megabytes: int, as_json: bool, record: str | None
) -> None:
    """Train a small GPT, pack its checkpoints, and say what other ways make of them.

    Takes some five minutes. Ratios are those of any machine; speeds are worth something only if
    nothing else runs.
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
    if record is not None:
        import datetime

        from instride.cli.render.bench_pack import write_record

        write_record(answer, record, _asked(), datetime.date.today())


def _asked() -> str:
    """The command as it was typed."""
    import shlex

    return shlex.join(["instride", *sys.argv[1:]])


@command.command("interference", context_settings=HELP)
@click.option(
    "--scenario",
    type=click.Choice([each.value for each in Scenario]),
    default=Scenario.CPU.value,
    show_default=True,
    help="What the training needs most.",
)
@click.option(
    "--rows",
    multiple=True,
    type=click.Choice(RIVALS),
    metavar="ROW",
    help=f"Only this row: {', '.join(f'`{name}`' for name in RIVALS)}. May be repeated.",
)
@click.option(
    "--megabytes",
    type=click.IntRange(min=1),
    default=DEFAULT_MEGABYTES,
    show_default=True,
    metavar="N",
    help="Size of the file.",
)
@click.option(
    "--blocks",
    type=click.IntRange(min=2),
    default=DEFAULT_BLOCKS,
    show_default=True,
    metavar="N",
    help="Blocks of work in each row, with a pause before and behind each.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="S",
    help="Length of a block.",
)
@click.option(
    "--folder",
    default=".",
    metavar="DIR",
    help="Where to write, and delete again, three times the file; here by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON (schema 1).")
@click.option(
    "--record", metavar="FILE", help="Also write the answer down, as Markdown, with a picture."
)
def interference(
    scenario: str,
    rows: tuple[str, ...],
    megabytes: int,
    blocks: int,
    seconds: float,
    folder: str,
    as_json: bool,
    record: str | None,
) -> None:
    """Compress a file beside a training in several ways, and say what its steps feel of each.

    Takes about eight minutes; a figure is worth something only if nothing else runs.
    """
    from instride.bench.interference.measuring import Request, run

    asked = Request(
        Scenario(scenario), rows or RIVALS, megabytes << 20, blocks, seconds, folder=folder
    )
    report = run(asked, _say)
    if as_json:
        from instride.cli.render.json import print_json

        print_json(report)
    else:
        from instride.cli.render.bench_interference import print_report

        print_report(report)
    if record is not None:
        import datetime
        import shlex

        from instride.cli.render.bench_interference import write_record

        words = shlex.join(["instride", *sys.argv[1:]])
        write_record(report, record, words, datetime.date.today())


def _say(text: str) -> None:
    """Where somebody watches, say how far it is."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
