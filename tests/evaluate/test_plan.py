"""A plan is written once, before the first episode; results follow it or are refused."""

import json
from dataclasses import replace

import pytest

from dynaweb.errors import StorageError, UserError
from dynaweb.evaluate.plan import (
    PLAN_FILE,
    Comparison,
    EvaluationPlan,
    load_plan,
    plan_hash,
    save_plan,
)
from dynaweb.evaluate.results import RESULTS_FILE, EvaluationResults, analyse
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Fault, Outcome, Reason, Step, Trajectory, World
from dynaweb.runs.jsonfile import read_record, write_record

PLAN = EvaluationPlan(
    tasks=("click-test", "enter-text"),
    seeds=(1_000_000, 1_000_001),
    arms=("sft", "dynaweb"),
    comparisons=(Comparison(treatment="dynaweb", control="sft", primary=True),),
)


def attempt(arm, task, seed, outcome, world=World.LIVE):
    page = Observation(url="http://h/", title="t", tree="RootWebArea 't'")
    return Trajectory(
        trajectory_id=f"{arm}/{task}/{seed}",
        task=task,
        goal="g",
        seed=seed,
        steps=(Step(observation=page, fault=Fault.NO_ACTION),),
        outcome=outcome,
        reason=Reason.BROWSER_FAULT if outcome is Outcome.UNKNOWN else Reason.TASK_ENDED,
        world=world,
        behaviour=Behaviour.AGENT,
        policy_version=f"{arm}@1",
    )


def episodes(arm, outcomes):
    pages = [(t, s) for t in PLAN.tasks for s in PLAN.seeds]
    return [attempt(arm, t, s, o) for (t, s), o in zip(pages, outcomes, strict=True)]


def full():
    s, f, u = Outcome.SUCCESS, Outcome.FAILURE, Outcome.UNKNOWN
    return {"sft": episodes("sft", [s, f, f, u]), "dynaweb": episodes("dynaweb", [s, s, f, s])}


def test_plan_round_trip_and_rerun(tmp_path):
    first = save_plan(PLAN, tmp_path / "evaluation")
    before = (tmp_path / "evaluation" / PLAN_FILE).read_bytes()
    assert load_plan(tmp_path / "evaluation") == PLAN
    assert save_plan(PLAN, tmp_path / "evaluation") == first == plan_hash(PLAN)
    assert (tmp_path / "evaluation" / PLAN_FILE).read_bytes() == before


def test_hash_stands_for_every_field():
    changed = [
        replace(PLAN, tasks=("click-test",)),
        replace(PLAN, seeds=(7,)),
        replace(PLAN, max_steps=3),
        replace(PLAN, temperature=0.5),
        replace(PLAN, comparisons=()),
        replace(PLAN, statistics=replace(PLAN.statistics, seed=1)),
    ]
    assert len({plan_hash(p) for p in [PLAN, *changed]}) == len(changed) + 1


def test_another_plan_is_refused(tmp_path):
    save_plan(PLAN, tmp_path)
    with pytest.raises(UserError, match="another plan \\(seeds, max_steps differ\\)"):
        save_plan(replace(PLAN, seeds=(5,), max_steps=3), tmp_path)


def test_a_plan_changed_by_hand_is_noticed(tmp_path):
    save_plan(PLAN, tmp_path)
    path = tmp_path / PLAN_FILE
    body = json.loads(path.read_text("utf-8"))
    body["max_steps"] = 99
    path.write_text(json.dumps(body), "utf-8")
    with pytest.raises(StorageError, match="changed after it was written"):
        load_plan(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tasks": ()}, "no tasks"),
        ({"seeds": (1, 1)}, "1 twice in seeds"),
        ({"max_steps": 0}, "max_steps 0"),
        ({"temperature": -1.0}, "temperature -1.0"),
        ({"comparisons": (Comparison(treatment="x", control="sft"),)}, "arm 'x'"),
    ],
)
def test_impossible_plans_are_refused(change, said):
    with pytest.raises(UserError, match=said):
        replace(PLAN, **change)


def test_damaged_plan_is_one_clear_error(tmp_path):
    (tmp_path / PLAN_FILE).write_text('{"tasks": [', "utf-8")
    with pytest.raises(StorageError, match="damaged"):
        load_plan(tmp_path)


def test_results_by_hand_and_on_disk(tmp_path):
    results = analyse(PLAN, full())
    sft, dynaweb = results.arms
    assert (sft.rate.successes, sft.rate.n, sft.rate.unknown) == (1, 3, 1)
    assert (dynaweb.rate.successes, dynaweb.rate.n) == (3, 4)
    assert sft.reasons == {"browser_fault": 1, "task_ended": 3}
    assert sft.faults == {"no_action": 4}
    [answer] = results.comparisons
    assert answer.primary and (answer.paired.pairs, answer.paired.left_out) == (3, 1)
    assert answer.paired.difference == pytest.approx(1 / 3)
    write_record(tmp_path / RESULTS_FILE, results)
    assert read_record(EvaluationResults, tmp_path / RESULTS_FILE) == results


def test_dreams_strangers_and_gaps_are_refused():
    both = full()
    dreamt = attempt("sft", "click-test", 1_000_000, Outcome.SUCCESS, World.DREAM)
    with pytest.raises(UserError, match="a dream"):
        analyse(PLAN, both | {"sft": [dreamt, *both["sft"][1:]]})
    with pytest.raises(UserError, match="1 page\\(s\\) are missing"):
        analyse(PLAN, both | {"sft": both["sft"][1:]})
    stranger = attempt("sft", "other", 1, Outcome.SUCCESS)
    with pytest.raises(UserError, match="not in the plan"):
        analyse(PLAN, both | {"sft": [*both["sft"], stranger]})
