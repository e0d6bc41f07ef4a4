"""What was wrong with a model's words: why there is no page in them, or what had to be mended to make one."""

from enum import StrEnum

from dynaweb.errors import WorldModelError


class Flaw(StrEnum):
    """Why there is no page."""

    NO_REPLY = "no_reply"
    """The model could not be asked: transport, deadline."""
    PROMPT_TOO_LONG = "prompt_too_long"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    """Stopped by the limit of tokens, or a block that never closes."""
    TOO_LONG = "too_long"
    REFUSAL = "refusal"
    FAKE_TURN = "fake_turn"
    """Goes on with a turn that is not the model's."""
    ELIDED = "elided"
    """Leaves out lines and says so: "... (unchanged)"."""
    CUT_OFF = "cut_off"
    """Ends in the middle of the page that it copies."""
    NOT_A_PAGE = "not_a_page"
    NO_CHANGE_SAID = "no_change_said"
    """Without the two sections of an `nl` reply."""
    COPIED_EXAMPLE = "copied_example"
    """Shows what was typed in an example, and nothing of what was typed here."""
    LOST_TOO_MUCH = "lost_too_much"
    """Applying a change lost most of what it does not speak of."""


class Mend(StrEnum):
    """What was done to a reply to make it a page."""

    RETRIED = "retried"
    PROSE_TAKEN_OFF = "prose_taken_off"
    FENCE_TAKEN_OFF = "fence_taken_off"
    OTHER_FORMAT = "other_format"
    LINES_LEFT_OUT = "lines_left_out"
    DUPLICATE_BIDS = "duplicate_bids"
    BIDS_RESTORED = "bids_restored"
    """Elements of the page before that the reply shows without their bid, or with one that they never had."""
    RULE_RESTORED = "rule_restored"
    """What a rule knew (typed text, a tick) and the reply shows as it was before."""
    PUT_BACK = "put_back"
    """Lines that the change does not speak of, lost by applying it."""


class UnusableReplyError(WorldModelError):
    """There is no page in it."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(f"no usable page: {flaw.value}")
        self.flaw = flaw
