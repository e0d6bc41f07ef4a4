"""A GSPO run summed up for a person."""

from collections.abc import Sequence
from pathlib import Path

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics, mean_or_none
from dynaweb.cli.alone import counted
from dynaweb.collect.run import FAULTS
from dynaweb.gspo.audit import audits_of
from dynaweb.recipes.gspo_alone import TRAINING, GspoTrained

EDGE = 3
"""Iterations at each end that a mean is taken over."""


def told(trained: GspoTrained, out: Path) -> list[str]:
    """The lines."""
    lines = [_headline(trained, out), ""]
    lines += _table(trained.rows)
    lines += [
        "",
        f"real steps {trained.real_steps}: live groups {trained.result.live_steps}, audits {trained.audit_steps}, first pages {trained.opening_steps}",
    ]
    lines += [_audits(trained)] if trained.gate else []
    lines += [f"gate: {trained.gate}"] if trained.gate else []
    if trained.gate and trained.bars is None:
        lines.append("judge: no bars were measured for it, so the defaults are used")
    if trained.left_out:
        lines.append(f"left out: {counted(dict(trained.left_out))}")
    if unknown := _faults(trained.rows):
        lines.append(f"unknown attempts, out of their groups: {counted(unknown)}")
    if trained.gate:
        lines.append("dreamed rewards are estimates of the judge's, not results")
    lines.append(f"agent {out}, metrics {out / TRAINING / 'metrics.jsonl'}")
    return lines


def _headline(trained: GspoTrained, out: Path) -> str:
    rows, result = trained.rows, trained.result
    groups, taught = _sum(rows, "groups"), _sum(rows, "groups_trained")
    said = f"{out}: {result.iterations} iterations from {trained.starts} starts, {taught:.0f} of {groups:.0f} groups taught"
    flat, few = _sum(rows, "groups_no_variance"), _sum(rows, "groups_too_few")
    said += f" ({flat:.0f} without variance, {few:.0f} too small, {_sum(rows, 'members_unknown'):.0f} attempts unknown)"
    if result.resumed_from is not None:
        said += f"; taken up at {result.resumed_from}"
    if result.stopped_by_audit:
        said += "; stopped by the audit"
    if trained.ranks > 1:
        said += f"; on {trained.ranks} ranks"
    if result.budget_spent:
        said += "; the budget of real steps is spent"
    return said


def _table(rows: Sequence[Metrics]) -> list[str]:
    """By source: how many, what they got in the beginning and in the end, how the ratio was cut."""
    first, last = rows[:EDGE], rows[-EDGE:]
    lines = [
        "source   members  reward first  reward last  advantage  ratio   clipped  nats a token"
    ]
    for source in Source:
        count = _sum(rows, f"{source.value}/members")
        if not count:
            continue
        lines.append(
            f"{source.value:<8} {count:>7.0f}  {_mean(first, source, 'reward'):>12}  {_mean(last, source, 'reward'):>11}"
            f"  {_mean(rows, source, 'advantage'):>9}  {_mean(rows, source, 'ratio_mean'):>5}"
            f"  {_mean(rows, source, 'clip_fraction'):>7}  {_mean(last, source, 'surprise'):>12}"
        )
    if any(r.get("update/ratio_is_one") == 1.0 for r in rows):
        lines.append(
            "every ratio was 1 in some iteration: a single optimiser step a batch never clips"
        )
    return lines


def _faults(rows: Sequence[Metrics]) -> dict[str, int]:
    """Whose fault it was that nobody knows how attempts ended: nobody's zero."""
    found = {
        f"{source.value}, {reason.value}": round(_sum(rows, f"{source.value}/ended_{reason.value}"))
        for source in (Source.DREAM, Source.LIVE)
        for reason in sorted(FAULTS)
    }
    return {name: count for name, count in found.items() if count}


def _audits(trained: GspoTrained) -> str:
    if not trained.audited:
        return "audit: none; nothing says how much of the dreams is true"
    points = audits_of(trained.rows)
    dreamed, real = sum(a.dreamed_success for a in points), sum(a.real_success for a in points)
    n, warned = sum(a.dreams for a in points), sum(a.warned for a in points)
    return f"audit: {dreamed} of {n} dreams were successes, for real {real}; {warned} of {len(points)} audits warned"


def _sum(rows: Sequence[Metrics], name: str) -> float:
    return sum(r.get(name) or 0.0 for r in rows)


def _mean(rows: Sequence[Metrics], source: Source, name: str) -> str:
    known = [v for r in rows if (v := r.get(f"{source.value}/{name}")) is not None]
    mean = mean_or_none(known)
    return "-" if mean is None else f"{mean:.3f}"
