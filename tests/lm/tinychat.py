"""A chat model of a few thousand weights, with a tokenizer and a template of its own, made in a moment."""

from pathlib import Path

from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model, save_model

TEMPLATE = (
    "{% for m in messages %}"
    "{% if m['role'] == 'system' and not loop.first %}{{ raise_exception('the system speaks first') }}{% endif %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WORDS = "system user assistant click the button and fill in the name <page> [12] button 'Submit' im_start im_end"


def tokenizer() -> PreTrainedTokenizerFast:
    inner = Tokenizer(BPE())
    inner.pre_tokenizer = ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=330,
        special_tokens=CONTROL,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([WORDS], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=TEMPLATE,
    )


def chat_folder(folder: Path, *, context: int = 256, seed: int = 0) -> Path:
    """A model's folder as the Hub has them."""
    own = tokenizer()
    config = ModelConfig(hidden=32, layers=2, heads=4, ffn=64, context=context)
    save_model(build_model(config, len(own), seed), folder)
    own.save_pretrained(str(folder))
    return folder
