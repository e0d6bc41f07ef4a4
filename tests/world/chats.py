"""Chat models that answer by a function, and pages with plausible next pages."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from dynaweb.axtree.tree import Node, Tree, render_tree
from dynaweb.contracts import ChatReply, ChatRequest, Imagine
from dynaweb.records.action import Action, Hover
from dynaweb.records.observation import Observation, Tab

Answer = str | ChatReply


class ScriptedChat:
    """Answers by a function of the request; keeps what it was asked."""

    version = "scripted-1"

    def __init__(
        self, answer: Answer | Callable[[ChatRequest], Answer], logprob: float | None = -0.2
    ) -> None:
        self._answer = answer if callable(answer) else (lambda _r: answer)
        self._logprob = logprob
        self.asked: list[ChatRequest] = []
        self.batches: list[int] = []

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.batches.append(len(requests))
        self.asked += requests
        return [self._reply(r) for r in requests]

    def _reply(self, request: ChatRequest) -> ChatReply:
        answer = self._answer(request)
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(text=answer, finish="stop", model="scripted", mean_logprob=self._logprob)


def words_of(request: ChatRequest) -> str:
    """All that a request says."""
    return "\n".join(m.content for m in request.messages)


def failed(error: str = "connection refused") -> ChatReply:
    return ChatReply(text="", finish="error", model="scripted", error=error)


def cut(text: str) -> ChatReply:
    return ChatReply(text=text, finish="length", model="scripted")


def page_of(tree: Tree, focused: str | None = None) -> Observation:
    url = "http://shop/list"
    title = tree[0].name or ""
    return Observation(
        url=url,
        title=title,
        tree=render_tree(tree),
        tabs=(Tab(url=url, title=title),),
        focused=focused,
    )


def ask(page: Observation, action: Action, *, seed: int = 0, goal: str | None = None) -> Imagine:
    return Imagine(history=(page,), action=action, seed=seed, goal=goal)


NAMES = st.sampled_from(
    [
        "Ok",
        "Cancel",
        "it's",
        'say "x"',
        "l1\nl2",
        "ü 日本",
        "Total: 5 €",
        "Save",
        "<|im_end|>",
        "a & b",
        "",
    ]
)
ACTED = st.sampled_from(["button", "textbox", "checkbox", "link", "option", "combobox"])
STATES = st.sampled_from(
    [
        (),
        (("checked", "true"),),
        (("disabled", None),),
        (("value", "bob"),),
        (("level", 2), ("expanded", "false")),
    ]
)


@st.composite
def elements(draw: st.DrawFn, depth: int) -> Node:
    """A line without its bid: text and wrappers have none, what one acts on has."""
    role = draw(st.one_of(ACTED, st.sampled_from(["StaticText", "generic", "heading"])))
    name = draw(NAMES)
    return Node(
        depth,
        "?" if role in ("button", "textbox", "checkbox", "link", "option", "combobox") else None,
        role,
        name,
        draw(STATES),
    )


def numbered(nodes: Sequence[Node], first: int = 1) -> Tree:
    """Bids for the lines that have none yet."""
    taken = {n.bid for n in nodes}
    free = (str(i) for i in range(first, 10_000) if str(i) not in taken)
    return tuple(n._replace(bid=next(free)) if n.bid == "?" else n for n in nodes)


@st.composite
def plain_trees(draw: st.DrawFn) -> Tree:
    nodes, depth = [Node(0, None, "RootWebArea", "Shop")], 1
    for _ in range(draw(st.integers(1, 12))):
        node = draw(elements(depth))
        nodes.append(node)
        depth = draw(st.integers(1, node.depth + 1))
    return numbered(nodes)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Observation, Action, Observation]:
    """A page, an action that no rule knows anything of, and what came of it."""
    tree = draw(plain_trees())
    after = list(tree)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(1, len(after)))
        match draw(st.integers(0, 3)):
            case 0:
                above = after[at - 1].depth
                after.insert(at, draw(elements(draw(st.integers(1, above + 1)))))
            case 1 if len(after) > 1 and at < len(after):
                depth = after[at].depth
                end = at + 1
                while end < len(after) and after[end].depth > depth:
                    end += 1
                del after[at:end]
            case 2 if at < len(after):
                after[at] = after[at]._replace(name=draw(NAMES))
            case 3 if at < len(after):
                after[at] = after[at]._replace(attrs=draw(STATES))
            case _:
                pass
    bids = [n.bid for n in tree if n.bid is not None]
    action = Hover(draw(st.sampled_from(bids))) if bids else Hover("none")
    return page_of(tree), action, page_of(numbered(_deep(after), 500))


def _deep(nodes: Sequence[Node]) -> list[Node]:
    """No line more than one level below the line above it."""
    out: list[Node] = []
    for node in nodes:
        most = out[-1].depth + 1 if out else 0
        out.append(node._replace(depth=min(node.depth, most)))
    return out
