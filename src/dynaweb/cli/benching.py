"""`dynaweb bench`: how fast the parts are on this machine, and whether what is killed or broken goes on."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli import learning_commands
from dynaweb.cli.endings import FAILED, OK
from dynaweb.cli.options import AsJson, Browser, Quiet
from dynaweb.cli.saying import say

bench_app = typer.Typer(
    help="Measure how fast the parts are on this machine, and whether what is killed or broken goes on.",
    no_args_is_help=True,
)


@bench_app.callback()
def _bench() -> None:
    # one command alone would become the app itself
    pass


bench_app.command("learning")(learning_commands.learning_command)
bench_app.command("learning-run", hidden=True)(learning_commands.learning_run_command)


@bench_app.command("pages")
def pages_command(
    source: Annotated[
        Path | None,
        typer.Argument(help="A recording of any known format; made-up pages otherwise."),
    ] = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against",
            help="Beside difflib, apted and zss on the same pairs; pip install 'dynaweb[bench]'.",
        ),
    ] = False,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of a page and the next one.")] = 60,
    every: Annotated[
        int, typer.Option(min=1, help="Of a recording, every so many-th transition.")
    ] = 1,
    lines: Annotated[int, typer.Option(min=40, help="Lines of a made-up page.")] = 280,
    repeats: Annotated[
        int, typer.Option(min=1, help="Times that reading and growth are measured.")
    ] = 5,
    rival_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs that the alternatives get: they are slow.")
    ] = 6,
    min_mb: Annotated[
        float, typer.Option(min=0, help="Reading, MB/s at least; 0 asks nothing.")
    ] = 5.0,
    max_diff_ms: Annotated[
        float, typer.Option(min=0, help="A state change, median in ms at most; 0 asks nothing.")
    ] = 10.0,
    max_growth: Annotated[
        float,
        typer.Option(min=0, help="Times as long for ten times the lines at most; 0 asks nothing."),
    ] = 12.0,
    as_json: AsJson = False,
) -> int:
    """Measure reading pages, making state changes and applying them: speed, growth, alternatives.

    Ends with 1 where a limit is missed or a change is not exact.
    """
    from dynaweb.bench.speed.limits import Limits, missed
    from dynaweb.bench.speed.run import SpeedWish, measure_speed
    from dynaweb.cli.speeds import told
    from dynaweb.dataset.imports.detect import detect
    from dynaweb.dataset.imports.recorded import Provenance
    from dynaweb.dataset.imports.run import read_trajectories
    from dynaweb.dataset.imports.tally import Tally

    wish = SpeedWish(
        lines=lines,
        pairs=pairs,
        every=every,
        repeats=repeats,
        against=against,
        rival_pairs=rival_pairs,
    )
    if source is None:
        report = measure_speed(wish)
    else:
        read = read_trajectories(source, detect(source), Provenance(), Tally())
        report = measure_speed(wish, source.name, read)
    short = missed(
        report, Limits(min_mb_per_sec=min_mb, max_diff_ms=max_diff_ms, max_growth=max_growth)
    )
    if as_json:
        say(json.dumps({**asdict(report), "missed": short}, indent=1))
    else:
        say("\n".join([*told(report), *(f"missed: {line}" for line in short)]))
    return FAILED if short else OK


@bench_app.command("live")
def live_command(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(help="MiniWoB++ tasks that have an expert; evenly chosen ones otherwise."),
    ] = None,
    browsergym: Annotated[
        bool,
        typer.Option(
            "--browsergym",
            help="Beside BrowserGym's own environment, as it comes and tuned by hand, and node by node. Installs it apart at first.",
        ),
    ] = False,
    count: Annotated[int, typer.Option(min=1, help="How many tasks, where none is named.")] = 24,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 2,
    rounds: Annotated[
        int, typer.Option(min=0, help="Of all episodes by one and by two workers; 0 leaves it out.")
    ] = 3,
    browser: Annotated[
        str, typer.Option(help="Path of a Chromium; the first one found by default.")
    ] = "",
    home: Annotated[
        Path | None,
        typer.Option(help="Folder for environments; $XDG_CACHE_HOME/dynaweb/sites by default."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Keeps what is measured. The same command again goes on.")
    ] = Path("runs/live-speed"),
    into: Annotated[
        Path | None,
        typer.Option(metavar="PAGE.md", help="Write the numbers into a page, between its marks."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Measure real pages in a real browser: episodes and steps a second, and where the time goes.

    Ends with 1 where a goal is missed.
    """
    from dynaweb.cli.live_speed import bench_live
    from dynaweb.cli.siting import home_folder

    return bench_live(
        tasks or (), count=count, seeds=seeds, rounds=rounds, browsergym=browsergym,
        executable=browser, home=home_folder(home), out=out, into=into, as_json=as_json, quiet=quiet,
    )  # fmt: skip


