"""What makes two transitions the same, and how alike two are.

Exact: a hash of page and action, numbers of elements counted anew, so that a page that was only renumbered is the same. Near:
MinHash (package `rensa`, extra `data`) over the lines of both pages, compared only between transitions of the same action.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import urldefrag, urlsplit

from dynaweb.axtree.label import label_action
from dynaweb.axtree.same import canonical
from dynaweb.axtree.tree import find_element, read_tree, render_node
from dynaweb.errors import MissingDependencyError
from dynaweb.records.action import Action, action_name, print_action, target_bids, with_bids
from dynaweb.records.observation import Observation

PERMUTATIONS = 128
"""Hash functions of a sketch: the error of an estimate is about 1/sqrt(128) = 0.09."""
BAND = 8
"""Rows of a band: two pages that are 0.9 alike share a band with probability above 0.999, 0.5 alike with 0.06."""
SKETCH_SEED = 1


def question_key(page: Observation, action: Action) -> str:
    """Sixteen hexadecimal digits of page and action: what a world model is asked."""
    return _digest(urldefrag(page.url).url, _canonical(page.tree), _numbered(page, action))


def answer_key(page: Observation) -> str:
    """The same of a next page."""
    return _digest(page.url, _canonical(page.tree), page.last_action_error)


@lru_cache(maxsize=8)
def _canonical(tree: str) -> str:
    """The tree with its numbers counted anew; a page comes several times, as next page and as page."""
    return canonical(Observation(url="", title="", tree=tree)).tree


def labelled(action: Action, page: Observation) -> str:
    """`label_action`, remembered: a page and what was done on it are told again with each later step."""
    return _labelled(action, page.tree)


@lru_cache(maxsize=256)
def _labelled(action: Action, tree: str) -> str:
    return label_action(action, Observation(url="", title="", tree=tree))


def action_key(page: Observation, action: Action) -> str:
    """Action, role and name of its element, without what was typed: WebEvolver's action prefix, read by us."""
    return labelled(action, page).replace(print_action(action), action_name(type(action)))


def address(page: Observation) -> str:
    """The address without query and fragment."""
    parts = urlsplit(urldefrag(page.url).url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else page.url


def _numbered(page: Observation, action: Action) -> str:
    """The action with places on the page instead of bids."""
    bids = target_bids(action)
    if not bids:
        return print_action(action)
    tree = read_tree(page.tree)
    places = [find_element(tree, bid) for bid in bids]
    return print_action(with_bids(action, ["missing" if p is None else str(p) for p in places]))


def _digest(*parts: str) -> str:
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()


def shingles(page: Observation) -> set[str]:
    """The lines of a page, without depth and number."""
    return {render_node(n._replace(bid=None, depth=0)) for n in read_tree(page.tree)}


@dataclass(frozen=True, slots=True)
class Sketch:
    """A page and its next page, small."""

    page: tuple[int, ...]
    next_page: tuple[int, ...]

    def likeness(self, other: "Sketch") -> float:
        """The lower of the two pages' estimated Jaccard similarities, in [0, 1]."""
        return min(_likeness(self.page, other.page), _likeness(self.next_page, other.next_page))


def _likeness(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / PERMUTATIONS


class Sketcher:
    """Makes sketches; pages come twice, as next page and as page, so the last one is remembered."""

    def __init__(self) -> None:
        """Load the package.

        Raises:
            MissingDependencyError: it is not there.
        """
        try:
            from rensa import RMinHash  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                "near-duplicates need the package 'rensa': pip install 'dynaweb[data]'"
            ) from error
        self._make = RMinHash
        self._last: tuple[Observation, tuple[int, ...]] | None = None

    def sketch(self, page: Observation, next_page: Observation) -> Sketch:
        """The sketch of a transition."""
        return Sketch(self._one(page), self._one(next_page))

    def _one(self, page: Observation) -> tuple[int, ...]:
        if self._last is not None and self._last[0] is page:
            return self._last[1]
        made = self._make(num_perm=PERMUTATIONS, seed=SKETCH_SEED)
        # half of a surrogate pair has no UTF-8, which the package takes
        lines = [s.encode("utf-8", "replace").decode("utf-8") for s in sorted(shingles(page))]
        made.update(lines)
        digest = tuple(made.digest())
        self._last = (page, digest)
        return digest


class Neighbours:
    """Transitions met so far, to be found again by likeness: about 1.2 kB of memory each, whatever their pages hold."""

    def __init__(self) -> None:
        self._bands: dict[tuple[object, ...], list[int]] = defaultdict(list)
        self._held: list[tuple[Sketch, str]] = []

    def add(self, action: str, sketch: Sketch, name: str) -> None:
        """Remember a transition."""
        for band in _bands(action, sketch):
            self._bands[band].append(len(self._held))
        self._held.append((sketch, name))

    def nearest(self, action: str, sketch: Sketch) -> tuple[float, str]:
        """The most alike transition of the same action, and how alike it is; 0 and no name when none shares a band."""
        found = {i for band in _bands(action, sketch) for i in self._bands.get(band, ())}
        likes = [(sketch.likeness(self._held[i][0]), self._held[i][1]) for i in found]
        return max(likes, default=(0.0, ""))


def _bands(action: str, sketch: Sketch) -> list[tuple[object, ...]]:
    return [(action, at, hash(sketch.page[at : at + BAND])) for at in range(0, PERMUTATIONS, BAND)]
