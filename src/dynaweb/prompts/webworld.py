"""What the released WebWorld models are asked (WebWorld N.1 figure 8; W1, W7, W8).

The layout is the one of their model and data cards (`Qwen/WebWorld-8B`, `Qwen/WebWorldData`), since weights answer well only
in the words they were trained on: the page as it is, no goal, no address. A line of a page that reads like
a head of the layout is broken (`guard`).
"""

import json
from collections.abc import Sequence
from dataclasses import MISSING, fields

from dynaweb.contracts import ChatMessage
from dynaweb.prompts.guard import guard
from dynaweb.records.action import Action, action_name

SYSTEM = (
    "You are a web world model. I will provide you with an initial page state and a sequence of actions. "
    "For each action, predict the resulting page state.\n"
    "Strictly maintain the original format. Output only the full page state without explanations, code, or truncation."
)
NEXT = "Next Page State:"
CONTINUE = "Continue the trajectory. Given the previous state, predict the next page state after this action."
MARKERS = ("Initial Page State:", "First Action:", "Action:", NEXT, "Continue the trajectory")
"""Heads of sections: no line of a page begins like them, and a reply that writes one goes on with a turn that nobody asked for."""
STOP = ("\nContinue the trajectory", "\nInitial Page State:", "\nNext Page State:")
"""Where a reply that goes on by itself is ended."""

_BIDS = frozenset({"bid", "from_bid", "to_bid"})


def render_webworld(states: Sequence[str], actions: Sequence[str]) -> tuple[ChatMessage, ...]:
    """A conversation whose last turn asks for the page after the last action.

    Args:
        states: pages, the present one last; at least one.
        actions: what was done on each, the action to imagine last (`webworld_action`); as many.
    """
    shown = [guard(s, MARKERS) for s in states]
    said = [guard(a) for a in actions]
    first = f"Initial Page State:\n{shown[0]}\n\nFirst Action: '{said[0]}'\n\n{NEXT}"
    messages = [
        ChatMessage(role="system", content=SYSTEM),
        ChatMessage(role="user", content=first),
    ]
    for state, action in zip(shown[1:], said[1:], strict=True):
        messages.append(ChatMessage(role="assistant", content=state))
        messages.append(
            ChatMessage(role="user", content=f"{CONTINUE}\n\nAction: '{action}'\n\n{NEXT}")
        )
    return tuple(messages)


def webworld_action(action: Action) -> str:
    """An action as WebWorld's data spells it: `click([32])`, `fill([19], "weather today")`.

    The cards show these two; how other arguments are spelt follows from them (*unverified*).
    """
    parts: list[str] = []
    skipped = False
    for f in fields(action):
        value = getattr(action, f.name)
        if f.default is not MISSING and value == f.default:
            skipped = True
            continue
        shown = f"[{value}]" if f.name in _BIDS else _literal(value)
        parts.append(f"{f.name}={shown}" if skipped else shown)
    return f"{action_name(type(action))}({', '.join(parts)})"


def _literal(value: object) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    return json.dumps(value, ensure_ascii=False)
