"""The formats we write. Light to import: the command line lists them."""

from enum import StrEnum


class ExportFormat(StrEnum):
    """How other tools read trajectories."""

    TRL_MESSAGES = "trl-messages"
    """TRL: rows with `messages`, one user and one assistant turn for each step."""
    TRL_PROMPT = "trl-prompt"
    """TRL: rows with `prompt` and `completion`."""
    SHAREGPT = "sharegpt"
    """LlamaFactory: `conversations`, and the `dataset_info.json` that tells where they are."""
    ATIF = "atif"
    """Agent Trajectory Interchange Format 1.7, one trajectory a line."""
    SESSION_TRACE = "session-trace"
    """The Hub's Session Trace Simple Format, one file for each trajectory."""
    PARQUET = "parquet"
    """One row for each page, with a dataset card."""