@bench_app.command("train")
def train_command(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="Some of update, trl, sampling, memory; all otherwise."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of measurements, in turn.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Of torch, on every side.")] = 1,
    groups: Annotated[int, typer.Option(min=1, help="Groups of 8 attempts in an update.")] = 8,
    token_budget: Annotated[int, typer.Option(min=1, help="Positions of a forward pass.")] = 8192,
    prompt: Annotated[int, typer.Option(min=1, help="Tokens of the sampled prompt.")] = 512,
    trl_python: Annotated[
        str,
        typer.Option(
            help="Interpreter that has TRL; this one otherwise, pip install 'dynaweb[parity]'."
        ),
    ] = "",
    out: Annotated[
        Path, typer.Option(help="What is measured is kept here. The same command again goes on.")
    ] = Path("runs/bench-train"),
    page: Annotated[
        Path | None, typer.Option(help="Markdown page whose numbers are replaced.")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure an update beside bare passes and TRL, sampling beside transformers, and peak memory."""
    from dynaweb.bench.training.wish import TrainWish
    from dynaweb.cli.training_speeds import lines, measure

    wish = TrainWish(
        repeats=repeats,
        threads=threads,
        groups=groups,
        token_budget=token_budget,
        sample_prompt=prompt,
    )
    report = measure(wish, parts or [], out, trl_python, page, quiet)
    say(json.dumps(asdict(report), indent=1) if as_json else "\n".join(lines(report)))


@bench_app.command("resume")
def resume_command(
    out: Annotated[
        Path, typer.Option(help="Folder of its own. The same command again goes on.")
    ] = Path("runs/resume"),
    size: Annotated[str, typer.Option(help="Recipe whose training is killed: smoke or demo.")] = (
        "smoke"
    ),
    kills: Annotated[int, typer.Option(min=1, help="SIGKILLs in all.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the recipe."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Kill training in dreams at random moments, run it again until it is done, and compare it bit by bit."""
    from dynaweb.cli.killing import measure_resume

    return measure_resume(
        out, size, settings or [], kills=kills, seed=seed, as_json=as_json, quiet=quiet
    )


@bench_app.command("faults")
def faults_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which faults (`--list` has them); all by default.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the faults and end.")] = False,
    deadline: Annotated[
        float, typer.Option(min=1.0, help="Seconds that a reset or step may take.")
    ] = 5.0,
    browser: Browser = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Do to the browser what pages and machines do to it, and see whether the next episode is none the worse."""
    from dynaweb.cli.faulting import list_faults, measure_faults

    if list_:
        list_faults()
        return OK
    return measure_faults(names or [], deadline, browser, as_json=as_json, quiet=quiet)


@bench_app.command("soak")
def soak_command(
    episodes: Annotated[int, typer.Option(min=1, help="Episodes; at least 200.")] = 500,
    workers: Annotated[int, typer.Option(min=1, help="Episodes side by side.")] = 1,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task with an expert; may be repeated, and they take turns."),
    ] = None,
    browser: Browser = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Run many real episodes in one browser, and see whether memory, descriptors or processes grow."""
    from dynaweb.cli.faulting import measure_soak

    tasks = task or ["click-test", "enter-text", "click-checkboxes"]
    return measure_soak(episodes, workers, tasks, browser, as_json=as_json, quiet=quiet)


@bench_app.command("dreams", hidden=True)
def dreams_command(
    out: Annotated[Path, typer.Option(help="Run folder.")],
    size: Annotated[str, typer.Option(help="smoke or demo.")] = "smoke",
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    quiet: Quiet = False,
) -> None:
    """A recipe up to its dreams: what `bench resume` kills."""
    from dynaweb.cli.drawing import drawing
    from dynaweb.cli.train import chosen
    from dynaweb.recipes.whole import run_to_dreams

    config = chosen(size, ("smoke", "demo"), None, settings or [])
    with drawing(quiet=quiet) as progress:
        run_to_dreams(config, out, progress, tuple(sys.argv))
