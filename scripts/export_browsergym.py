"""Write BrowserGym or AgentLab experiment folders as JSON lines that `dynaweb import` reads.

Run it where browsergym is installed, on folders you made or trust: reading them unpickles, which runs code.

    python export_browsergym.py FOLDER... > steps.jsonl

A folder is one experiment (`step_0.pkl.gz`, ...), or holds such folders, as a study does. The agent's own code is needed only
if its steps hold objects of its own. Run with browsergym-experiments 0.14.3 on MiniWoB tasks.
"""

import json
import re
import sys
from pathlib import Path

from browsergym.experiments import get_exp_result
from browsergym.utils.obs import flatten_axtree_to_str

KEPT = ("goal", "url", "last_action_error", "open_pages_urls", "open_pages_titles")
NAMED = re.compile(r"_on_(?P<task>.+?)(?:_(?P<seed>-?\d+))?$")
"""The end of a folder's name, as `ExpArgs.prepare` makes it: agent, task and seed."""


def plain(step: object) -> dict[str, object]:
    """The parts of a step that are text and numbers."""
    obs = step.obs or {}
    tree = obs.get("axtree_txt") or (
        flatten_axtree_to_str(obs["axtree_object"], obs.get("extra_element_properties"))
        if "axtree_object" in obs
        else ""
    )
    index = obs.get("active_page_index", 0)
    return {
        "obs": {
            **{k: obs[k] for k in KEPT if k in obs},
            "active_page_index": int(index[0] if hasattr(index, "__len__") else index),
            "axtree_txt": tree,
        },
        "action": step.action,
        "reward": float(step.reward or 0.0),
        "terminated": bool(step.terminated),
        "truncated": bool(step.truncated),
        "agent_info": {"think": (step.agent_info or {}).get("think")},
    }


def task_of(result: object, folder: Path) -> tuple[str, int]:
    """Task and seed; from the folder's name where the agent's class, which is stored beside them, is not installed."""
    try:
        env = result.exp_args.env_args
    except (AttributeError, ImportError) as error:
        named = NAMED.search(folder.name)
        sys.stderr.write(f"{folder}: {error}; task and seed are read from its name\n")
        return (named["task"], int(named["seed"] or 0)) if named else (folder.name, 0)
    return env.task_name, env.task_seed or 0


def experiments(folder: Path) -> list[Path]:
    """The experiments in a folder, or the folder itself."""
    found = sorted({file.parent for file in folder.rglob("step_0.pkl.gz")})
    if not found:
        sys.stderr.write(f"{folder}: no experiment in it, no step_0.pkl.gz: left out\n")
    return found


def main(folders: list[str]) -> int:
    """One line for each experiment; returns 1 if there was none."""
    count = 0
    for folder in (found for given in folders for found in experiments(Path(given))):
        result = get_exp_result(folder)
        task, seed = task_of(result, folder)
        steps = [plain(step) for step in result.steps_info]
        line = {"task_name": task, "task_seed": seed, "steps": steps}
        sys.stdout.write(json.dumps(line, default=str) + "\n")
        count += 1
    sys.stderr.write(f"{count} experiments written\n")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
