"""A page as Markdown, for models that read prose. One way only: what Markdown has no sign for is said in words or left out.

Kept: every name and text in order, bids of elements one can act on, values and states. Left out: wrappers that say nothing, and
text that only repeats the element it stands in.
"""

from dynaweb.axtree.tree import Node, Tree

WRAPPERS = frozenset(
    {"generic", "none", "group", "list", "table", "rowgroup", "row", "RootWebArea"}
)
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>#|"})


def write_markdown(tree: Tree) -> str:
    """The page as Markdown."""
    lines: list[str] = []
    above: list[Node] = []
    bullet = ""
    """A list item without a name, which the next line stands in."""
    for node in tree:
        while above and above[-1].depth >= node.depth:
            above.pop()
        line = "" if _repeats(node, above) else _line(node)
        indent = "  " * sum(1 for n in above if n.role == "listitem")
        if line == "-":
            bullet = f"{indent}- "
        elif line:
            lines.append((bullet or indent) + line)
            bullet = ""
        above.append(node)
    return "\n".join(lines)


def _repeats(node: Node, above: list[Node]) -> bool:
    """A text that the element around it is named by."""
    return bool(node.role == "StaticText" and node.name and any(node.name == n.name for n in above))


def _line(node: Node) -> str:
    name = " ".join((node.name or "").split()).translate(_SPECIAL)
    states = "".join(
        f", {k}" if v is None else f", {k} {v}" for k, v in node.attrs if k not in ("level", "url")
    )
    if node.role in ("StaticText", ""):
        return name
    if node.role == "RootWebArea":
        return f"# {name}" if name else ""
    if node.role == "heading":
        level = node.attr("level")
        return f"{'#' * min(max(level if isinstance(level, int) else 2, 1), 6)} {name}"
    if node.role == "link":
        url = node.attr("url")
        target = f"#{node.bid}" if node.bid is not None else str(url or "")
        return f"[{name}]({target}){states}"
    if node.role == "listitem":
        return f"- {name}".rstrip()
    if node.role in WRAPPERS and not name and node.bid is None:
        return ""
    bid = f"[{node.bid}] " if node.bid is not None else ""
    return (
        f"**{bid}{node.role}** {name}{states}".rstrip()
        if name or states or node.role not in WRAPPERS
        else ""
    )
