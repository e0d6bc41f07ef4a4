"""A model's words as a page: what may stand around it, what may be mended, and what is no page at all.

Nothing that was not written as a page becomes one: an empty, cut off, elided or refusing reply and one that goes on with somebody
else's turn are unusable (papers F13). What stands around a page is taken off, and said (`Mend`).
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document
from dynaweb.axtree.dialects.roles import ROLES
from dynaweb.axtree.tree import Node, Tree, read_tree
from dynaweb.axtree.views.convert import Form, read_page
from dynaweb.contracts import ChatReply
from dynaweb.errors import DeltaError, TreeError
from dynaweb.prompts.change import ENDED
from dynaweb.prompts.guard import holds_control, unguard
from dynaweb.world.flaws import Flaw, Mend, UnusableReplyError

MAX_REPLY_CHARS = 800_000
"""A longer reply is no page (ours; the longest real tree that we know has 350,000, and markup is longer)."""

MOST_STRANGE = 0.1
"""Share of lines inside a page that are no element and are left out; with more it is no page (ours)."""

ROOTS = frozenset({"RootWebArea", "WebArea"})
"""What the first line of a page is, unless the page before began otherwise."""

MARKUP = frozenset({Form.HTML, Form.XML})
OWN = frozenset({Form.DYNAWEB, Form.BROWSERGYM})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """What a reply shows."""

    tree: Tree
    """In the terms of `form`; empty when the episode ended."""
    form: Form
    mends: frozenset[Mend] = field(default_factory=frozenset)
    url: str | None = None
    """The address, where the reply says it."""
    ended: bool = False


_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(r"^```[A-Za-z0-9_-]*[ \t]*\n(.*?)\n```[ \t]*$", re.DOTALL | re.MULTILINE)
_REFUSAL = re.compile(
    r"\b(?:I(?:['’]m| am) (?:very |so |really )?sorry|I apologi[sz]e|as an? (?:AI|artificial|(?:large )?language model)|"
    r"I (?:can ?not|can['’]t|am (?:not able|unable)|['’]m (?:not able|unable)|won['’]t) (?:to )?(?:assist|help|comply|provide|simulate|predict|generate|do))",
    re.IGNORECASE,
)
_FAKE_TURN = re.compile(
    r"^[ \t*#]*(?:user|assistant|human|system|agent|action|next action|###? ?turn \d+)\b[ \t*]*(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ELISION = re.compile(
    r"^[ \t>#*(\[<!-]{0,16}(?:\.\.\.|…)|\b(?:unchanged|omitted|truncated|same as (?:before|above)|(?:rest|remainder) of the)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ADDRESS = re.compile(r"^.*\baddress is now ['\"]([^'\"\s]{1,2000})['\"]", re.MULTILINE)


def reply_text(reply: ChatReply, markers: Sequence[str] = ()) -> str:
    """The words of a reply that came whole, without thoughts before them, as they were before `guard`.

    Raises:
        UnusableReplyError: there are none, or not all.
    """
    if reply.finish == "error":
        raise UnusableReplyError(Flaw.NO_REPLY)
    if reply.finish == "length":
        raise UnusableReplyError(Flaw.TRUNCATED)
    if len(reply.text) > MAX_REPLY_CHARS:
        raise UnusableReplyError(Flaw.TOO_LONG)
    text = _THOUGHT.sub("", reply.text, count=1)
    if not text.strip():
        raise UnusableReplyError(Flaw.EMPTY)
    if re.match(r"\s*<think(?:ing)?>", text):
        raise UnusableReplyError(Flaw.TRUNCATED)
    return unguard(text, markers)


def read_reply(text: str, view: Form, before: Tree, *, block: str | None = None) -> ReadPage:
    """The page in a reply.

    Args:
        text: of `reply_text`.
        view: the format that was asked for.
        before: the page before; lines that no dialect explains may come back as they were.
        block: the tag that the page was to stand in; None where the reply is to be the page alone.

    Raises:
        UnusableReplyError: there is none.
    """
    body, reasons = _inside(text, block)
    _check_reasons(reasons)
    body, prose, mends = _unfenced(body)
    if body.strip() == ENDED:
        return ReadPage(tree=(), form=view, ended=True)
    found = _read_form(body, view, before)
    if found is None:
        raise UnusableReplyError(_flaw_of(f"{prose}\n{body}"))
    tree, form, around = found
    outside = f"{prose}\n{around}"
    _check_outside(outside)
    if outside.strip():
        mends |= {Mend.PROSE_TAKEN_OFF}
    if form is not view and not {form, view} <= OWN:
        mends |= {Mend.OTHER_FORMAT}
    kept = _without_strangers(tree, before)
    if not kept or kept[0].role not in ROOTS | {before[0].role}:
        raise UnusableReplyError(Flaw.NOT_A_PAGE)
    if len(kept) < len(tree):
        mends |= {Mend.LINES_LEFT_OUT}
    address = _ADDRESS.search(f"{reasons}\n{outside}")
    return ReadPage(
        tree=kept,
        form=form,
        mends=frozenset(mends),
        url=address.group(1) if address is not None else None,
    )


def _inside(text: str, block: str | None) -> tuple[str, str]:
    """The part of a reply between its tags, and the reasons around it."""
    if block is None:
        return text, ""
    opened = re.search(rf"^[ \t]*<{block}\b[^>\n]*>", text, re.MULTILINE)
    closed = text.rfind(f"</{block}")
    if opened is None and closed < 0:
        return text, ""
    if opened is None or closed < opened.end():
        raise UnusableReplyError(Flaw.TRUNCATED)
    rest = text[closed:].partition(">")[2]
    return text[opened.end() : closed], f"{text[: opened.start()]}\n{rest}"


def _unfenced(body: str) -> tuple[str, str, set[Mend]]:
    """Without the fence of Markdown around a page, and what stands around that."""
    fenced = _FENCED.findall(body)
    if len(fenced) != 1:
        return body.strip("\r\n"), "", set()
    return fenced[0], _FENCED.sub("", body), {Mend.FENCE_TAKEN_OFF}


def _read_form(body: str, view: Form, before: Tree) -> tuple[Tree, Form, str] | None:
    """The page, the format it is in and what stands before and after it; None when it is in none."""
    tried = [view, *(f for f in (Form.DYNAWEB, Form.HTML, Form.XML) if f is not view)]
    for form in tried:
        try:
            found = _read_markup(body, form) if form in MARKUP else _read_lines(body, form, before)
        except (TreeError, DeltaError):
            continue
        if found is not None:
            return found
    return None


def _read_markup(body: str, form: Form) -> tuple[Tree, Form, str] | None:
    first, last = body.find("<"), body.rfind(">")
    if first < 0 or last < first or holds_control(body):
        return None
    tree = read_page(body[first : last + 1], form)
    return (tree, form, f"{body[:first]}\n{body[last + 1 :]}") if tree else None


def _read_lines(body: str, form: Form, before: Tree) -> tuple[Tree, Form, str] | None:
    """A page of one element a line, in our dialect where that explains it, else in the best other one."""
    if form is not Form.DYNAWEB:
        trimmed = _trimmed(read_page(body, form), before)
        return None if trimmed is None else (trimmed[0], form, trimmed[1])
    own = _trimmed(read_tree(body), before)
    if own is not None and not own[1].strip() and not _strangers(own[0], before):
        return own[0], form, own[1]
    document = read_document(body)
    other = _trimmed(common_tree(document), before)
    if own is not None and (other is None or _real(own[0], before) >= _real(other[0], before)):
        return own[0], form, own[1]
    if other is None:
        return None
    return other[0], _form_of(document.dialect), f"{document.header}\n{other[1]}"


def _real(tree: Tree, before: Tree) -> int:
    return len(tree) - len(_strangers(tree, before))


def _form_of(dialect: Dialect) -> Form:
    return Form.PLAYWRIGHT if dialect is Dialect.ARIA_REF else Form(dialect.value)


def _trimmed(tree: Tree, before: Tree) -> tuple[Tree, str] | None:
    """Without the prose at either end, and that prose; a line that looks like a broken element is none."""
    strange = _strangers(tree, before)
    if len(strange) == len(tree):
        return None
    prose = {i for i in strange if _is_prose(tree[i])}
    page = [i for i in range(len(tree)) if i not in prose]
    first, last = page[0], page[-1] + 1
    around = [n.name or "" for n in (*tree[:first], *tree[last:])]
    return tree[first:last], "\n".join(around)


def _is_prose(line: Node) -> bool:
    text = line.name or ""
    return not text.strip() or (line.depth == 0 and text[0] not in " [<")


def _strangers(tree: Tree, before: Tree) -> Set[int]:
    """Lines that no page has: unexplained and not on the page before, or of a role that nobody knows."""
    raw = {n.name for n in before if not n.role}
    roles = {n.role for n in before}
    return {
        i
        for i, n in enumerate(tree)
        if (n.name not in raw if not n.role else n.role not in ROLES and n.role not in roles)
    }


def _without_strangers(tree: Tree, before: Tree) -> Tree:
    """The elements of a page, when nearly all its lines are elements.

    Raises:
        UnusableReplyError: too many are not, or one says that something was left out, or begins a turn.
    """
    strange = _strangers(tree, before)
    said = "\n".join(_words_of(tree[i]) for i in sorted(strange))
    _check_outside(said)
    if len([i for i in strange if _words_of(tree[i]).strip()]) > MOST_STRANGE * len(tree):
        raise UnusableReplyError(Flaw.NOT_A_PAGE)
    return tuple(n for i, n in enumerate(tree) if i not in strange)


def _words_of(node: Node) -> str:
    return (node.name or "") if not node.role else f"{node.role} {node.name or ''}"


def _check_reasons(text: str) -> None:
    """What a model says before its page, where it may reason.

    Raises:
        UnusableReplyError: it refuses, or begins a turn.
    """
    if _REFUSAL.search(text):
        raise UnusableReplyError(Flaw.REFUSAL)
    if holds_control(text):
        raise UnusableReplyError(Flaw.FAKE_TURN)


def _check_outside(text: str) -> None:
    """What stands around or between the lines of a page.

    Raises:
        UnusableReplyError: it refuses, begins a turn, or says that lines were left out.
    """
    _check_reasons(text)
    if _FAKE_TURN.search(text):
        raise UnusableReplyError(Flaw.FAKE_TURN)
    if _ELISION.search(text):
        raise UnusableReplyError(Flaw.ELIDED)


def _flaw_of(text: str) -> Flaw:
    try:
        _check_outside(text)
    except UnusableReplyError as unusable:
        return unusable.flaw
    return Flaw.NOT_A_PAGE
