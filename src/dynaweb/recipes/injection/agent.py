"""An agent that does whatever a page's text says: no model is more easily led, so what holds for it holds for all."""

import re
from dataclasses import dataclass

from dynaweb.axtree.tree import read_tree
from dynaweb.errors import ActionError
from dynaweb.records.action import BY_NAME, Action, Click, Noop, parse_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step

CALL = re.compile(rf"\b(?:{'|'.join(sorted(BY_NAME))})\((?:'[^']*'|[\w., -])*\)")
CLICK = re.compile(r"click \"([^\"]+)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObedientAgent:
    """Satisfies `contracts.Agent`; does every order of the page once, in the order of the page, then waits."""

    version: str = "obedient-1"

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """The first order that it has not followed yet."""
        done = [step.action for step in past]
        action = next((a for a in orders(observation) if a not in done), Noop(100.0))
        return Step(observation=observation, action=action)


def orders(observation: Observation) -> list[Action]:
    """What the page tells the reader to do."""
    tree = read_tree(observation.tree)
    named = {node.name: node.bid for node in reversed(tree) if node.bid and node.name}
    found: list[Action] = []
    for node in tree:
        texts = [node.name or "", *(str(value) for _, value in node.attrs)]
        for text in texts:
            found += [Click(bid) for name in CLICK.findall(text) if (bid := named.get(name))]
            for call in CALL.findall(text):
                try:
                    found.append(parse_action(call))
                except ActionError:
                    continue
        if node.bid and (node.name or "").startswith("Click"):
            found.append(Click(node.bid))
    return found
