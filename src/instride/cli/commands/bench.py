"""`instride bench`: ways of doing a thing, measured side by side on this machine."""

from __future__ import annotations

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
    MOST_SAVES_OF_A_RIVAL,
    NAMES,
    SAVES_A_ROUND,
    names_on,
)
from instride.cli.benches import answer_options, can_be_stopped, folder_option, give, say
from instride.cli.options import HELP, number_option


@click.group("bench", context_settings=HELP)
def command() -> None:
    """Measure ways of doing a thing side by side, on this machine.

    Benchmarks speak English only.
    """


@command.command("save", context_settings=HELP)
@click.option("--device", type=click.Choice(DEVICES), default="cpu", help="Where to train.")
@number_option(
    "--params",
    DEFAULT_PARAMS,
    "Parameters of the model; each has 12 bytes of state. On a GPU, the nearest GPT.",
)
@number_option("--rounds", DEFAULT_ROUNDS, "Processes for each way.")
@number_option(
    "--saves",
    SAVES_A_ROUND,
    f"Saves of each process; of a rival on a GPU at most {MOST_SAVES_OF_A_RIVAL}.",
    least=2,
)
@click.option(
    "--ways",
    multiple=True,
    type=click.Choice(NAMES),
    metavar="WAY",
    help=f"Only this way of saving, beside `none`: {', '.join(NAMES[1:])}. May be repeated.",
)
@folder_option("four times the state")
@click.option("--no-memory", is_flag=True, help="Do not look how much memory each way takes.")
@click.option("--no-sync", is_flag=True, help="Do not wait for the GPU after every step.")
@click.option(
    "--resume",
    metavar="FILE",
    help="Keep each measurement in FILE as soon as it is made, and take those that are there: the "
    "same command goes on where it was stopped, and other ways become more rows.",
)
@answer_options()
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
    resume: str | None,
    as_json: bool,
    record: str | None,
    picture: str | None,
) -> None:
    """Run the same training once per way of saving, and say what each costs.

    Takes about half an hour; a figure is worth something only if nothing else runs.
    """
    from instride.bench.ordering import Request
    from instride.bench.saving import run
    from instride.cli.render.bench import page_of

    request = Request(
        ways or names_on(device),
        params,
        rounds,
        device,
        folder,
        saves,
        watches_memory=not no_memory,
        is_synced_loop=not no_sync,
        resume=resume,
    )
    with can_be_stopped(resume):
        report = run(request, say)
    if picture is not None:
        from pathlib import Path

        from instride.bench.picture import write_picture

        write_picture(report, Path(picture))
    give(report, page_of, as_json, record)


@command.command("pack", context_settings=HELP)
@click.option(
    "--checkpoints",
    metavar="DIR",
    help="Where trained checkpoints are, or are left for the next time.",
)
@click.option("--steps", default=300, show_default=True, metavar="N", help="Steps to train.")
@number_option(
    "--megabytes",
    200,
    "Repeat the tensors until files are that large; with 0 they are as trained.",
    least=0,
)
@answer_options()
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
    from instride.cli.render.bench_pack import page_of

    with tempfile.TemporaryDirectory(prefix="bench-pack-") as temporary:
        folder = Path(checkpoints or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        answer = bench(folder, megabytes * 10**6, steps)
    give(answer, page_of, as_json, record)


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
@number_option("--megabytes", DEFAULT_MEGABYTES, "Size of the file.")
@number_option(
    "--blocks",
    DEFAULT_BLOCKS,
    "Blocks of work in each row, with a pause before and behind each.",
    least=2,
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="S",
    help="Length of a block.",
)
@folder_option("three times the file")
@answer_options("as Markdown, with a picture")
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
    from instride.cli.render.bench_interference import page_of

    asked = Request(
        Scenario(scenario), rows or RIVALS, megabytes << 20, blocks, seconds, folder=folder
    )
    give(run(asked, say), page_of, as_json, record)
