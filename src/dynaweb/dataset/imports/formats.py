"""The tools whose files we read. Light to import: the command line lists them."""

from enum import StrEnum


class Format(StrEnum):
    """Whose file it is."""

    DYNAWEB = "dynaweb"
    PARQUET = "parquet"
    """This project's own; Multimodal-Mind2Web's is told by its columns."""
    WEBARENA_TRACES = "webarena-traces"
    WEBARENA_HTML = "webarena-html"
    NNETNAV = "nnetnav"
    GOBROWSE = "go-browse"
    BROWSERGYM = "browsergym"
    """Steps as JSON; folders of pickles are refused."""
    WEBVOYAGER = "webvoyager"
    MIND2WEB = "mind2web"
    MIND2WEB_ACTIONS = "mind2web-actions"
    """Multimodal-Mind2Web: a row an action."""
    ATIF = "atif"
    """One document a file."""
    ATIF_LINES = "atif-lines"
    """One document a line."""
    TRANSITIONS = "transitions"
    """`obs`, `action` and `next_obs` in one document a file."""
    TRANSITION_LINES = "transition-lines"
    """The same, one a line."""
