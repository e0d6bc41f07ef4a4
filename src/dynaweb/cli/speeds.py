"""What `dynaweb bench` measured, as lines for a terminal."""

from dynaweb.bench.speed.measure import BIG_LINES, SMALL_LINES, ChangeSpeed
from dynaweb.bench.speed.rivals import Rivalry
from dynaweb.bench.speed.run import SpeedReport
from dynaweb.bench.speed.spread import Estimate, Spread


def told(report: SpeedReport) -> list[str]:
    """The report as lines for a terminal."""
    where = report.machine
    said = [
        f"{report.source}; {where['processor']}, {where['cores']} cores, Python {where['python']}, commit {report.commit[:7] or 'unknown'}",
        "processor time of one process; [smallest .. largest] of the repetitions, (95 % interval over pairs)",
        "",
        "reading              MB/s",
    ]
    said += [f"{p.dialect:<20} {_spread(p.mb_per_sec)}" for p in report.parse]
    said += ["", *_changes(report.change), ""]
    said.append(f"growth  {SMALL_LINES} -> {BIG_LINES} lines, ms")
    said += [
        f"{g.what:<7} {_spread(g.small_ms)} -> {_spread(g.big_ms)}, {g.times:.1f} times"
        for g in report.growth
    ]
    if report.rivals:
        said += [
            "",
            "against  pairs  ours ms  theirs ms  times as long          operations: ours, theirs  characters: ours, theirs",
        ]
        said += [_rivalry(r) for r in report.rivals]
    said += [f"{rival}: no pair is small enough for it" for rival in report.left_out]
    return said


def _changes(change: ChangeSpeed) -> list[str]:
    return [
        f"changes  {change.pairs} pairs of {change.characters:.0f} characters (median); exact {change.exact} of {change.pairs}; script {change.script_characters:.0f} characters",
        f"diff     median {_estimate(change.diff_ms)} ms, p90 {_estimate(change.diff_p90_ms)} ms",
        f"apply    median {_estimate(change.apply_ms)} ms, p90 {_estimate(change.apply_p90_ms)} ms",
    ]


def _rivalry(r: Rivalry) -> str:
    theirs = "-" if r.theirs_characters is None else f"{r.theirs_characters:.0f}"
    return (
        f"{r.rival:<8} {r.pairs:>5} {r.ours_ms:>8.1f} {r.theirs_ms:>10.1f}  {_estimate(r.times):<22}"
        f" {r.ours_operations:>12.0f}, {r.theirs_operations:<11.0f} {r.ours_characters:>13.0f}, {theirs}"
    )


def _spread(found: Spread) -> str:
    return f"{found.median:.1f} [{found.low:.1f} .. {found.high:.1f}]"


def _estimate(found: Estimate) -> str:
    return f"{found.value:.1f} ({found.low:.1f} to {found.high:.1f})"
