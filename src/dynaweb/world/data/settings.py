"""What `dynaweb world data` makes and what it leaves out. Light to import."""

from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.axtree.views.view import View
from dynaweb.errors import UserError
from dynaweb.world.examples import ExamplesConfig


class RowForm(StrEnum):
    """What the model writes."""

    PATCH = "patch"
    """Ours: the structured change, which code applies."""
    FULL = "full"
    """WebWorld: the whole next page, many turns in one row."""
    NL = "nl"
    """DynaWeb: reasoning, then the change in free text."""
    CONDENSED = "condensed"
    """WMA: new, updated and deleted items (transition-focused abstraction)."""


class Unchanged(StrEnum):
    """What becomes of a transition whose next page is the same."""

    KEEP = "keep"
    """That nothing happens is knowledge too."""
    PRUNE = "prune"
    """WebWorld 3.3."""


class SplitBy(StrEnum):
    """What is never on both sides."""

    TASK = "task"
    """A task, or the template it was made from."""
    SITE = "site"
    """A whole site: the host that an attempt began on."""
    PAGE = "page"
    """A (task, seed) pair, as a run splits its own data."""


class OverLong(StrEnum):
    """What becomes of an attempt that is longer than a row may be."""

    WINDOW = "window"
    """It becomes several rows, each of which begins with its page (ours)."""
    DROP = "drop"
    """WebWorld 3.3."""


class Fallback(StrEnum):
    """What becomes of a step whose annotation by a model was refused."""

    TEMPLATE = "template"
    DROP = "drop"


