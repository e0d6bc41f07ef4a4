"""Whether an annotation says what really happened, as far as code can tell: else why it is refused.

Refused: what names an element or a text that neither page has, what says nothing changed although something did or the other way
round, what names nothing, and reasoning that gives away that the next page was shown.
"""

import re

from dynaweb.axtree.tree import read_tree
from dynaweb.prompts.annotate import Annotation
from dynaweb.prompts.change import ENDED, NOTHING
from dynaweb.records.action import Action, print_action
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation

_BID = re.compile(r"\[([A-Za-z0-9]{1,12})\]")
_QUOTED = re.compile(r"(?<![\w'])'([^'\n]{2,200})'(?![\w'])|\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”")
_NOTHING = re.compile(
    r"\W*(?:nothing(?: (?:visible|else|really))?(?: (?:has |is )?(?:chang|happen|differ)\w*)?|none|n/?a|no (?:visible |observable )?changes?"
    r"|the page (?:stays|remains|is) (?:the same|unchanged|as it (?:is|was)))(?: (?:on|to|in) (?:the|this) page)?\W*",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\bas an ai\b|\blanguage model\b|\bi(?:'m| am) sorry\b|\bi cannot\b", re.IGNORECASE
)
_LEAK = re.compile(
    r"\b(?:next|resulting|following) page (?:shown|given|provided|above|below)|\b(?:was|were|am|is) shown the next page"
    r"|\bground truth\b|\b(?:shown|given|listed) (?:in|as) the difference\b|<(?:next_page|difference)",
    re.IGNORECASE,
)


def refuse(
    annotation: Annotation,
    page: Observation,
    action: Action,
    next_page: Observation,
    kind: DeltaKind,
) -> str:
    """Why the annotation is not true of this transition; empty when nothing speaks against it.

    Args:
        annotation: what was written.
        page: the page before.
        action: what was done; texts that it holds may be quoted.
        next_page: what really came.
        kind: how much really changed.
    """
    said = annotation.changes
    if not annotation.reasoning:
        return "no_reasoning"
    if _ROLE.search(f"{annotation.reasoning}\n{said}"):
        return "speaks_of_itself"
    if _LEAK.search(annotation.reasoning):
        return "reasoning_knows_the_next_page"
    says_nothing = not said or said == NOTHING or bool(_NOTHING.fullmatch(said))
    if kind is DeltaKind.TERMINAL:
        return "" if said.startswith(ENDED.rstrip(".")) else "does_not_end_the_episode"
    if kind is DeltaKind.NONE:
        return "" if says_nothing and said else "invents_a_change"
    if says_nothing:
        return "says_nothing_changed"
    return _unknown_names(said, page, action, next_page)


def _unknown_names(said: str, page: Observation, action: Action, next_page: Observation) -> str:
    known = _folded("\n".join((_text(page), _text(next_page), print_action(action))))
    # an element's number stands in its line as [12]; so do brackets that a page's text has itself
    named = _BID.findall(said)
    if any(f"[{bid.lower()}]" not in known for bid in named):
        return "names_an_element_of_neither_page"
    quoted = [next(part for part in found if part) for found in _QUOTED.findall(said)]
    if any(_folded(text.rstrip(".,…")) not in known for text in quoted):
        return "quotes_a_text_of_neither_page"
    return "" if named or quoted else "names_nothing"


def _text(page: Observation) -> str:
    """All that a page says, values and states too, with the dialect's escapes and without."""
    said = [page.url, page.title, page.last_action_error, page.tree]
    for node in read_tree(page.tree):
        said += [node.role, node.name or ""]
        said += [f"{key} {value}" for key, value in node.attrs]
    return "\n".join(said)


def _folded(text: str) -> str:
    return " ".join(text.split()).lower()
