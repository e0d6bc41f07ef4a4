"""Actions that fail: where they were recorded, and on recorded pages where a rule is certain (papers F2).

Recorded: the browser refused the action and the page stayed; or the page itself refused what was sent, which shows as a new message
of a form (wrong password, required field left empty). Made: an action that the validity gate refuses, since the browser
refuses it in the same words: something disabled, missing, not editable, or an option that is not there. A page that refuses by its own scripts is
never made up.
"""

import re
from dataclasses import replace

from dynaweb.axtree.gate import SELECT_ROLES, check_action
from dynaweb.axtree.items import changed_items
from dynaweb.axtree.place import next_bid
from dynaweb.axtree.same import same_page
from dynaweb.axtree.tree import Node, find_element, read_line, read_tree
from dynaweb.records.action import Action, Click, Fill, Press, SelectOption
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Fault
from dynaweb.world.shown import as_shown
from dynaweb.world.steps import Known

_ALERT_ROLES = frozenset({"alert", "alertdialog", "status"})
_TEXT_ROLES = frozenset({"StaticText", "generic", "paragraph", "listitem"})
MAX_COMPLAINT_CHARS = 120
"""A longer text that no role marks as a message is an article, a review or a log."""
_COMPLAINT = re.compile(
    r"\b(?:invalid|incorrect|not correct|wrong (?:user|password|login)|is required|required (?:field|entry)|must not be empty"
    r"|can(?:'|no)t be (?:blank|empty)|please (?:enter|fill|select|provide)|does not match|do not match|already (?:taken|exists)"
    r"|did not sign in correctly|bad credentials)\b",
    re.IGNORECASE,
)
MADE_TEXT = "hello"
"""What a made-up action types."""
MADE_OPTION = "Other"
"""What it chooses; not where the page has it."""
_NO_FIELDS = frozenset({"button", "link", "heading", "image"})


def changed_nothing(known: Known) -> bool:
    """The next page shows an agent the same, its error apart, and the episode goes on."""
    page, after = known.history[-1], known.next_page
    if known.terminal or page.tree.count("\n") != after.tree.count("\n"):
        return False
    one, other = as_shown(page, page), as_shown(after, page)
    return same_page(replace(one, last_action_error=""), replace(other, last_action_error=""))


def rejection_of(known: Known) -> str:
    """Why a recorded action failed: the browser's fault class, or `form` for a form's complaint; empty when it did not."""
    if known.terminal:
        return ""
    if changed_nothing(known):
        refused = check_action(known.history[-1], known.action)
        if known.fault is not None:
            return known.fault.value
        return refused[0].value if refused is not None else ""
    return "form" if _sends(known) and _complains(known) else ""


def _complains(known: Known) -> bool:
    """A message of a form is new, and the page is the same one."""
    items = changed_items(known.history[-1], known.next_page)
    if items.whole:
        return False
    for line in (*items.new, *items.updated):
        node = read_line(line)
        said = node.name or ""
        loud = node.role in _ALERT_ROLES
        quiet = node.role in _TEXT_ROLES and len(said) <= MAX_COMPLAINT_CHARS
        if (loud or quiet) and _COMPLAINT.search(said):
            return True
        if line in items.updated and node.attr("invalid") in (True, "true"):
            return True
    return False


def _sends(known: Known) -> bool:
    """The action may send a form: a click on a button, or a key."""
    if isinstance(known.action, Press):
        return True
    if not isinstance(known.action, Click):
        return False
    tree = read_tree(known.history[-1].tree)
    at = find_element(tree, known.action.bid)
    return at is not None and tree[at].role == "button"


def made_refusal(page: Observation, seed: int) -> tuple[Action, Fault, str] | None:
    """An action that this page refuses for certain, drawn by the seed, with its fault and message; None when there is none."""
    tree = read_tree(page.tree)
    kinds: dict[str, list[Action]] = {"missing": [Click(str(next_bid(tree)))]}
    for node in tree:
        if node.bid is not None and (found := _try(node)) is not None:
            kinds.setdefault(found[0], []).append(found[1])
    # a kind first, then an element of it: disabled ones are few among the many that merely take no text
    for name in sorted(kinds, key=lambda k: derive_seed(seed, "kind", k)):
        action = kinds[name][derive_seed(seed, "element", name) % len(kinds[name])]
        refused = check_action(page, action)
        if refused is not None:
            return action, *refused
    return None


def _try(node: Node) -> tuple[str, Action] | None:
    """What an element would refuse, under a name for its kind."""
    assert node.bid is not None
    if node.attr("disabled") is True:
        return "disabled", Click(node.bid)
    if node.attr("readonly") is True:
        return "readonly", Fill(node.bid, MADE_TEXT)
    if node.role in SELECT_ROLES:
        return "option", SelectOption(node.bid, (MADE_OPTION,))
    return ("not editable", Fill(node.bid, MADE_TEXT)) if node.role in _NO_FIELDS else None
