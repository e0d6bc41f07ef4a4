"""The collecting loop in a scripted world: same bytes for any number of workers, resumable, faults retried."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.toy import TASKS, ToyEnvironment

from dynaweb.collect.explore import RandomAgent
from dynaweb.collect.run import CollectConfig, Job, collect_episodes, read_trajectories
from dynaweb.errors import BrowserError, StorageError, UserError
from dynaweb.records.trajectory import Behaviour, Outcome, Reason

JOBS = [
    Job(task=task, seed=seed, policy="random", behaviour=Behaviour.RANDOM, max_steps=5)
    for task in TASKS
    for seed in range(6)
]


class Breaking(ToyEnvironment):
    """Takes a different time for each page; fails the first `failures` attempts at one of them."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self._failures = {("toy-write", 2): failures}
        self.resets: Counter[tuple[str, int]] = Counter()

    async def reset(self, task, seed, start=None):
        self.resets[task, seed] += 1
        await asyncio.sleep(0.001 * ((seed * 7) % 5))
        if self.resets[task, seed] <= self._failures.get((task, seed), 0):
            raise BrowserError("the tab crashed")
        return await super().reset(task, seed, start)


async def collect(out: Path, jobs=JOBS, env=None, **config):
    world = env or Breaking()
    return await collect_episodes(
        jobs,
        lambda: world if env else Breaking(),
        lambda _: RandomAgent(),
        out,
        CollectConfig(**config),
    )


async def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    files = []
    for workers in (1, 3, 16):
        out = tmp_path / f"{workers}.jsonl"
        await collect(out, workers=workers)
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2]
    read = read_trajectories(tmp_path / "3.jsonl")
    assert [t.trajectory_id for t in read] == [j.job_id for j in JOBS]
    assert {t.behaviour for t in read} == {Behaviour.RANDOM}
    assert all(t.license and t.origin and t.policy_version for t in read)


@pytest.mark.parametrize("lines", [0, 1, 7, len(JOBS)])
@pytest.mark.parametrize("torn", [b"", b'{"schema_version": 1, "rec'])
async def test_going_on_after_a_kill_gives_the_same_bytes(tmp_path, lines, torn):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    await collect(whole, workers=4)
    cut.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:lines]) + torn)
    result = await collect(cut, workers=2)
    assert cut.read_bytes() == whole.read_bytes()
    assert result.resumed == lines
    assert len(result.trajectories) == len(JOBS)


async def test_nothing_is_done_twice(tmp_path):
    out = tmp_path / "t.jsonl"
    await collect(out)
    again = Breaking()
    result = await collect(out, env=again, workers=1)
    assert result.resumed == len(JOBS)
    assert not again.resets


async def test_a_broken_world_is_kept_as_unknown_and_tried_again(tmp_path):
    result = await collect(tmp_path / "t.jsonl", env=Breaking(failures=2), workers=1, retries=2)
    attempts = [t for t in result.trajectories if (t.task, t.seed) == ("toy-write", 2)]
    assert [t.trajectory_id.partition("~")[2] for t in attempts] == ["", "1", "2"]
    assert [t.reason for t in attempts[:2]] == [Reason.BROWSER_FAULT] * 2
    assert [t.outcome for t in attempts[:2]] == [Outcome.UNKNOWN] * 2
    assert attempts[2].outcome is not Outcome.UNKNOWN
    assert result.unknown == 0


async def test_retries_end(tmp_path):
    out = tmp_path / "t.jsonl"
    result = await collect(out, env=Breaking(failures=99), workers=1, retries=1)
    assert result.unknown == 1
    again = await collect(out, env=(world := Breaking()), workers=1, retries=1)
    assert again.unknown == 1
    assert not world.resets
    more = await collect(out, workers=1, retries=2)
    assert more.unknown == 0


async def test_the_same_agent_chooses_anew_in_a_repeat_and_with_another_seed(tmp_path):
    job = JOBS[0]
    jobs = [replace(job, repeat=n) for n in range(6)]
    first = await collect(tmp_path / "a.jsonl", jobs)
    other = await collect(tmp_path / "b.jsonl", jobs, seed=1)
    done = [tuple(s.action for s in t.steps) for t in first.trajectories]
    assert len(set(done)) > 1
    assert done != [tuple(s.action for s in t.steps) for t in other.trajectories]


async def test_mistakes_are_named(tmp_path):
    with pytest.raises(UserError, match="stands there twice"):
        await collect(tmp_path / "t.jsonl", [JOBS[0], JOBS[0]])
    with pytest.raises(UserError, match="no task 'nonsense'"):
        await collect(tmp_path / "t.jsonl", [replace(JOBS[0], task="nonsense")])
    with pytest.raises(UserError, match="workers 0"):
        CollectConfig(workers=0)
    (tmp_path / "bad.jsonl").write_text('not json\n{"a": 1}\n', encoding="utf-8")
    with pytest.raises(StorageError):
        await collect(tmp_path / "bad.jsonl")


async def test_progress_counts_what_was_there(tmp_path):
    seen = []
    out = tmp_path / "t.jsonl"
    await collect(out, JOBS[:5])

    def note(stage, done, total, note=""):
        seen.append((done, total))

    await collect_episodes(
        JOBS, Breaking, lambda _: RandomAgent(), out, CollectConfig(workers=2), note
    )
    assert seen[0] == (5, len(JOBS))
    assert seen[-1] == (len(JOBS), len(JOBS))
