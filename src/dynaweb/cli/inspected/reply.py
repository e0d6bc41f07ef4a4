"""`dynaweb inspect` on a model's reply: the actions read from it, or why there are none."""

from dynaweb.agent.reply import Reply
from dynaweb.errors import ActionError
from dynaweb.records.action import parse_action, print_action
from dynaweb.records.webarena import print_webarena


def reply_facts(text: str, reply: Reply) -> dict[str, object]:
    """What there is to say about a reply, ready for JSON."""
    return {
        "kind": "reply",
        "characters": len(text),
        "thought": reply.thought,
        "actions": [print_action(a) for a in reply.actions],
        "webarena": _in_webarena(reply),
        "fault": reply.fault.value if reply.fault is not None else None,
        "problem": reply.problem,
        "odd": _odd(text, reply),
    }


def reply_summary(text: str, reply: Reply) -> list[str]:
    """The same for people, a line each."""
    said = [f"reply     {len(text)} characters, {len(reply.thought)} of them thought"]
    said += [f"action    {print_action(a)}" for a in reply.actions]
    said += [f"webarena  {line}" for line in _in_webarena(reply) or ()]
    if reply.fault is not None:
        said.append(f"refused   {reply.fault.value}: {reply.problem}")
    return said + [f"odd       {line}" for line in _odd(text, reply)]


def _odd(text: str, reply: Reply) -> list[str]:
    odd: list[str] = []
    if reply.actions and not _is_strict(text):
        odd.append("not the action alone in the strict grammar: read by the lenient reader")
    if len(reply.actions) > 1:
        odd.append(f"{len(reply.actions)} actions: a step does the first")
    return odd


def _is_strict(text: str) -> bool:
    try:
        parse_action(text.strip())
    except ActionError:
        return False
    return True


def _in_webarena(reply: Reply) -> list[str] | None:
    """The actions in WebArena's grammar; None where it has no words for them."""
    try:
        lines = print_webarena(reply.actions)
    except ActionError:
        return None
    return [line.encode("utf-8", "backslashreplace").decode() for line in lines]
