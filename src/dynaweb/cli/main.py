"""`dynaweb`: the commands and their flags. Light to import: what a command needs, it imports when it runs."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli import (
    agents,
    benching,
    converting,
    crawling,
    doctor,
    endings,
    exchange,
    gspo,
    inspecting,
    safeties,
    serving,
    siting,
    visiting,
    worlds,
)
from dynaweb.cli.options import AsJson, Browser, Quiet
from dynaweb.errors import UserError

app = typer.Typer(
    name="dynaweb",
    help="Train web agents by letting them dream: a learned web server, GSPO inside it, and an honest report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    suggest_commands=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting; `dynaweb settings` lists them. May be repeated.",
    ),
]
Size = Annotated[str, typer.Option(help="smoke (under 3 minutes) or demo (under 20).")]
Seed = Annotated[int | None, typer.Option(help="Seed of the whole run.")]


@app.callback(invoke_without_command=True)
def _everywhere(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks and the log. May stand anywhere.")
    ] = False,
) -> None:
    # `main` takes --debug out of the arguments; here it is only for --help
    if show_version and context.invoked_subcommand is None:
        version()
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option(help="Run folder. The same command again goes on where it stopped.")
    ] = Path("runs/demo"),
    size: Size = "demo",
    seed: Seed = None,
    settings: Set = None,
    quiet: Quiet = False,
) -> None:
    """Watch an agent get better at real pages by dreaming: the whole loop, then a report."""
    from dynaweb.cli.train import run_recipe

    run_recipe(size, out, seed, settings or [], quiet=quiet, command=tuple(sys.argv))


@app.command()
def study(
    out: Annotated[
        Path, typer.Option(help="Run folder. The same command again goes on where it stopped.")
    ] = Path("runs/study"),
    seed: Seed = None,
    settings: Set = None,
    quiet: Quiet = False,
) -> None:
    """The proof: DynaWeb against its controls, on the same unseen pages, with intervals."""
    from dynaweb.cli.train import run_recipe

    run_recipe("study", out, seed, settings or [], quiet=quiet, command=tuple(sys.argv))


@app.command()
def settings(
    size: Annotated[str, typer.Option(help="smoke, demo, study or fidelity.")] = "demo",
    assignments: Set = None,
    as_json: AsJson = False,
) -> None:
    """List every setting of a run: its name, its value and what it means."""
    from dynaweb.cli.train import show_settings

    show_settings(size, assignments or [], as_json=as_json)


@app.command()
def tasks(
    experts: Annotated[
        bool, typer.Option("--experts", help="Only those that have a scripted expert.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the MiniWoB++ tasks, and which of them have a scripted expert."""
    from dynaweb.cli.episodes import list_tasks

    list_tasks(experts=experts, as_json=as_json)


