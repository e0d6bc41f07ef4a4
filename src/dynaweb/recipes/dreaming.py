"""The stage that dreams: GSPO in the world model, and what its dreams were worth in the real browser."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.bench.results import FidelityReport
from dynaweb.bench.w2r import Replay, replay, replay_report
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.dream.run import Dreamers, DreamRequest, dream
from dynaweb.dream.starts import collect_starts, pick_starts
from dynaweb.gspo.audit import AuditReport, Replayed, audits_of
from dynaweb.gspo.readable import readable
from dynaweb.gspo.train import Parts, train_gspo
from dynaweb.lm.language import Language
from dynaweb.lm.model import context_length, load_model, save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.attempting import LIVE, live_attempts
from dynaweb.recipes.collecting import FIRST_AGENT
from dynaweb.recipes.config import RecipeConfig
from dynaweb.recipes.gate import gain_of, require_knowledge
from dynaweb.recipes.policy import encoded_examples, only_successes
from dynaweb.recipes.stage import Run
from dynaweb.recipes.worldly import FIDELITY, calibrated, dreamable
from dynaweb.records.codec import dump
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Outcome, Trajectory
from dynaweb.rollout.workers import work_through
from dynaweb.runs.atomic import write_text
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.jsonl import read_prefix
from dynaweb.train.batch import Example

METRICS = "metrics.jsonl"


def train_in_dreams(run: Run, policy: Path, world: Path, real: Sequence[Trajectory]) -> Path:
    """DynaWeb: from the first agent, in dreams mixed with demonstrations.

    Args:
        run: the recipe.
        policy: folder of the first agent.
        world: folder of world model and judge.
        real: attempts whose states dreams begin from; experts among them are the demonstrations.
    """
    config = run.config
    inputs = {
        "gspo": config.gspo,
        "policy": run.made(policy),
        "world": run.made(world),
        "bar": run.made(run.path("fidelity")),
        "real": sorted(t.trajectory_id for t in real),
        "least_right": config.world.least_right,
    }

    gain = gain_of(
        read_record(FidelityReport, run.path("fidelity") / FIDELITY), config.gspo.gate.confidence
    )

    def work(folder: Path) -> Mapping[str, object]:
        require_knowledge(gain, config.gspo.gate)
        torch.set_num_threads(config.threads)
        language = load_language(policy)
        model = load_model(policy)
        seen = calibrated(run, world)
        tasks = dreamable(run)
        starts = collect_starts([t for t in real if t.task in tasks], config.gspo.starts)
        points, unread = readable(
            starts.points,
            language,
            context=context_length(model),
            room=config.gspo.max_new_tokens,
        )
        sampler = TorchSampler(model, language.tokenizer, FIRST_AGENT)
        parts = Parts(
            policy=model,
            name=FIRST_AGENT,
            sampler=sampler,
            language=language,
            world=seen.world,
            judge=seen.judge,
            starts=points,
            demonstrations=shown_again(run, model, language, real),
            audit=lambda iteration, dreams: audited(replayed(run, dreams)[0]),
            live=live_attempts(config, sampler, language, folder / LIVE),
        )
        result = train_gspo(parts, config.gspo, folder, run.progress)
        language.save(folder)
        save_model(model, folder)
        rows = [json.loads(line) for line in read_prefix(folder / METRICS).lines]
        return {
            "iterations": result.iterations,
            "stopped_by_audit": result.stopped_by_audit,
            "starts": len(points),
            "starts_dropped": starts.dropped | unread,
            "tasks_not_dreamt": sorted(set(config.tasks) - tasks),
            "gate": str(gain),
            "gate_passed": gain.proved,
            "audits": [asdict(a) for a in audits_of(rows)],
            "updates_taken_back": round(sum(r["guard/skipped"] for r in rows)),
            "live_group_steps": result.live_steps,
            "audit_live_steps": round(sum(r.get("audit/live_steps") or 0 for r in rows)),
            "seconds_so_far": float(sum(r["dreams_sec"] + r["update_sec"] for r in rows)),
        }

    run.stage("gspo", inputs, work)
    return run.path("gspo")


def shown_again(
    run: Run, model: PreTrainedModel, language: Language, real: Sequence[Trajectory]
) -> tuple[Example, ...]:
    """What dreaming may not overwrite: every real success, of tasks that are not dreamt of too."""
    return demonstrations_of(run.config, model, language, real)


def demonstrations_of(
    config: RecipeConfig, model: PreTrainedModel, language: Language, real: Sequence[Trajectory]
) -> tuple[Example, ...]:
    """As `shown_again`, for whoever has no run's folder."""
    if not config.gspo.update.demonstrations.weight:
        return ()
    examples, _ = encoded_examples(
        only_successes(real), language, context=context_length(model), copies=0, seed=0
    )
    return tuple(examples)


