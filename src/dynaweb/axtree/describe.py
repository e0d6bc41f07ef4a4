"""A state change in plain English, for people and for models that read prose (DynaWeb's free text)."""

from dynaweb.axtree.apply import LITERAL
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import AttrValue, Node, Tree, read_tree
from dynaweb.axtree.words import Words
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action
from dynaweb.records.delta import Content, Delta, DeltaKind, Moved, New, Rewritten, Updated, Value
from dynaweb.records.observation import Observation

MAX_SENTENCES = 40
"""A longer change is cut, and says so."""

MAX_NAME_CHARS = 80


def describe_delta(
    observation: Observation, action: Action, delta: Delta, *, whole: bool = False
) -> str:
    """The change as sentences, one a line.

    Args:
        observation: the page before.
        action: what was done.
        delta: the change.
        whole: cut neither sentences nor names, for models that learn from it.

    Raises:
        DeltaError: the change speaks of something that is not on the page.
    """
    if delta.kind is DeltaKind.TERMINAL:
        return "The episode ended."
    told = _Told(read_tree(observation.tree), action, whole=whole)
    sentences = told.frame(delta) + told.changes(delta)
    if delta.error:
        sentences.append(f"The action failed: {delta.error}.")
    if len(sentences) > MAX_SENTENCES and not whole:
        sentences[MAX_SENTENCES:] = [f"And {len(sentences) - MAX_SENTENCES} more changes."]
    return "\n".join(sentences) or "Nothing changed."


class _Told:
    def __init__(self, tree: Tree, action: Action, *, whole: bool) -> None:
        self._whole = whole
        self._places = Places(tree)
        self._words = Words(self._places, action)

    def frame(self, delta: Delta) -> list[str]:
        said: list[str] = []
        if delta.kind in (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB):
            root = delta.placed[0].items[0] if delta.placed and delta.placed[0].items else None
            named = self._content(root.content) if isinstance(root, New) else "an empty page"
            where = " in a new tab" if delta.kind is DeltaKind.NEW_TAB else ""
            count = len(delta.placed[0].items) if delta.placed else 0
            said.append(f"Another page appeared{where}: {named}, {count} lines.")
        if delta.url is not None:
            said.append(f"The address is now {self._cut(delta.url)}.")
        if delta.title is not None:
            said.append(f"The title is now {self._cut(delta.title)}.")
        if delta.scroll is not None:
            said.append(f"The page is scrolled to {delta.scroll[0]}, {delta.scroll[1]}.")
        return said + self._focus(delta.focus)

    def changes(self, delta: Delta) -> list[str]:
        if delta.kind is not DeltaKind.LOCAL:
            return []
        said = [self._updated(u) for u in delta.updated]
        for d in delta.deleted:
            below = "" if d.alone else " with everything in it" if self._has_below(d.ref) else ""
            to = "" if d.to is None else f" and all that follows to {self._element(d.to)}"
            said.append(f"{self._element(d.ref)}{to} disappeared{below}.")
        for placed in delta.placed:
            for item in placed.items:
                if isinstance(item, Moved):
                    said.append(f"{self._element(item.ref)} moved.")
                else:
                    said.append(f"New: {self._content(item.content)}.")
        if delta.shifted:
            said.append(f"{len(delta.shifted)} elements lie at another depth.")
        return said

    def _focus(self, focus: str | None) -> list[str]:
        if focus is None:
            return []
        if not focus:
            return ["No element has the focus now."]
        if focus.startswith("+"):
            return ["The focus went to a new element."]
        if focus.startswith(LITERAL):
            return [f"The focus went to element {self._cut(focus[1:])}."]
        return [f"The focus went to {self._element(focus)}."]

    def _updated(self, u: Updated | Rewritten) -> str:
        if isinstance(u, Rewritten):
            return f"{self._element(u.ref)} became {self._content(u.content)}."
        parts = [] if u.name is None else [f"now says {self._cut(self._words.unfold(u.name))}"]
        parts += [
            f"is now {k}" if v is None else f"has {self._attr(k, self._value(v))}" for k, v in u.set
        ]
        parts += [
            f"is no longer {k}" if k in ("disabled", "focused") else f"lost its {k}"
            for k in u.unset
        ]
        return f"{self._element(u.ref)} {' and '.join(parts)}."

    def _value(self, value: Value) -> AttrValue:
        return self._words.unfold_value(value)

    def _node(self, ref: str) -> Node:
        at = self._places.find(ref)
        if at < 0:
            raise DeltaError(f"address {ref!r} is no element")
        return self._places.tree[at]

    def _has_below(self, ref: str) -> bool:
        at = self._places.find(ref)
        return self._places.ends[at] > at + 1

    def _element(self, ref: str) -> str:
        node = self._node(ref)
        bid = f"[{node.bid}] " if node.bid is not None else ""
        return f"{bid}{node.role or 'the line'} {self._cut(node.name or '')}"

    def _content(self, content: Content) -> str:
        if not content.role:
            return f"the line {self._cut(content.name or '')}"
        name = "" if content.name is None else f" {self._cut(self._words.unfold(content.name))}"
        attrs = "".join(f", {self._attr(k, self._value(v))}" for k, v in content.attrs)
        return f"{content.role}{name}{attrs}"

    def _attr(self, key: str, value: AttrValue) -> str:
        shown = self._cut(value) if isinstance(value, str) else value
        return key if value is None else f"{key} {shown}"

    def _cut(self, text: str) -> str:
        short = self._whole or len(text) <= MAX_NAME_CHARS
        return repr(text if short else text[: MAX_NAME_CHARS - 1] + "…")
