"""`dynaweb import` and `dynaweb export`: trajectories from other tools' files, and into them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson
from dynaweb.cli.saying import say
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.tally import Tally, told
from dynaweb.records.trajectory import Behaviour

License = Annotated[
    str,
    typer.Option(
        help="Licence of the pages (SPDX name), where the file does not say; export refuses pages without one."
    ),
]


def import_command(
    sources: Annotated[list[Path], typer.Argument(help="Files of any known format.")],
    out: Annotated[Path, typer.Option(help="JSON lines file of trajectories to write.")],
    format: Annotated[
        Format | None, typer.Option(help="Whose files they are; told from each file otherwise.")
    ] = None,
    license: License = "",
    origin: Annotated[
        str, typer.Option(help="Public name of the source, for cards and reports.")
    ] = "",
    behaviour: Annotated[
        Behaviour | None,
        typer.Option(help="Who chose the actions; what the format says otherwise."),
    ] = None,
    policy: Annotated[str, typer.Option(help="Name of the policy that chose them.")] = "",
    skip_damaged: Annotated[
        bool,
        typer.Option(
            "--skip-damaged",
            help="Go on past a damaged line; without, what stands before it is kept.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read other tools' trajectory files; say what was kept, what is odd and what was left out."""
    from dynaweb.dataset.imports.recorded import Provenance
    from dynaweb.dataset.imports.run import ImportWish, import_files

    wish = ImportWish(
        sources=tuple(sources),
        out=out,
        format=format,
        known=Provenance(license=license, origin=origin, policy=policy, behaviour=behaviour),
        skip_damaged=skip_damaged,
    )
    tally = import_files(wish)
    _tell(
        f"{out}: {tally.trajectories} trajectories, {tally.steps} steps, {tally.transitions} transitions from {tally.rows} rows",
        tally,
        as_json=as_json,
    )


def export_command(
    source: Annotated[Path, typer.Argument(help="JSON lines file of trajectories.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must be empty.")],
    format: Annotated[
        ExportFormat, typer.Option(help="Which tool's format.")
    ] = ExportFormat.TRL_MESSAGES,
    license: License = "",
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Chat formats: replies begin with what was thought.")
    ] = False,
    failures: Annotated[
        bool, typer.Option("--failures", help="Chat formats: steps of attempts that failed too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write trajectories as TRL, LlamaFactory and other tools read them."""
    from dynaweb.dataset.exports.run import ExportWish, export
    from dynaweb.dataset.imports.own import read_own
    from dynaweb.dataset.imports.recorded import Provenance

    read = Tally()
    wish = ExportWish(out=out, format=format, license=license, thoughts=thoughts, failures=failures)
    written = export(read_own(source, Provenance(), read), wish)
    written.dropped.update(read.dropped)
    written.first.update(read.first)
    _tell(
        f"{out}: {written.steps} steps of {written.trajectories} trajectories, of {written.rows} read",
        written,
        as_json=as_json,
    )


def _tell(headline: str, tally: Tally, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(tally), indent=1))
        return
    say(headline)
    _tell_counts(tally)


def _tell_counts(tally: Tally) -> None:
    for title, counts in (("kept, but odd:", tally.noted), ("left out:", tally.dropped)):
        if counts:
            say("\n".join((title, *told(counts, tally.first))))


def changes_command(
    source: Annotated[
        Path, typer.Argument(help="Trajectories of any known format (`dynaweb import`).")
    ],
    as_json: AsJson = False,
) -> None:
    """Measure state changes on real transitions: exact or not, and their length by kind."""
    from dynaweb.cli.drawing import drawing_on_terminal
    from dynaweb.cli.reading import watched
    from dynaweb.dataset.changes import measure_changes
    from dynaweb.dataset.imports.detect import detect
    from dynaweb.dataset.imports.recorded import Provenance
    from dynaweb.dataset.imports.run import read_trajectories
    from dynaweb.errors import UserError

    tally = Tally()
    read = read_trajectories(source, detect(source), Provenance(), tally)
    with drawing_on_terminal() as progress:
        report = measure_changes(watched(read, source, tally, progress))
    if not report.transitions:
        why = "".join(f"; left out: {line.strip()}" for line in told(tally.dropped, tally.first))
        raise UserError(
            f"{str(source)!r} holds no transition: a page, an action and the next page{why}"
        )
    if as_json:
        left = {"odd": tally.noted, "left_out": tally.dropped, "first": tally.first}
        print(json.dumps({**asdict(report), **left}, indent=1))
        return
    n = report.transitions
    print(f"{n} transitions; diff takes {report.diff_ms:.1f} ms at the median")
    for words, count in (
        ("exact, byte for byte", report.exact),
        ("read back from the compact form", report.reparsed),
        ("the next page up to its numbers, without renumbering", report.learned),
        ("next pages with an id that stands twice", report.repeats),
    ):
        print(f"{count:>7} ({count / n:.2%})  {words}")
    print("kind        transitions  median of change/page  all change/page tokens")
    for kind, cost in report.kinds.items():
        print(
            f"{kind.value:<11} {cost.count:>11} {cost.median_ratio:>22.3f}  {cost.delta_tokens / max(cost.page_tokens, 1):.3f}"
        )
    for where in report.failed:
        say(f"not exact: {where}")
    _tell_counts(tally)
