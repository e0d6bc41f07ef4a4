"""Parts of the page: what a model must not do, dreams replayed for real, and what everything costs."""

from collections.abc import Sequence

from dynaweb.bench.results import DepthRow, ReplayReport, Share
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import note, section, table
from dynaweb.report.shares import rate_of, share_interval, share_words
from dynaweb.report.words import NONE, number
from dynaweb.report.worlds.data import ModelReport, WorldsReport


def guards_section(report: WorldsReport) -> Html:
    """Actions that cannot work, other goals, judges."""
    intro = (
        "Actions that cannot work must leave the page as it is; the same step under another goal must come out the same. The "
        "gate in front of every model answers most of the first without asking it."
    )
    blocked: list[Sequence[Child]] = [
        [
            m.name,
            row.kind.replace("_", " "),
            _counted(row.invented),
            _counted(row.explained),
            _counted(row.asked),
        ]
        for m in report.models
        for row in m.blocked
    ]
    swaps: list[Sequence[Child]] = [_swap_row(m) for m in report.models]
    judged = [_judged(m) for m in report.models if m.judged is not None]
    return section(
        "guards",
        "Guards",
        intro,
        table(
            [
                "model",
                "why it cannot work",
                "something happened",
                "says why not",
                "model was asked",
            ],
            blocked,
            caption="Made-up actions that cannot work",
        )
        if blocked
        else None,
        table(
            ["model", "told the goal", "answers differ", "differ towards the goal"],
            swaps,
            caption="The same step under another goal",
        ),
        judged,
    )


def _counted(share: Share) -> str:
    return f"{share_words(share)}, {share_interval(rate_of(share))}" if share.n else NONE


def _swap_row(model: ModelReport) -> Sequence[Child]:
    swaps = model.swaps
    if swaps is None or not swaps.shown:
        return [model.name, "no", NONE, NONE]
    return [model.name, "yes", _counted(swaps.differs), _counted(swaps.toward)]


def _judged(model: ModelReport) -> Html:
    judged = model.judged
    assert judged is not None
    unknown = ", ".join(f"{n} {why}" for why, n in judged.unknown.items()) or "none"
    return note(
        f"{model.name}: {judged.judged} replaced pages judged by ",
        tag("code", judged.judge),
        f"; without a verdict: {unknown}.",
    )


def replay_section(report: WorldsReport) -> Html:
    """Dreamed actions done again in the real browser."""
    intro = (
        "An erring expert acts in the imagined pages, and chance on every second of them; the actions are then done in the real "
        "browser from the same first page. A page counts as equal at a depth only if it shows what the real one shows there, "
        "and a dream that ended earlier than the real episode, or later, is wrong where they part."
    )
    found = [(m.name, m.replay) for m in report.models if m.replay is not None]
    if not found:
        return section(
            "replay", "Replay", intro, tag("p", "Not asked for: ", tag("code", "--replay"), ".")
        )
    return section("replay", "Replay", intro, [_replay(name, r) for name, r in found])


def _replay(name: str, replay: ReplayReport) -> Child:
    rows = [_depth(row) for row in replay.rows if row.pages_equal.n]
    return [
        table(
            ["depth", "page equal", "ending equal"],
            rows,
            caption=f"{name}: {replay.dreams} dreams",
        ),
        note(
            f"Elements of an action not on the real page: {share_words(replay.unmapped)}; broken off by the browser: {replay.broken}."
        ),
    ]


def _depth(row: DepthRow) -> Sequence[Child]:
    return [str(row.depth), _counted(row.pages_equal), _counted(row.endings_equal)]


def costs_section(report: WorldsReport) -> Html:
    """Length of changes, what was left out, and what training shares."""
    intro = "A change against the whole next page, in rough tokens (words, signs and blanks); and what the numbers rest on."
    costs: list[Sequence[Child]] = [
        [
            kind.replace("_", " "),
            c.count,
            number(c.median_ratio),
            number(c.delta_tokens / max(c.page_tokens, 1)),
        ]
        for kind, c in report.costs.items()
    ]
    left_out: list[Sequence[Child]] = [[why, n] for why, n in report.dropped.items()]
    return section(
        "costs",
        "Cost and data",
        intro,
        table(
            ["kind of change", "n", "change / page, median", "change / page, all"],
            costs,
            numeric=(1, 2, 3),
            caption="Tokens of a change against those of the next page",
        ),
        _overlap(report),
        table(["left out", "count"], left_out, numeric=(1,), caption="Left out")
        if left_out
        else None,
        note(
            "Models: ",
            [
                [tag("code", f"{m.name} = {m.version}, {m.checksum[:16]}"), " "]
                for m in report.models
            ],
        ),
    )


def _overlap(report: WorldsReport) -> Html:
    shared = report.overlap
    if shared is None:
        return note(
            "No training files were given, so nothing is known of what the models have seen."
        )
    return note(
        f"No attempt and no (task, seed) stands in the training files. Tasks there on other seeds: {share_words(shared.tasks)}; "
        f"same page: {share_words(shared.pages)}; same page and action: {share_words(shared.questions)}; same step: {share_words(shared.steps)}."
    )
