"""What a model from scratch speaks: a vocabulary learnt from all that it will read and write."""

from collections.abc import Iterable

from dynaweb.lm.language import Language
from dynaweb.lm.tokenizer import bid_lessons, train_tokenizer
from dynaweb.prompts.pointers import Lexicon, sign_lessons


def learn_language(texts: Iterable[str], lexicon: Lexicon, vocab_size: int) -> Language:
    """A tokenizer for these texts, beside the lexicon that they were pointed at with.

    Raises:
        UserError: no text, or a vocabulary without room for every byte.
    """
    lessons = [*bid_lessons(), *(sign_lessons() if lexicon.words is not None else ())]
    return Language(train_tokenizer([*texts, *lessons], vocab_size), lexicon)
