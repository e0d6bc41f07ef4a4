"""Steps as supervised examples: TRL's `messages` and `prompt`/`completion`, LlamaFactory's sharegpt.

Formats: huggingface.co/docs/trl/dataset_formats; the data README of hiyouga/LLaMA-Factory. The words are those that our
agent is asked with, and its reply reads back as the recorded action.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from dynaweb.contracts import ChatMessage, ChatRole
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.policy import TextExample

FILE = "train.jsonl"
"""Name of the examples in their folder."""

ROLES: Mapping[ChatRole, str] = {"system": "system", "user": "human", "assistant": "gpt"}
"""Role -> what sharegpt calls it."""


def dataset_info(files: Mapping[str, str]) -> dict[str, object]:
    """LlamaFactory's `dataset_info.json`: with `dataset_dir` the folder it stands in, each data set has its name.

    Args:
        files: name of a data set -> its file in the folder.
    """
    tags = {
        "role_tag": "from",
        "content_tag": "value",
        "user_tag": ROLES["user"],
        "assistant_tag": ROLES["assistant"],
        "system_tag": ROLES["system"],
    }
    return {
        name: {
            "file_name": file,
            "formatting": "sharegpt",
            "columns": {"messages": "conversations"},
            "tags": tags,
        }
        for name, file in files.items()
    }


DATASET_INFO = dataset_info({"dynaweb": FILE})
"""Of an export of trajectories."""


def chat_row(example: TextExample, kind: ExportFormat) -> dict[str, object]:
    """One example in a chat format."""
    if kind is ExportFormat.TRL_PROMPT:
        return {"prompt": example.prompt, "completion": example.completion}
    ask = ChatMessage(role="user", content=example.prompt)
    return turns_row((ask, ChatMessage(role="assistant", content=example.completion)), kind)


def turns_row(turns: Sequence[ChatMessage], kind: ExportFormat) -> dict[str, object]:
    """A conversation that ends with an answer, in a chat format; TRL's `prompt` and `completion` are then lists of turns."""
    match kind:
        case ExportFormat.TRL_MESSAGES:
            return {"messages": _told(turns)}
        case ExportFormat.TRL_PROMPT:
            return {"prompt": _told(turns[:-1]), "completion": _told(turns[-1:])}
        case ExportFormat.SHAREGPT:
            return {"conversations": [{"from": ROLES[t.role], "value": t.content} for t in turns]}
        case ExportFormat.ATIF | ExportFormat.SESSION_TRACE | ExportFormat.PARQUET:
            raise AssertionError(f"{kind} holds whole trajectories")
        case _:
            assert_never(kind)


def _told(turns: Sequence[ChatMessage]) -> list[dict[str, str]]:
    return [{"role": t.role, "content": t.content} for t in turns]
