"""Write BrowserGym or AgentLab experiment folders as JSON lines that `dynaweb import` reads.

Run it where browsergym is installed, on folders you made or trust: reading them unpickles, which runs code.

    python export_browsergym.py FOLDER... > steps.jsonl
"""

import json
import sys

from browsergym.experiments import get_exp_result
from browsergym.utils.obs import flatten_axtree_to_str

KEPT = ("goal", "url", "last_action_error", "open_pages_urls", "open_pages_titles")


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


def main(folders: list[str]) -> None:
    """One line for each folder."""
    for folder in folders:
        result = get_exp_result(folder)
        env = result.exp_args.env_args
        line = {
            "task_name": env.task_name,
            "task_seed": env.task_seed or 0,
            "steps": [plain(step) for step in result.steps_info],
        }
        sys.stdout.write(json.dumps(line, default=str) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
