"""Steps as supervised examples: TRL's `messages` and `prompt`/`completion`, LlamaFactory's sharegpt.

Formats: huggingface.co/docs/trl/dataset_formats; the data README of hiyouga/LLaMA-Factory. The words are those that our
agent is asked with, and its reply reads back as the recorded action.
"""

from typing import assert_never

from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.policy import TextExample

FILE = "train.jsonl"
"""Name of the examples in their folder."""

DATASET_INFO: dict[str, object] = {
    "dynaweb": {
        "file_name": FILE,
        "formatting": "sharegpt",
        "columns": {"messages": "conversations"},
        "tags": {
            "role_tag": "from",
            "content_tag": "value",
            "user_tag": "human",
            "assistant_tag": "gpt",
        },
    }
}
"""LlamaFactory's `dataset_info.json`: with `dataset_dir` this folder, the data set is called `dynaweb`."""


def chat_row(example: TextExample, kind: ExportFormat) -> dict[str, object]:
    """One example in a chat format."""
    ask, answer = example.prompt, example.completion
    match kind:
        case ExportFormat.TRL_MESSAGES:
            turns = (("user", ask), ("assistant", answer))
            return {"messages": [{"role": role, "content": words} for role, words in turns]}
        case ExportFormat.TRL_PROMPT:
            return {"prompt": ask, "completion": answer}
        case ExportFormat.SHAREGPT:
            turns = (("human", ask), ("gpt", answer))
            return {"conversations": [{"from": who, "value": words} for who, words in turns]}
        case ExportFormat.ATIF | ExportFormat.SESSION_TRACE | ExportFormat.PARQUET:
            raise AssertionError(f"{kind} holds whole trajectories")
        case _:
            assert_never(kind)
