"""Settings of world models that are asked in words, one class a form. Importable without torch."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from dynaweb.axtree.views.convert import ONE_WAY, Form
from dynaweb.errors import UserError
from dynaweb.prompts.lines import MAX_DONE


class Layout(StrEnum):
    """How a `full` model is asked."""

    WEBWORLD = "webworld"
    """The released WebWorld weights (`prompts.webworld`)."""
    AGENTWORLD = "qwen-agentworld"
    """Qwen-AgentWorld, and models that reason first (`prompts.agentworld`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormConfig:
    """What all forms share."""

    temperature: float = 0.0
    """0 is greedy, as WebWorld's model card has it."""
    max_new_tokens: int = 4096
    """Longest reply, in tokens (WebWorld's model card, *unverified*); a reply that is cut off is invalid."""
    max_prompt_tokens: int = 24_000
    """Longest prompt, in estimated tokens: with the reply it stays below the 30k of WebWorld 3.6 (W5). A page that is longer
    by itself is an invalid prediction, never a cut one."""
    chars_per_token: float = 3.0
    """For the estimate, since an endpoint does not say how it counts (ours; English prose has about 4, trees fewer)."""
    retries: int = 1
    """Further tries, at `retry_temperature`, when the reply is no page that can be used."""
    retry_temperature: float = 0.7
    """Temperature of those tries."""
    cache_entries: int = 20_000
    """Answers remembered, oldest forgotten first; 0 remembers none."""

    ranges: ClassVar[dict[str, tuple[float, float]]] = {
        "temperature": (0.0, 5.0),
        "max_new_tokens": (1, 131_072),
        "max_prompt_tokens": (1, 1_000_000),
        "chars_per_token": (0.5, 20.0),
        "retries": (0, 8),
        "retry_temperature": (0.0, 5.0),
        "cache_entries": (0, 10_000_000),
    }

    def __post_init__(self) -> None:
        for name, (low, high) in self.ranges.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise UserError(
                    f"world model {name} {value!r} is out of range: use {low} to {high}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class FullConfig(ChatFormConfig):
    """The whole next page, in a conversation that holds the pages before (WebWorld, W1, W7, W8).

    Example:
        FullConfig(layout=Layout.WEBWORLD, view=Form.XML)
    """

    layout: Layout = Layout.WEBWORLD
    """How the model is asked; as it was trained."""
    view: Form = Form.DYNAWEB
    """Format of the pages, asked and answered (W4)."""
    show_goal: bool = False
    """Whether the model is told the goal; WebWorld's layout has no place for it."""
    max_turns: int = 30
    """Most turns in the conversation (W5: 30 and more); the oldest leave first."""

    ranges: ClassVar[dict[str, tuple[float, float]]] = ChatFormConfig.ranges | {
        "max_turns": (1, 1000)
    }

    def __post_init__(self) -> None:
        ChatFormConfig.__post_init__(self)
        _check_view(self.view)
        if self.show_goal and self.layout is Layout.WEBWORLD:
            raise UserError(
                f"layout {self.layout.value!r} has no place for a goal: leave show_goal off, or use layout {Layout.AGENTWORLD.value!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NlConfig(ChatFormConfig):
    """Reasoning and a change in words, which a second call applies (DynaWeb 3.2, D12 to D14).

    Example:
        NlConfig(past_actions=4)
    """

    show_goal: bool = False
    """Whether the model is told the goal; DynaWeb's A.2 tells it (D19)."""
    past_actions: int = MAX_DONE
    """Actions before the present one that the model is shown (D19); a number."""
    most_lost: float = 0.5
    """Share of the lines that the change does not speak of which the second call may lose and which are put back; above it
    the prediction is invalid (ours)."""

    ranges: ClassVar[dict[str, tuple[float, float]]] = ChatFormConfig.ranges | {
        "past_actions": (0, MAX_DONE),
        "most_lost": (0.0, 1.0),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedConfig(ChatFormConfig):
    """A general model that nobody trained for it (DynaWeb 5.4, D20), with transitions seen elsewhere as examples.

    Example:
        PromptedConfig(examples=1)
    """

    view: Form = Form.DYNAWEB
    """Format of the pages, asked and answered."""
    show_goal: bool = False
    """Whether the model is told the goal."""
    past_actions: int = MAX_DONE
    """Actions before the present one that the model is shown."""
    examples: int = 1
    """Transitions seen elsewhere that the prompt shows, where an index is given (UI-Simulator retrieves one)."""

    ranges: ClassVar[dict[str, tuple[float, float]]] = ChatFormConfig.ranges | {
        "past_actions": (0, MAX_DONE),
        "examples": (0, 16),
    }

    def __post_init__(self) -> None:
        ChatFormConfig.__post_init__(self)
        _check_view(self.view)


VIEWS = (
    Form.DYNAWEB,
    Form.HTML,
    Form.XML,
    Form.PLAYWRIGHT,
    Form.BROWSERGYM,
    Form.UNQUOTED,
    Form.WEBARENA,
)
"""Formats of pages that a model may be shown and answer in: they are read back, and say the numbers and the nesting of elements."""


def _check_view(view: Form) -> None:
    if view not in VIEWS:
        why = (
            "is written but not read"
            if view in ONE_WAY
            else "does not say numbers and nesting of elements"
        )
        raise UserError(
            f"view {view.value!r} {why}, so a model's page in it cannot be shown: use one of "
            f"{', '.join(v.value for v in VIEWS)}"
        )
