"""A tokenizer with a chat template for a model from scratch: byte-level BPE and ChatML.

Readable by transformers and by `lm.chattemplate` like that of any instruct model.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import tokenizers
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from dynaweb.errors import UserError

BEGIN: Final = "<|im_start|>"
END: Final = "<|im_end|>"
PAD: Final = "<|pad|>"
TEMPLATE: Final = (
    "{% for message in messages %}{{ '" + BEGIN + "' + message['role'] + '\\n' + message['content']"
    " + '" + END + "\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '" + BEGIN + "assistant\\n' }}{% endif %}"
)
"""ChatML, as Qwen and SmolLM2 write it, without a default system message."""


def train_chat_tokenizer(texts: Iterable[str], vocab_size: int) -> PreTrainedTokenizerFast:
    """Learn a vocabulary from the words of messages; the same texts in the same order give the same one.

    Raises:
        UserError: no text, or a vocabulary too small to hold every byte.
    """
    least = 256 + 3
    if vocab_size < least:
        raise UserError(
            f"vocabulary size is {vocab_size!r}: use at least {least}, every byte needs a token"
        )
    inner = tokenizers.Tokenizer(BPE())
    inner.pre_tokenizer = ByteLevel(add_prefix_space=False)
    inner.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, END, BEGIN],
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    read = [t.encode("utf-8", "replace").decode("utf-8") for t in texts]
    if not any(read):
        raise UserError("no text to learn a tokenizer from: the rows are empty")
    inner.train_from_iterator([*read, "system\nuser\nassistant\n"], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[BEGIN],
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def save_chat_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write `tokenizer.json`, `tokenizer_config.json` and the template."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)


def load_chat_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Read what `save_chat_tokenizer` wrote, with or without a model beside it."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    return tokenizer