def replayed(
    run: Run, dreams: Sequence[Trajectory], *, timed: bool = False
) -> tuple[list[Replay], float]:
    """Do dreams again in real Chromium, from the same real starts, in order.

    Returns:
        The replays, and the seconds they took; without the start of the browser when `timed`.
    """
    done: list[Replay] = []

    async def again(env: BrowserEnvironment, dream: Trajectory) -> Replay:
        return await replay(dream, env)

    async def go() -> float:
        async with miniwob_world(run.config.browser) as make_env:
            if timed:
                await warm_up(make_env, run.config.tasks[0])
            begun = time.monotonic()
            await work_through(
                dreams,
                make_env,
                again,
                lambda _, made: done.append(made),
                workers=run.config.live_workers,
            )
            return time.monotonic() - begun

    return done, asyncio.run(go())


async def warm_up(make_env: Callable[[], BrowserEnvironment], task: str) -> None:
    """Open one page, so that a measurement does not count the start of the browser."""
    env = make_env()
    try:
        await env.reset(task, 0)
    finally:
        await env.close()


def real_steps(replays: Sequence[Replay]) -> int:
    """Real actions that replays took, those that led to their starts included."""
    return sum(r.actions + len(r.dream.start.prefix) for r in replays)


def audited(replays: Sequence[Replay]) -> AuditReport:
    """Dreamed beside real success of the same actions, by depth; what nobody could judge is left out and counted."""
    whole = [r for r in replays if not r.broken and r.dream.outcome is not Outcome.UNKNOWN]
    rows = []
    for depth in sorted({len(r.dream.steps) for r in whole}):
        here = [r for r in whole if len(r.dream.steps) == depth]
        said = [r for r in here if r.dream.outcome is Outcome.SUCCESS]
        rows.append(
            Replayed(
                depth=depth,
                dreams=len(here),
                dreamed_success=len(said),
                real_success=sum(r.succeeded for r in here),
                confirmed=sum(r.succeeded for r in said),
                unmapped=sum(r.unmapped_at is not None for r in said),
            )
        )
    return AuditReport(
        replayed=tuple(rows), live_steps=real_steps(replays), left_out=len(replays) - len(whole)
    )


def audit_policy(run: Run, policy: Path, world: Path, real: Sequence[Trajectory]) -> None:
    """Dreams of the trained agent, one for each start, replayed for real: W2R by depth (papers F10)."""
    config = run.config
    count = config.final_audit_dreams
    inputs = {"policy": run.made(policy), "world": run.made(world), "dreams": count}

    def work(folder: Path) -> Mapping[str, object]:
        torch.set_num_threads(config.threads)
        run.progress("audit", 0, 2, "dreaming")
        language = load_language(policy)
        sampler = TorchSampler(load_model(policy), language.tokenizer, "dynaweb")
        seen = calibrated(run, world)
        tasks = dreamable(run)
        dreamt = [t for t in real if t.task in tasks]
        starts = collect_starts(dreamt, config.gspo.starts).points
        seed = derive_seed(config.seed, "audit")
        picked = pick_starts(starts, config.gspo.starts, seed=seed, first=0, count=count)
        who = Dreamers(
            sampler=sampler,
            language=language,
            agent=config.agent_at(config.gspo.update.temperature),
            world=seen.world,
            judge=seen.judge,
            config=config.gspo.dream,
        )
        asked = [
            DreamRequest(name=f"audit/{i}", start=p.start, seed=derive_seed(seed, i))
            for i, p in enumerate(picked)
        ]
        begun = time.monotonic()
        dreams = dream(asked, who)
        took = time.monotonic() - begun
        run.progress("audit", 1, 2, "the real browser")
        write_text(folder / "dreams.jsonl", "".join(dump(d) + "\n" for d in dreams))
        replays, real_took = replayed(run, dreams, timed=True)
        report = replay_report(replays, max_depth=config.gspo.dream.max_steps)
        write_record(folder / "replays.json", report)
        run.progress("audit", 2, 2)
        return {
            "dreamed_per_sec": len(dreams) / took,
            "dreamed_steps_per_sec": sum(len(d.steps) for d in dreams) / took,
            "live_per_sec": len(replays) / real_took,
            "live_steps_per_sec": real_steps(replays) / real_took,
            "precision": report.success_precision.fraction,
        }

    run.stage("audit", inputs, work)
