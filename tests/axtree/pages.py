"""Random pages and pairs of pages, from plausible to hostile."""

from dataclasses import replace

from hypothesis import strategies as st

from dynaweb.axtree.tree import Node, render_tree
from dynaweb.records.action import Click, Fill, Noop, SelectOption
from dynaweb.records.observation import Observation, Tab

words = st.sampled_from(
    [
        "",
        "Ok",
        "Cancel",
        "Submit order",
        "it's",
        'a "b"',
        "l1\nl2",
        "ü 日本 🙂",
        "$t",
        "$$5",
        "\t",
        "\ud800",
        "bob",
    ]
)
roles = st.sampled_from(
    ["button", "textbox", "generic", "checkbox", "listitem", "option", "combobox"]
)
values = st.one_of(
    st.none(),
    words,
    st.booleans(),
    st.integers(-5, 999),
    st.sampled_from([0.5, 1e30, "true", "false"]),
)
attrs = st.dictionaries(
    st.sampled_from(["checked", "value", "disabled", "level", "data-x", "focused"]),
    values,
    max_size=3,
)


@st.composite
def lines(draw, depth: int = 4):
    kind = draw(st.integers(0, 9))
    level = draw(st.integers(0, depth))
    if kind == 0:
        raw = draw(
            st.sampled_from(
                [
                    "",
                    "???",
                    "[x",
                    "[7] button 'a' 'b'",
                    "StaticText unquoted",
                    "button 'a', a, a",
                    "end of \r file",
                ]
            )
        )
        return Node(level, None, "", raw)
    if kind <= 3:
        return Node(level, None, "StaticText", draw(words))
    bid = draw(
        st.one_of(st.none(), st.integers(1, 30).map(str), st.sampled_from(["a1", "b", "root"]))
    )
    return Node(
        level, bid, draw(roles), draw(st.one_of(st.none(), words)), tuple(draw(attrs).items())
    )


root = st.builds(lambda name: Node(0, None, "RootWebArea", name), words)
trees = st.builds(lambda r, ls: (r, *ls), root, st.lists(lines(), max_size=14))
wild_trees = st.lists(lines(), min_size=1, max_size=14).map(tuple)


@st.composite
def edits(draw, tree):
    """The tree after a few random edits: lines dropped, added, changed, moved, renumbered."""
    nodes = list(tree)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(nodes)))
        match draw(st.integers(0, 6)):
            case 0:
                nodes.insert(at, draw(lines()))
            case 1 if len(nodes) > 1:
                del nodes[at : at + draw(st.integers(1, 3))]
            case 2 if at < len(nodes) and nodes[at].role:
                nodes[at] = nodes[at]._replace(
                    name=draw(st.one_of(st.none(), words)),
                    attrs=tuple(draw(attrs).items()),
                )
            case 3:
                size = draw(st.integers(1, 4))
                block = nodes[at : at + size]
                del nodes[at : at + size]
                to = draw(st.integers(0, len(nodes)))
                nodes[to:to] = block
            case 4:
                by = draw(st.integers(1, 40))
                nodes = [
                    n._replace(bid=str(int(n.bid) + by)) if n.bid and n.bid.isdigit() else n
                    for n in nodes
                ]
            case 5 if at < len(nodes):
                nodes[at] = nodes[at]._replace(
                    depth=max(0, nodes[at].depth + draw(st.sampled_from([-1, 1])))
                )
            case 6 if at < len(nodes) and nodes[at].role:
                nodes[at] = nodes[at]._replace(role=draw(roles))
            case _:
                pass
    return tuple(nodes) or tree


tabs = st.lists(
    st.builds(Tab, url=st.sampled_from(["http://a", "http://b#x"]), title=words), max_size=2
).map(tuple)
focus = st.one_of(st.none(), st.sampled_from(["1", "7", "a1", "99"]))


@st.composite
def observations(draw, tree):
    return Observation(
        url=draw(st.sampled_from(["http://a", "http://a#s", "http://b"])),
        title=draw(words),
        tree=render_tree(tree),
        tabs=draw(tabs),
        active_tab=draw(st.integers(0, 1)),
        scroll=(0, draw(st.sampled_from([0, 300]))),
        focused=draw(focus),
        last_action_error=draw(st.sampled_from(["", "no element with bid '3' on this page"])),
    )


@st.composite
def pairs(draw):
    """A page and the next: edited, or unrelated."""
    tree = draw(st.one_of(trees, wild_trees))
    after = draw(st.one_of(edits(tree), edits(tree), trees, wild_trees))
    one = draw(observations(tree))
    two = draw(observations(after))
    if draw(st.booleans()):
        two = replace(
            one,
            tree=two.tree,
            focused=draw(st.sampled_from([one.focused, two.focused])),
            last_action_error=two.last_action_error,
        )
    return one, two


actions = st.one_of(
    st.builds(Click, st.integers(1, 30).map(str)),
    st.builds(Fill, st.integers(1, 30).map(str), words),
    st.builds(SelectOption, st.just("3"), st.lists(words, max_size=2).map(tuple)),
    st.just(Noop()),
)
