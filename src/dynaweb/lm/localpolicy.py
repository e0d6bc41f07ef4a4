"""A policy in this process that others ask in token ids, by name: its weights, and adapters that were loaded beside them.

New weights come from folders inside one folder that was named when the server was started, and from nowhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.errors import StorageError, UserError
from dynaweb.lm.language import TextCodec
from dynaweb.lm.model import context_length, load_model
from dynaweb.lm.sampler import Ended, TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.records.trajectory import Generation

Gone = Callable[[], bool]
"""Whether nobody waits for this reply any more."""

MOST_ADAPTERS: Final = 8
"""Each is a model of its own here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """One reply that is wanted."""

    model: str
    """Name of weights."""
    request: SampleRequest
    stop_ids: frozenset[int]
    """Tokens that end the reply; each is its last."""


class _Endless:
    """The policy's codec without an end of its own: each question says what ends its reply."""

    eos_id = -1

    def __init__(self, inner: TextCodec) -> None:
        self._inner = inner
        self.pad_id, self.vocab_size = inner.pad_id, inner.vocab_size

    def encode(self, text: str) -> list[int]:
        return self._inner.encode(text)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return self._inner.encode_batch(texts)

    def decode(self, ids: Sequence[int]) -> str:
        return self._inner.decode(ids)

    def save(self, folder: Path) -> None:
        self._inner.save(folder)


class LocalPolicy:
    """Weights by name. Replies are written by one thread; weights may be loaded by another meanwhile."""

    def __init__(self, folder: Path, name: str, *, updates: Path | None = None) -> None:
        """Read the policy.

        Args:
            folder: with weights and tokenizer.
            name: what its weights are called.
            updates: new weights may be loaded from folders in here; None loads none.

        Raises:
            StorageError: there is no policy, or it is damaged.
        """
        self._folder = folder
        self._updates = updates.resolve() if updates is not None else None
        self.codec = load_language(folder).tokenizer
        """Of the policy."""
        self.name = name
        """Of its own weights."""
        model = load_model(folder)
        self.context = context_length(model)
        """Most tokens, prompt and reply together."""
        self._base = model
        self._samplers = {name: self._sampler(model, name)}

    @property
    def names(self) -> list[str]:
        """Of all weights, its own first."""
        return list(self._samplers)

    def write(self, asked: Sequence[tuple[TokenQuestion, Gone]]) -> list[Generation]:
        """Replies in order; one that nobody waits for any more is ended early.

        Raises:
            SamplerError: an empty prompt, or one that leaves no room for a reply.
            UserError: no such weights.
        """
        written: dict[int, Generation] = {}
        for name in dict.fromkeys(q.model for q, _ in asked):
            mine = [i for i, (q, _) in enumerate(asked) if q.model == name]
            sampler = self._named(name)
            replies = sampler.sample(
                [asked[i][0].request for i in mine], [_ended(*asked[i]) for i in mine]
            )
            written.update(zip(mine, replies, strict=True))
        return [written[i] for i in range(len(asked))]

    def load_adapters(self, name: str, path: str) -> None:
        """Have adapters beside the policy's weights, under a name of their own.

        Raises:
            UserError: the name is taken, there are too many, or the folder is not where weights may come from.
            StorageError: they cannot be read, or do not fit.
        """
        if name in self._samplers:
            raise UserError(f"the lora adapter {name!r} has already been loaded")
        if len(self._samplers) > MOST_ADAPTERS:
            raise UserError(f"{MOST_ADAPTERS} adapters are loaded already: unload one first")
        folder = self._allowed(path)
        from dynaweb.lm.adapters import load_adapted  # noqa: PLC0415 - an extra

        self._samplers[name] = self._sampler(load_adapted(self._folder, folder), name)

    def unload_adapters(self, name: str) -> None:
        """Forget adapters.

        Raises:
            UserError: there are none of this name.
        """
        if name == self.name or self._samplers.pop(name, None) is None:
            raise UserError(f"no lora adapter {name!r} is loaded")

    def reload(self, path: str) -> None:
        """Answer with other weights of the same shape, under the same name.

        Raises:
            UserError: the folder is not where weights may come from, or adapters stand beside the weights.
            StorageError: they cannot be read, or have another shape.
        """
        if len(self._samplers) > 1:
            raise UserError("adapters are loaded beside these weights: unload them first")
        folder = self._allowed(path)
        model = load_model(folder)
        if _shape(model) != _shape(self._base):
            raise StorageError(f"weights in {str(folder)!r} have another shape than the policy's")
        self._base = model
        self._folder = folder
        self._samplers = {self.name: self._sampler(model, self.name)}

    def _sampler(self, model: PreTrainedModel, name: str) -> TorchSampler:
        return TorchSampler(model, _Endless(self.codec), name)

    def _named(self, name: str) -> TorchSampler:
        sampler = self._samplers.get(name)
        if sampler is None:
            raise UserError(f"no weights {name!r} here: use {' or '.join(map(repr, self.names))}")
        return sampler

    def _allowed(self, path: str) -> Path:
        folder = Path(path).resolve()
        if self._updates is None:
            raise UserError("this server takes no new weights: start it with --updates FOLDER")
        if not folder.is_relative_to(self._updates):
            raise UserError(
                f"{path[:200]!r} is not inside {str(self._updates)!r}, where weights may come from (--updates)"
            )
        return folder


def _ended(question: TokenQuestion, gone: Gone) -> Ended:
    return lambda ids: ids[-1] in question.stop_ids or gone()


def _shape(model: PreTrainedModel) -> dict[str, tuple[int, ...]]:
    return {name: tuple(p.shape) for name, p in model.named_parameters()}
