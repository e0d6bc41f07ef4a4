"""A conversation as token ids, by the model's own chat template, in which no message can speak for the template.

A template writes control tokens as text, so a page that holds `<|im_end|>` could end the user's turn and begin
another. transformers is told to encode such letters in a message as letters (`sanitize_control_tokens`).
"""

import inspect
from collections.abc import Sequence
from pathlib import Path

from jinja2 import TemplateError
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from dynaweb.contracts import ChatMessage
from dynaweb.errors import MissingDependencyError, SamplerError, StorageError
from dynaweb.lm.model import pretrained_source, require_model


class ChatTemplate:
    """Tokenizer and template of one model."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        """Use a tokenizer that has a template.

        Raises:
            MissingDependencyError: a transformers that would let messages write control tokens.
        """
        if (
            "sanitize_control_tokens"
            not in inspect.signature(tokenizer.apply_chat_template).parameters
        ):
            # an older one would take the argument for a variable of the template, and protect nothing
            raise MissingDependencyError(
                "this transformers cannot keep control tokens out of messages: pip install -U 'transformers>=5.24,<6'"
            )
        self.tokenizer = tokenizer

    def encode(self, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
        """Ids of the conversation, up to where the assistant begins to write.

        Raises:
            SamplerError: the template refuses it, such as a role that it does not know.
        """
        said = [{"role": m.role, "content": _spelt(m.content)} for m in messages]
        try:
            ids = self.tokenizer.apply_chat_template(
                said,
                tokenize=True,
                return_dict=False,
                add_generation_prompt=True,
                sanitize_control_tokens=True,
            )
        except (TemplateError, ValueError, TypeError) as error:
            raise SamplerError(f"the chat template refuses the conversation: {error}") from error
        flat = tuple(i for i in ids if isinstance(i, int))
        assert len(flat) == len(ids)
        return flat


def _spelt(text: str) -> str:
    """What UTF-8 can spell; lone surrogates become `?`, as in `Tokenizer.encode`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def load_template(path: Path) -> ChatTemplate:
    """Read the tokenizer and the template of a model's folder or GGUF file.

    Raises:
        StorageError: there is none, it is damaged, or the model has no template or no end token.
        MissingDependencyError: a package is missing or too old.
    """
    require_model(path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(**pretrained_source(path))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise StorageError(f"cannot read the tokenizer in {str(path)!r}: {error}") from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise StorageError(
            f"the tokenizer in {str(path)!r} is a {type(tokenizer).__name__}: a tokenizer.json is needed"
        )
    if not tokenizer.chat_template:
        raise StorageError(
            f"the model in {str(path)!r} has no chat template, so it cannot be asked in words: use an instruct or chat model"
        )
    if tokenizer.eos_token_id is None:
        raise StorageError(
            f"the tokenizer in {str(path)!r} names no eos_token: add it to tokenizer_config.json"
        )
    return ChatTemplate(tokenizer)
