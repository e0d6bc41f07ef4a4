"""What `dynaweb bench live` measured: lines for a terminal, and a section for a page of the docs."""

from collections.abc import Iterator

from dynaweb.bench.live.results import LiveReport, Sight
from dynaweb.bench.speed.spread import Estimate, Spread

BEGIN, END = "<!-- dynaweb bench live: begin -->", "<!-- dynaweb bench live: end -->"
MAX_KINDS = 12
"""Kinds of difference on a terminal; the page and --json have all."""


def told(report: LiveReport) -> list[str]:
    """The report as lines for a terminal."""
    said = [_where(report), "(95 % interval over tasks); [smallest .. largest] over rounds", ""]
    said.append(
        "arm                episodes/s              steps/s               reset ms              n"
    )
    for a in report.arms:
        n = f"{a.episodes} episodes, {a.steps} steps, {a.blocks} tasks" + (
            f"; {a.diverged} did not end as fixed" if a.diverged else ""
        )
        said.append(
            f"{a.arm:<18} {_estimate(a.episodes_per_sec, 2):<23} {_estimate(a.steps_per_sec, 1):<21} {_estimate(a.reset_ms, 0):<21} {n}"
        )
    said += [
        "",
        "one of our episodes, ms: " + ", ".join(f"{k} {v:.0f}" for k, v in report.parts_ms.items()),
    ]
    said += [
        f"{_estimate(x.times, 1)} times as many episodes a second as {x.rival}, goal {x.goal:g}; median of {x.blocks} tasks {_estimate(x.median_times, 1)}"
        for x in report.against
    ]
    if report.gain is not None:
        g = report.gain
        said.append(f"{g.workers} workers: {_spread(g.times)} times one, goal {g.goal:g}, {g.times.n} rounds; episodes/s {_spread(g.one_episodes_per_sec)} and {_spread(g.more_episodes_per_sec)}")  # fmt: skip
    if report.sight is not None:
        said += ["", _sight_line(report.sight)]
        kinds = report.sight.differences
        said += [f"{d.count:>6}  {d.kind}  ({d.example})" for d in kinds[:MAX_KINDS]]
        if len(kinds) > MAX_KINDS:
            said.append(f"        and {len(kinds) - MAX_KINDS} kinds more: --json has them")
    return [*said, *(f"left out: {line}" for line in report.left_out)]


def missed(report: LiveReport) -> list[str]:
    """Goals that were not reached, one line each."""
    found = [
        f"{x.rival}: {x.times.value:.1f} times, at least {x.goal:g} wanted"
        for x in report.against
        if x.times.value < x.goal
    ]
    g = report.gain
    if g is not None and g.times.median < g.goal:
        found.append(f"{g.workers} workers: {g.times.median:.2f} times, at least {g.goal:g} wanted")
    return found


def section(report: LiveReport, command: str) -> Iterator[str]:
    """The report as lines of a Markdown page."""
    yield f"Measured with `{command}`: {_where(report)}."
    yield ""
    yield "| arm | episodes/s | steps/s | reset, ms (median) | episodes, steps, tasks |"
    yield "|---|---|---|---|---|"
    for a in report.arms:
        yield f"| {a.arm} | {_estimate(a.episodes_per_sec, 2)} | {_estimate(a.steps_per_sec, 1)} | {_estimate(a.reset_ms, 0)} | {a.episodes}, {a.steps}, {a.blocks} |"
    yield ""
    if report.against or report.gain is not None:
        yield "| times as many episodes/s | 95 % interval, or smallest to largest | goal |"
        yield "|---|---|---|"
    for x in report.against:
        yield f"| one worker beside {x.rival}, n = {x.blocks} tasks | {_estimate(x.times, 1)} | {x.goal:g} |"
    if report.gain is not None:
        g = report.gain
        yield f"| {g.workers} workers beside one, n = {g.times.n} rounds | {_spread(g.times)} | {g.goal:g} |"
    yield ""
    yield "One of our episodes, ms: " + ", ".join(f"{k} {v:.0f}" for k, v in report.parts_ms.items()) + "."  # fmt: skip
    if report.sight is not None:
        yield ""
        yield _sight_line(report.sight) + ". Differences:"
        yield ""
        yield "| count | kind | first example: theirs / ours |"
        yield "|---|---|---|"
        for d in report.sight.differences:
            example = d.example.replace("|", "\\|")
            yield f"| {d.count} | {d.kind} | `{example}` |"
    if report.left_out:
        yield ""
        yield f"Left out, {len(report.left_out)}: " + "; ".join(report.left_out) + "."


def _where(report: LiveReport) -> str:
    at = report.machine
    return (
        f"{at['processor']}, {at['cores']} cores, Python {at['python']}, Playwright {report.versions.get('playwright', '?')}, "
        f"{report.browser}, commit {report.commit[:7] or 'unknown'}"
    )


def _sight_line(s: Sight) -> str:
    return (
        f"of {s.elements} elements with a BrowserGym bid on {s.pages} pages, {s.same} stand in our observation with the same role and name "
        f"(of {s.controls} controls {s.controls_same})"
    )


def _estimate(found: Estimate, digits: int) -> str:
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def _spread(found: Spread) -> str:
    return f"{found.median:.2f} [{found.low:.2f} .. {found.high:.2f}]"
