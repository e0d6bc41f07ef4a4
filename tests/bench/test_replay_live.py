"""In the real browser: what really happened, replayed as if it had been dreamed, is equal throughout."""

from dataclasses import replace

import pytest

from dynaweb.bench.rule_check import check_rules
from dynaweb.bench.w2r import replay, replay_report
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import miniwob_world
from dynaweb.collect.experts import EXPERTS
from dynaweb.records.trajectory import Behaviour, Outcome, World
from dynaweb.rollout.episode import EpisodeConfig, run_episode

TASKS = ("click-checkboxes", "use-autocomplete-nodelay", "login-user", "click-option")


@pytest.mark.browser
async def test_real_attempts_replay_exactly_and_obey_the_rules() -> None:
    async with miniwob_world(BrowserConfig()) as make_env:
        env = make_env()
        lived = [
            await run_episode(
                env,
                EXPERTS[task],
                trajectory_id=task,
                task=task,
                seed=7,
                config=EpisodeConfig(max_steps=8),
                behaviour=Behaviour.EXPERT,
            )
            for task in TASKS
        ]
        assert [t.outcome for t in lived] == [Outcome.SUCCESS] * len(TASKS)
        whole = [replace(t, world=World.DREAM) for t in lived]
        tails = [replace(t.suffix(1), world=World.DREAM) for t in lived if len(t.steps) > 1]
        replays = [await replay(dream, env) for dream in (*whole, *tails)]
        await env.close()
    report = replay_report(replays)
    assert report.broken == 0 and report.unmapped.hits == 0
    assert all(row.pages_equal.hits == row.pages_equal.n for row in report.rows)
    assert report.success_precision.hits == report.success_precision.n == len(replays)
    rules = check_rules(lived)
    assert rules.gate_agrees.hits == rules.gate_agrees.n
    for row in rules.by_rule:
        assert row.stood.hits == row.stood.n, row.rule
