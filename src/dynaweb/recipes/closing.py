"""The last stage: what only the recipe knows, and the report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from dynaweb.bench.results import FidelityReport, JudgeReport, ReplayReport
from dynaweb.evaluate.results import RESULTS_FILE, EvaluationResults
from dynaweb.evaluate.statistics import Rate, wilson
from dynaweb.gspo.audit import AuditPoint
from dynaweb.recipes.config import EVALUATION_SEEDS_FROM, EvaluationConfig
from dynaweb.recipes.controls import OWN
from dynaweb.recipes.proof import DYNAWEB, arms_in_words
from dynaweb.recipes.stage import Run
from dynaweb.recipes.worldly import FIDELITY, JUDGE
from dynaweb.records.trajectory import Outcome, Trajectory
from dynaweb.report.data import DataRow, DreamedSuccess, Drop, Speed, StageTime, Summary
from dynaweb.report.load import write_report
from dynaweb.runs.jsonfile import decode, read_record, write_record

REPORT = "report.html"
WANTED_FIDELITY = 0.85
WANTED_FALSE_POSITIVES = 0.10
WANTED_FAILURES = 200
PROOF_EPISODES = 20


def close(run: Run, data: Sequence[Trajectory]) -> Path:
    """Write the summary and the report; cheap, so it is made anew every time."""
    folder = run.path("summary")
    folder.mkdir(exist_ok=True)
    write_record(folder / "summary.json", summary(run, data))
    out = run.folder.path / REPORT
    write_report(run.folder.path, out)
    return out


def summary(run: Run, data: Sequence[Trajectory]) -> Summary:
    """Dreamed success beside the real one, speeds, data, times, and what fell short."""
    replays = read_record(ReplayReport, run.path("audit") / "replays.json")
    told = replays.dreamed_success
    low, high = wilson(told.hits, told.n)
    return Summary(
        dreamed=(
            DreamedSuccess(
                arm=DYNAWEB,
                rate=Rate(successes=told.hits, n=told.n, unknown=0, low=low, high=high),
                note="dreams of the trained agent from real training pages, by its own judge",
            ),
        ),
        speed=Speed(
            live=run.number("audit", "live_per_sec"),
            dreamed=run.number("audit", "dreamed_per_sec"),
            note=f"the same {replays.dreams} attempts, dreamed in one batch and replayed with "
            f"{run.config.live_workers} pages at a time; "
            f"{run.number('audit', 'dreamed_steps_per_sec'):.1f} dreamed and "
            f"{run.number('audit', 'live_steps_per_sec'):.1f} live steps per second",
        ),
        data=_data(data),
        drops=_drops(run),
        stages=tuple(StageTime(stage=s, seconds=d.seconds) for s, d in run.results.items()),
        shortfalls=_shortfalls(run, replays),
        is_demonstration=_is_demonstration(run.config.evaluation),
        precision_bar=run.config.gspo.audit.bar,
        audits=_audits(run),
        arms=arms_in_words(run.config),
        notes={
            "fidelity": "The first agent's and an erring expert's real steps on pages nothing was trained on. "
            "Determined: page, action, goal or three training pages say every new string, no like step came out "
            "differently, and it is no click on a list, where what lies under its middle decides.",
            "judge": "The first agent's real attempts on held-out pages, each judged by bars that were set on the other half of these pages.",
            "replays": "Dreams of the trained agent, their actions done again in Chromium.",
        },
    )


def _is_demonstration(how: EvaluationConfig) -> bool:
    """Few pages, or pages that trials may look at again and again: nothing is claimed from it."""
    return how.episodes < PROOF_EPISODES or how.first_seed < EVALUATION_SEEDS_FROM


def _data(data: Sequence[Trajectory]) -> tuple[DataRow, ...]:
    counts: Counter[tuple[str, str, str, str]] = Counter()
    steps: Counter[tuple[str, str, str]] = Counter()
    for t in data:
        key = (t.world.value, t.behaviour.value, t.trajectory_id.split("/")[0])
        counts[(*key, t.outcome.value)] += 1
        steps[key] += len(t.steps)
    return tuple(
        DataRow(
            world=world,
            behaviour=behaviour,
            policy=policy,
            success=counts[world, behaviour, policy, Outcome.SUCCESS.value],
            failure=counts[world, behaviour, policy, Outcome.FAILURE.value],
            unknown=counts[world, behaviour, policy, Outcome.UNKNOWN.value],
            steps=n,
        )
        for (world, behaviour, policy), n in sorted(steps.items())
    )


def _drops(run: Run) -> tuple[Drop, ...]:
    found: list[Drop] = []
    for stage in ("sft", "world", OWN):
        if stage not in run.results:
            continue
        counts = run.facts(stage).get("counts")
        for name, count in counts.items() if isinstance(counts, Mapping) else ():
            if "dropped." in name and count:
                found.append(Drop(stage=stage, reason=name, count=int(count)))
    return tuple(found)


def _shortfalls(run: Run, replays: ReplayReport) -> tuple[str, ...]:
    """Every bar that this run missed, in a sentence each."""
    results = read_record(EvaluationResults, run.path("evaluation") / RESULTS_FILE)
    fidelity = read_record(FidelityReport, run.path("fidelity") / FIDELITY)
    judge = read_record(JudgeReport, run.path("fidelity") / JUDGE)
    said = []
    for c in results.comparisons:
        if c.primary and not (c.paired.excludes_zero and (c.paired.difference or 0.0) > 0):
            said.append(
                f"DynaWeb does not beat {c.paired.control} here: the interval of the difference includes zero or lies below it."
            )
    said += _shortfalls_of_world(fidelity, judge)
    if left := run.facts("gspo").get("tasks_not_dreamt"):
        assert isinstance(left, list)
        least = run.config.world.least_right
        said.append(
            f"Not dreamt of, since fewer than {least:.0%} of their held-out steps are imagined rightly: {', '.join(left)}."
        )
    said += _shortfalls_of_dreams(run)
    bar, true = run.config.gspo.audit.bar, replays.success_precision
    if true.fraction is None:
        said.append(
            "No dream of the final audit was judged a success, so their precision is not known."
        )
    elif true.fraction < bar:
        said.append(
            f"Only {true.fraction:.0%} of {true.n} dreamed successes were real; the bar is {bar:.0%}."
        )
    if run.facts("gspo")["stopped_by_audit"]:
        said.append("Training in dreams was stopped by its audit.")
    return (*said, *run.folder.notices)


def _audits(run: Run) -> tuple[AuditPoint, ...]:
    found = run.facts("gspo")["audits"]
    assert isinstance(found, list)
    return tuple(decode(AuditPoint, a, "gspo.audits") for a in found)


def _shortfalls_of_dreams(run: Run) -> list[str]:
    """What went wrong while the agent trained in dreams."""
    said, facts, audits = [], run.facts("gspo"), _audits(run)
    warned = [a for a in audits if a.warned]
    if warned:
        worst = max(warned, key=lambda a: a.gap or 0.0)
        said.append(
            f"In {len(warned)} of {len(audits)} audits while it trained, dreams were less true than allowed: at iteration {worst.iteration} "
            f"{worst.dreamed_success} of {worst.dreams} succeeded, their actions in the real browser {worst.real_success} times."
        )
    if taken_back := facts["updates_taken_back"]:
        said.append(f"Updates that broke and were taken back: {taken_back}.")
    if not facts["gate_passed"]:
        said.append(f"Dreamt in all the same, as configured: {facts['gate']}.")
    return said


def _shortfalls_of_world(fidelity: FidelityReport, judge: JudgeReport) -> list[str]:
    said = []
    exact = fidelity.total.local_determined.fraction
    if exact is None:
        said.append(
            "On these tasks no held-out step changed part of a page beyond what the rules know, so the world model's local fidelity is not tested."
        )
    elif exact < WANTED_FIDELITY:
        said.append(
            f"The world model is exact on {exact:.0%} of determined local changes; the goal is {WANTED_FIDELITY:.0%}."
        )
    passed = judge.total.false_positives
    if passed.n < WANTED_FAILURES:
        said.append(
            f"The judge's false positives are measured on {passed.n} real failures; {WANTED_FAILURES} would be enough to tell."
        )
    if passed.fraction is not None and passed.fraction >= WANTED_FALSE_POSITIVES:
        said.append(
            f"The judge calls {passed.fraction:.0%} of {passed.n} real failures a success; the goal is under {WANTED_FALSE_POSITIVES:.0%}."
        )
    return said