@app.command()
def collect(
    task: Annotated[
        list[str],
        typer.Argument(
            help="Names of tasks (`dynaweb tasks` lists them), or places on a site: shop:/catalogue/, anna@forum:/."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="JSON lines file of trajectories; what is in it is not made again.")
    ],
    policy: Annotated[
        str, typer.Option(help="expert, noisy (an expert that errs) or random.")
    ] = "expert",
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="Page seed of the first one.")] = 0,
    max_steps: Annotated[int, typer.Option(min=1, help="Actions an episode may take.")] = 10,
    noise: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="For noisy: share of attempts that misread the goal, and of steps that slip in the others.",
        ),
    ] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the policy's own choices.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Episodes side by side.")] = 4,
    max_failures: Annotated[
        int,
        typer.Option(
            min=0, help="Episodes that may break (not: be lost) before the exit code is 3."
        ),
    ] = 0,
    browser: Browser = "",
    home: siting.Home = None,
    checkout: Annotated[
        Path | None,
        typer.Option(help="For tasks infinity:APP/TASK: a checkout of webarena-infinity."),
    ] = None,
    trust_checkout: Annotated[
        bool,
        typer.Option(
            "--trust-checkout", help="Its servers and verifiers, Python programs, may run."
        ),
    ] = False,
    verifier_python: Annotated[
        str,
        typer.Option(help="Python for its verifiers (they need `requests`); this one by default."),
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Collect trajectories in the real browser."""
    from dynaweb.cli.episodes import Wish, collect_tasks
    from dynaweb.cli.site_episodes import Places

    places = Places(
        home=siting.home_folder(home), checkout=checkout, trusted=trust_checkout, python=verifier_python
    )  # fmt: skip
    wish = Wish(
        tasks=tuple(task), out=out, policy=policy, episodes=episodes, first_seed=first_seed, max_steps=max_steps,
        noise=noise, seed=seed, workers=workers, max_failures=max_failures, browser=browser, places=places,
    )  # fmt: skip
    collect_tasks(wish, quiet=quiet)


@app.command()
def show(
    file: Annotated[
        Path, typer.Argument(help="Trajectories of any known format (`dynaweb import`).")
    ],
    index: Annotated[
        int, typer.Option("--index", "-i", help="Which one; negative counts from the end.")
    ] = 0,
) -> None:
    """Print a trajectory step by step: page, thought, action, what came of it."""
    from dynaweb.cli.showing import show_trajectory

    show_trajectory(file, index)


@app.command()
def compare(
    treatment: Annotated[Path, typer.Argument(help="JSON lines file of real trajectories.")],
    control: Annotated[Path, typer.Argument(help="Another, of the same tasks and seeds.")],
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two sets of episodes pairwise on the same pages: difference, interval, exact test."""
    from dynaweb.cli.showing import compare_files

    compare_files(treatment, control, seed, as_json=as_json)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[
        Path | None, typer.Option(help="HTML file; report.html in the run folder otherwise.")
    ] = None,
) -> None:
    """Make a run's report anew: one HTML file that needs nothing else."""
    from dynaweb.cli.showing import make_report

    make_report(run, out)


@app.command()
def pages(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
) -> None:
    """Serve the MiniWoB++ pages on this machine, to look at them, until Ctrl-C."""
    from dynaweb.cli.episodes import serve_pages

    serve_pages(port)


@app.command()
def version() -> None:
    """Print the version."""
    from importlib import metadata

    try:
        print(metadata.version("dynaweb"))
    except metadata.PackageNotFoundError:
        raise UserError(
            "dynaweb runs from a folder that was not installed: pip install -e ."
        ) from None


benching.bench_app.command("egress")(safeties.egress_command)
benching.bench_app.command("injection")(safeties.injection_command)
app.add_typer(benching.bench_app, name="bench")
app.add_typer(worlds.world_app, name="world")
app.add_typer(serving.serve_app, name="serve")
app.add_typer(siting.sites_app, name="sites")
app.add_typer(agents.agent_app, name="agent")
app.add_typer(gspo.gspo_app, name="gspo")
app.command("crawl")(crawling.crawl_command)
benching.bench_app.command("kills")(crawling.kills_command)
app.command("doctor")(doctor.doctor_command)
app.command("inspect")(inspecting.inspect_command)
app.command("convert")(converting.convert_command)
app.command("import")(exchange.import_command)
app.command("export")(exchange.export_command)
app.command("changes")(exchange.changes_command)
app.command("visit")(visiting.visit_command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    rest = [word for word in given if word != "--debug"]
    level = logging.INFO if debug else logging.ERROR
    logging.basicConfig(level=level, format="%(name)s: %(message)s", stream=sys.stderr)
    if (
        not debug
    ):  # untrue dreams and updates taken back must be seen while a run can still be stopped
        logging.getLogger("dynaweb.gspo").setLevel(logging.WARNING)
        logging.getLogger("dynaweb.browser.sandbox").setLevel(logging.WARNING)
    return endings.run(lambda: app(rest, prog_name="dynaweb", standalone_mode=False), debug=debug)


if __name__ == "__main__":
    sys.exit(main())
