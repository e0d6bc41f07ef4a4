"""Whole trajectories to step through: the data for the page's script, which puts it in as text only."""

from collections.abc import Sequence
from typing import TypeAlias

from dynaweb.axtree.label import label_action
from dynaweb.records.action import Action, print_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory
from dynaweb.report.data import Attempt, ReportData
from dynaweb.report.html import Html, tag, visible
from dynaweb.report.parts import badge, missing, section

MAX_LINES = 400
"""Of one page; the viewer says how many more there were."""

View: TypeAlias = dict[str, object]
"""What the script reads; every string is text."""


def attempts_section(data: ReportData) -> Html:
    """The viewer's frame; its script fills it."""
    intro = "Step through whole attempts. What the agent saw, what it did, what came of it."
    heading = "Trajectories"
    if not data.attempts:
        return section(
            "trajectories", heading, intro, missing("trajectories", "episodes/ARM.jsonl")
        )
    keys = tag(
        "p",
        [
            tag("kbd", "\u2190"),
            tag("kbd", "\u2192"),
            " step  ",
            tag("kbd", "j"),
            tag("kbd", "k"),
            " trajectory",
        ],
        cls="keys",
    )
    live = sum(a.trajectory.world.value == "live" for a in data.attempts)
    return section(
        "trajectories",
        heading,
        intro,
        tag(
            "noscript",
            tag(
                "p",
                "Stepping through trajectories needs JavaScript; everything else on this page does not.",
            ),
        ),
        tag(
            "div",
            tag(
                "div",
                tag(
                    "p",
                    badge("live"),
                    f" {live} real  ",
                    badge("dream"),
                    f" {len(data.attempts) - live} imagined",
                    cls="legend",
                ),
                keys,
                tag("ul", id="attempt-list", role="listbox", tabindex=0, aria_label="trajectories"),
                cls="chooser",
            ),
            tag("div", id="attempt", aria_live="polite"),
            id="viewer",
            hidden="",
        ),
    )


def attempt_view(attempt: Attempt) -> View:
    """One trajectory as the script reads it."""
    t = attempt.trajectory
    steps = [_step_view(t, i, s) for i, s in enumerate(t.steps)]
    return {
        "arm": visible(attempt.arm),
        "world": t.world.value,
        "behaviour": t.behaviour.value,
        "task": visible(t.task),
        "seed": str(t.seed),
        "goal": visible(t.goal),
        "outcome": t.outcome.value,
        "reason": t.reason.value.replace("_", " "),
        "detail": visible(t.detail),
        "policy": visible(t.policy_version),
        "model": visible(t.world_model_version),
        "steps": [*steps, *([_last_view(t)] if t.final is not None else [])],
    }


def _step_view(t: Trajectory, index: int, step: Step) -> View:
    before = t.steps[index - 1].observation if index else None
    return {
        **_page_view(step.observation, before),
        "thought": visible(step.thought),
        "action": visible(_action_words(step.action, step.observation)),
        "reply": visible(_unread_reply(step)),
        "fault": step.fault.value.replace("_", " ") if step.fault is not None else "",
        "acted": _acted(step.action, step.observation.tree.split("\n")),
    }


def _unread_reply(step: Step) -> str:
    """What the model wrote, where no action could be read from it."""
    if step.action is not None or not step.generations:
        return ""
    text = step.generations[-1].raw_text
    return "" if text.strip() == step.thought.strip() else text


def _last_view(t: Trajectory) -> View:
    assert t.final is not None
    return {**_page_view(t.final, t.steps[-1].observation if t.steps else None), "last": 1}


def _page_view(page: Observation, before: Observation | None) -> View:
    lines = page.tree.split("\n")
    old = set(before.tree.split("\n")) if before is not None else None
    return {
        "url": visible(page.url),
        "title": visible(page.title),
        "error": visible(page.last_action_error),
        "tree": [visible(line) for line in lines[:MAX_LINES]],
        "more": max(0, len(lines) - MAX_LINES),
        "changed": [
            i for i, line in enumerate(lines[:MAX_LINES]) if old is not None and line not in old
        ],
        "focused": _line_of(page.focused, lines),
    }


def _action_words(action: Action | None, page: Observation) -> str:
    if action is None:
        return "no action in the reply"
    return label_action(action, page) or print_action(action)


def _acted(action: Action | None, lines: Sequence[str]) -> int | None:
    bid = getattr(action, "bid", None)
    return _line_of(bid, lines) if isinstance(bid, str) else None


def _line_of(bid: str | None, lines: Sequence[str]) -> int | None:
    if bid is None:
        return None
    return next(
        (i for i, line in enumerate(lines) if line.lstrip("\t").startswith(f"[{bid}] ")), None
    )
