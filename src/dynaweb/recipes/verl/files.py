"""What verl's trainer is started with: a dataset with a start a row, and the agent loop's own file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dynaweb.dream.starts import StartPoint
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.trajectory import Start
from dynaweb.runs.atomic import write_text

LOOP = "dynaweb_dream"
"""Name of the agent loop; the rows' `agent_name`."""
TARGET = "dynaweb.recipes.verl.loop.dream_agent_loop"
STARTS, LOOP_FILE = "starts.parquet", "agent_loop.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerlFiles:
    """Where they are, and how verl is told."""

    starts: Path
    loop: Path
    rows: int

    def overrides(self) -> tuple[str, ...]:
        """Settings of `python -m verl.trainer.main_ppo` that make it train as here, as far as it can."""
        return (
            f"data.train_files={self.starts}",
            f"actor_rollout_ref.rollout.agent.agent_loop_config_path={self.loop}",
            f"actor_rollout_ref.rollout.agent.default_agent_loop={LOOP}",
            "actor_rollout_ref.rollout.calculate_log_probs=True",
            "algorithm.adv_estimator=grpo",
            "actor_rollout_ref.actor.policy_loss.loss_mode=gspo",
            "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-mean",
            "actor_rollout_ref.actor.clip_ratio_low=3e-4",
            "actor_rollout_ref.actor.clip_ratio_high=4e-4",
        )


def write_verl_files(
    points: Sequence[StartPoint],
    folder: Path,
    *,
    policy: Path,
    world: Path,
    max_steps: int,
    max_new_tokens: int,
) -> VerlFiles:
    """Write them; each is there once it is whole.

    Args:
        points: places to begin, a row each.
        folder: for the files.
        policy: folder with the policy's tokenizer.
        world: folder of world model and judge.
        max_steps: actions before a dream is cut.
        max_new_tokens: longest reply.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    starts, aside = folder / STARTS, folder / f".{STARTS}.part"
    pq.write_table(pa.Table.from_pylist([_row(i, p.start) for i, p in enumerate(points)]), aside)
    aside.replace(starts)
    how = {
        "name": LOOP,
        "_target_": TARGET,
        "policy": str(policy.resolve()),
        "world": str(world.resolve()),
        "max_steps": max_steps,
        "max_new_tokens": max_new_tokens,
    }
    # JSON strings are YAML strings too, whatever is in a path
    lines = [f"{'- ' if k == 'name' else '  '}{k}: {json.dumps(v)}" for k, v in how.items()]
    loop = folder / LOOP_FILE
    write_text(loop, "\n".join(lines) + "\n")
    return VerlFiles(starts=starts.resolve(), loop=loop.resolve(), rows=len(points))


def _row(index: int, start: Start) -> dict[str, object]:
    """`prompt`, `data_source` and `reward_model` are what verl's dataset asks for; the loop reads `start` alone."""
    return {
        "data_source": f"dynaweb/{start.task}",
        "agent_name": LOOP,
        "prompt": [{"role": "user", "content": start.goal}],
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": index, "task": start.task, "seed": start.seed},
        "start": json.dumps(codec_for(Start).encode(start)),
    }