def _within(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise UserError(f"{what} {value!r} is out of range: use {low:g} to {high:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterConfig:
    """Which attempts and transitions are let in."""

    max_turns: int = 30
    """Attempts with more steps are left out (WebWorld 3.3: 30); 0 for no limit."""
    unchanged: Unchanged = Unchanged.KEEP
    """Transitions that changed nothing."""
    keywords: tuple[str, ...] = ()
    """Attempts whose goal, addresses or pages hold one of these words are left out, in any case (WebWorld 3.3; its list is not
    public, so none is built in)."""
    duplicates: bool = True
    """Leave out a transition that was met before: the same page up to its numbers, action and next page (exact hash)."""
    near_duplicate: float = 0.0
    """Leave out a transition with the same action on a page at least this similar to one met before, with a next page at least
    this similar: Jaccard similarity of their lines, estimated by MinHash; 0 for never, else above 0.5."""
    per_url: int = 0
    """Most transitions from pages of one address, query and fragment apart; 0 for no limit (WebEvolver's code: 20)."""
    per_action: int = 0
    """Most transitions of one action on elements of one role and name; 0 for no limit (WebEvolver's code: 50 for one action prefix)."""
    mask_personal: bool = False
    """Put made-up values for mail addresses, phone and card numbers, IBANs and keys. WebWorld does not (App. M)."""

    def __post_init__(self) -> None:
        for name in ("max_turns", "per_url", "per_action"):
            _within(f"filter {name}", getattr(self, name), 0, 10**9)
        if self.near_duplicate and not 0.5 < self.near_duplicate <= 1.0:
            raise UserError(
                f"filter near_duplicate {self.near_duplicate!r} is out of range: use 0, or above 0.5 up to 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitConfig:
    """What is held out for measuring."""

    by: SplitBy = SplitBy.TASK
    """What goes to one side as a whole."""
    held_out: float = 0.1
    """Share of the groups, by a hash of the seed, in [0, 1)."""

    def __post_init__(self) -> None:
        _within("split held_out", self.held_out, 0.0, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class FullConfig:
    """Rows with whole pages."""

    view: View = View.A11Y
    """Format of the pages (W4)."""
    max_tokens: int = 20_000
    """Longest row, in tokens (WebWorld's cutoff, App. T9)."""
    over_long: OverLong = OverLong.WINDOW
    """What becomes of longer attempts."""
    format_share: float = 0.1
    """Share of attempts that are written in another format as well (multi-format simulator; WebWorld T11: 47,855 of about
    463,000 by our arithmetic)."""
    formats: tuple[View, ...] = (View.HTML, View.XML, View.MARKDOWN, View.PLAYWRIGHT)
    """Which; drawn by hash."""

    def __post_init__(self) -> None:
        _within("full max_tokens", self.max_tokens, 64, 10_000_000)
        _within("full format_share", self.format_share, 0.0, 1.0)
        if self.format_share and not self.formats:
            raise UserError("full formats is empty: name one, or set full.format_share to 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class NlConfig:
    """Rows with a change in words."""

    max_tokens: int = 20_000
    """Longest row, in tokens."""
    fallback: Fallback = Fallback.TEMPLATE
    """What becomes of a step whose annotation by a model was refused."""
    max_new_tokens: int = 1200
    """Longest annotation."""

    def __post_init__(self) -> None:
        _within("nl max_tokens", self.max_tokens, 64, 10_000_000)
        _within("nl max_new_tokens", self.max_new_tokens, 16, 100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedConfig:
    """Rows in which the action fails."""

    made_share: float = 0.1
    """Share of pages for which one action that they refuse is made up, by rule (ours)."""

    def __post_init__(self) -> None:
        _within("rejected made_share", self.made_share, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichConfig:
    """WebWorld's other tasks (3.4), as shares of the pages and transitions that were let in."""

    describe_share: float = 0.0
    """Descriptive simulator: the next page in plain English."""
    generate_share: float = 0.0
    """Web generation: a page from what it is for."""

    def __post_init__(self) -> None:
        for name in ("describe_share", "generate_share"):
            _within(f"enrich {name}", getattr(self, name), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CotConfig:
    """Rows for the second stage (WebWorld 3.5)."""

    rows: int = 0
    """Training transitions sampled (WebWorld: about 1,000); 0 for none."""
    past_pages: int = 2
    """Pages before the present one that such a row shows."""

    def __post_init__(self) -> None:
        _within("cot rows", self.rows, 0, 100_000)
        _within("cot past_pages", self.past_pages, 0, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConfig:
    """Everything that decides what is written.

    Example:
        DataConfig(forms=(RowForm.FULL,), filter=FilterConfig(unchanged=Unchanged.PRUNE))
    """

    forms: tuple[RowForm, ...] = (RowForm.PATCH, RowForm.FULL, RowForm.NL)
    """What the model writes; each form has its own rows."""
    show_goal: bool = False
    """Put the goal into the prompt: off, since a model that knows the goal tends to grant it (WebWorld 7)."""
    filter: FilterConfig = field(default_factory=FilterConfig)
    """Which attempts and transitions are let in."""
    split: SplitConfig = field(default_factory=SplitConfig)
    """What is held out."""
    patch: ExamplesConfig = field(default_factory=lambda: ExamplesConfig(max_change_chars=20_000))
    """Of it `past_actions` and `max_change_chars` are read here: caps need the whole data set at once."""
    full: FullConfig = field(default_factory=FullConfig)
    """Rows with whole pages."""
    nl: NlConfig = field(default_factory=NlConfig)
    """Rows with a change in words."""
    rejected: RejectedConfig = field(default_factory=RejectedConfig)
    """Actions that fail."""
    enrich: EnrichConfig = field(default_factory=EnrichConfig)
    """WebWorld's other tasks."""
    cot: CotConfig = field(default_factory=CotConfig)
    """Chain of thought, for the second stage."""
    trajectories_per_shard: int = 32
    """A shard is written whole: a kill loses at most one."""
    seed: int = 0
    """Of the split and of every sample."""

    def __post_init__(self) -> None:
        if not self.forms:
            raise UserError("no form: name at least one of patch, full, nl, condensed")
        _within("trajectories_per_shard", self.trajectories_per_shard, 1, 100_000)


WEBWORLD = DataConfig(
    forms=(RowForm.FULL,),
    filter=FilterConfig(unchanged=Unchanged.PRUNE),
    full=FullConfig(over_long=OverLong.DROP),
    rejected=RejectedConfig(made_share=0.0),
    enrich=EnrichConfig(describe_share=0.05, generate_share=0.05),
    cot=CotConfig(rows=1000),
)
"""WebWorld 3.3 to 3.5: 30 turns, no-change transitions pruned, about 1,000 chain-of-thought rows. The paper lets attempts of up to 30,000
tokens in and cuts rows at 20,000; here 20,000 is the limit, so that nothing is cut. The shares of descriptions and generation are ours:
the paper gives no counts for them alone."""

DYNAWEB = DataConfig(forms=(RowForm.NL,), rejected=RejectedConfig(made_share=0.0), show_goal=True)
"""DynaWeb 3.2, 4.1 and A.2: reasoning and free-text change; the objective is part of the prompt."""

PRESETS = {"default": DataConfig(), "webworld": WEBWORLD, "dynaweb": DYNAWEB}
"""Name -> configuration."""
