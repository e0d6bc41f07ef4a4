"""Tokens in, tokens and log-probabilities out, from a local model in fp32.

Equal prompts are read once and shared by the rows that need them; rows that have ended leave the
batch. A reply depends on its prompt, temperature and seed alone: each row draws from a stream of
its own, so the other rows of a batch touch it only through the rounding of the arithmetic.
"""

import inspect
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, TypeAlias

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.errors import SamplerError
from dynaweb.lm.cache import RoomyCache
from dynaweb.lm.language import TextCodec
from dynaweb.lm.model import context_length, hidden_states, output_logits
from dynaweb.lm.rows import batches_by_length
from dynaweb.records.trajectory import Generation

# Shape suffixes: B = rows, U = unique prompts, T = positions, K = positions in the cache, V = vocabulary.

BATCH_TOKENS: Final = 32_768
"""Most positions (rows times longest) held at once; bounds memory."""
COMPACT_BELOW: Final = 0.75
"""Drop ended rows when this share or less is still writing: dropping copies the cache."""

Ended: TypeAlias = Callable[[Sequence[int]], bool]
"""Told the ids of one reply so far, after each of them: whether it ends here."""


@dataclass(slots=True)
class _Row:
    """One reply being written."""

    request: SampleRequest
    limit: int
    stream: random.Random
    ended: Ended | None
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    done: bool = False
    stopped: bool = False


class TorchSampler:
    """A `contracts.Sampler` over a model in this process."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: TextCodec,
        version: str,
        *,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        model.eval()
        self._model = model
        self._tokenizer = tokenizer
        self._version = version
        self._vocabulary = int(model.config.get_text_config().vocab_size)
        self._batch_tokens = batch_tokens
        # transformers renamed the argument in the middle of version 5.
        self._cache_argument = (
            "cache"
            if "cache" in inspect.signature(model.base_model.forward).parameters
            else "past_key_values"
        )

    @property
    def version(self) -> str:
        """Version of the weights that answer."""
        return self._version

    @property
    def tokenizer(self) -> TextCodec:
        """Vocabulary of the ids."""
        return self._tokenizer

    def update(self, model: PreTrainedModel, version: str) -> None:
        """Answer with other weights of the same architecture from now on."""
        model.eval()
        self._model = model
        self._version = version

    def sample(
        self, requests: Sequence[SampleRequest], ended: Sequence[Ended] = ()
    ) -> list[Generation]:
        """Replies in order; `ended`, where given one for each request, may end them early.

        The log-probabilities are those of the sampling distribution; a greedy reply (temperature 0)
        gets those of the model at temperature 1, since its own would all be zero.

        Raises:
            SamplerError: an empty prompt, or one that leaves no room for a reply.
        """
        rows = [self._row(r, e) for r, e in zip_longest(requests, ended)]
        for batch in batches_by_length(
            [len(r.request.prompt_ids) for r in rows], [r.limit for r in rows], self._batch_tokens
        ):
            self._write([rows[i] for i in batch])
        return [self._generation(r) for r in rows]

    def score(
        self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[Sequence[int]]]
    ) -> list[list[float]]:
        """Log-probability of each given completion after its prompt, at temperature 1.

        Args:
            prompts: One prompt per question, ids.
            choices: Completions to compare, ids, for each prompt; end the ones that should end with `eos_id`.

        Returns:
            Natural log-probabilities, summed over the completion, in the order of `choices`.

        Raises:
            SamplerError: an empty prompt or completion, or more than the context.
        """
        if len(prompts) != len(choices):
            raise SamplerError(f"{len(prompts)} prompts but choices for {len(choices)}")
        pairs = [(tuple(p), tuple(c)) for p, cs in zip(prompts, choices, strict=True) for c in cs]
        for prompt, choice in pairs:
            if not prompt or not choice:
                raise SamplerError("cannot score an empty prompt or completion")
            self._check_room(len(prompt), len(choice))
        scores = [0.0] * len(pairs)
        for batch in batches_by_length(
            [len(p) + len(c) for p, c in pairs], [0] * len(pairs), self._batch_tokens
        ):
            for i, score in zip(batch, self._score([pairs[i] for i in batch]), strict=True):
                scores[i] = score
        answers = iter(scores)
        return [[next(answers) for _ in cs] for cs in choices]

    def _row(self, request: SampleRequest, ended: Ended | None) -> _Row:
        if not request.prompt_ids:
            raise SamplerError("empty prompt: a reply needs at least one token to follow")
        if max(request.prompt_ids) >= self._vocabulary or min(request.prompt_ids) < 0:
            raise SamplerError(
                f"the model has no id {max(request.prompt_ids)}: its vocabulary ends at {self._vocabulary}"
            )
        if request.max_new_tokens < 1 or request.temperature < 0.0:
            raise SamplerError(
                f"cannot sample {request.max_new_tokens!r} tokens at temperature {request.temperature!r}"
            )
        room = self._check_room(len(request.prompt_ids), 1)
        return _Row(
            request=request,
            limit=min(request.max_new_tokens, room),
            stream=random.Random(request.seed),
            ended=ended,
        )

    def _check_room(self, prompt: int, reply: int) -> int:
        room = context_length(self._model) - prompt
        if room < reply:
            raise SamplerError(
                f"prompt of {prompt} tokens leaves no room for {reply} in a context of {context_length(self._model)}"
            )
        return room

    def _generation(self, row: _Row) -> Generation:
        ended = bool(row.ids) and row.ids[-1] == self._tokenizer.eos_id
        return Generation(
            prompt_ids=row.request.prompt_ids,
            completion_ids=tuple(row.ids),
            logprobs=tuple(row.logprobs),
            temperature=row.request.temperature,
            seed=row.request.seed,
            policy_version=self._version,
            raw_text=self._tokenizer.decode(row.ids[:-1] if ended else row.ids),
            finish="stop" if ended or row.stopped else "length",
        )

    @torch.inference_mode()
    def _write(self, rows: list[_Row]) -> None:
        unique = list(dict.fromkeys(r.request.prompt_ids for r in rows))
        place = {ids: i for i, ids in enumerate(unique)}
        device = self._model.device
        lengths_U = torch.tensor([len(ids) for ids in unique], device=device)
        longest = int(lengths_U.max())
        cache = RoomyCache(self._model, longest + max(r.limit for r in rows))
        logits_UV = self._prefill(unique, lengths_U, cache)
        rows_B = torch.tensor([place[r.request.prompt_ids] for r in rows], device=device)
        if len(rows) != len(unique):
            cache.select(rows_B)
        lengths_B, logits_BV = lengths_U[rows_B], logits_UV[rows_B]
        visible_BK = _visible(lengths_B, longest, max(r.limit for r in rows))
        live, t = rows, 0
        while True:
            ids_B = self._choose(live, logits_BV)
            keep = [i for i, r in enumerate(live) if not r.done]
            if not keep:
                return
            if len(keep) <= COMPACT_BELOW * len(live):
                kept_B = torch.tensor(keep, device=device)
                cache.select(kept_B)
                lengths_B, ids_B = lengths_B[kept_B], ids_B[kept_B]
                visible_BK = None if visible_BK is None else visible_BK[kept_B]
                live = [live[i] for i in keep]
            mask = None if visible_BK is None else visible_BK[:, None, None, : longest + t + 1]
            logits_BV = self._forward(ids_B[:, None], (lengths_B + t)[:, None], mask, cache)
            t += 1

    def _prefill(
        self, unique: list[tuple[int, ...]], lengths_U: Int[Tensor, " U"], cache: RoomyCache
    ) -> Float[Tensor, "U V"]:
        ids_UT = _pad_right(unique, self._tokenizer.pad_id).to(self._model.device)
        states_UTH = self._model.base_model(
            input_ids=ids_UT, use_cache=True, **{self._cache_argument: cache}
        ).last_hidden_state
        return output_logits(
            self._model,
            states_UTH[torch.arange(len(unique), device=lengths_U.device), lengths_U - 1],
        )

    def _forward(
        self,
        ids_B1: Int[Tensor, "B 1"],
        places_B1: Int[Tensor, "B 1"],
        mask: Bool[Tensor, "B 1 1 K"] | None,
        cache: RoomyCache,
    ) -> Float[Tensor, "B V"]:
        states_B1H = self._model.base_model(
            input_ids=ids_B1,
            position_ids=places_B1,
            attention_mask=mask,
            use_cache=True,
            **{self._cache_argument: cache},
        ).last_hidden_state
        return output_logits(self._model, states_B1H[:, 0])

    def _choose(self, live: list[_Row], logits_BV: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        device = logits_BV.device
        heat_B = torch.tensor([r.request.temperature or 1.0 for r in live], device=device)
        logp_BV = torch.log_softmax(logits_BV / heat_B[:, None], dim=-1)
        greedy_B = torch.tensor([r.request.temperature == 0.0 for r in live], device=device)
        if bool(greedy_B.all()):
            ids_B = logits_BV.argmax(dim=-1)
        else:
            draws = [0.0 if r.done else r.stream.random() for r in live]
            ids_B = _inverse_cdf(logp_BV, torch.tensor(draws, dtype=torch.float64, device=device))
            if bool(greedy_B.any()):
                ids_B = torch.where(greedy_B, logits_BV.argmax(dim=-1), ids_B)
        chosen_B = logp_BV.gather(1, ids_B[:, None])[:, 0]
        for row, token, logprob in zip(live, ids_B.tolist(), chosen_B.tolist(), strict=True):
            if not row.done:
                row.ids.append(token)
                row.logprobs.append(logprob)
                row.stopped = row.ended is not None and row.ended(row.ids)
                last = token == self._tokenizer.eos_id or len(row.ids) >= row.limit
                row.done = row.stopped or last
        return ids_B

    @torch.inference_mode()
    def _score(self, pairs: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[float]:
        device = self._model.device
        ids_BT = _pad_right([p + c for p, c in pairs], self._tokenizer.pad_id).to(device)
        states_BTH = hidden_states(self._model, ids_BT)
        row_N = torch.tensor([b for b, (_, c) in enumerate(pairs) for _ in c], device=device)
        place_N = torch.tensor(
            [len(p) - 1 + j for p, c in pairs for j in range(len(c))], device=device
        )
        logp_NV = torch.log_softmax(output_logits(self._model, states_BTH[row_N, place_N]), dim=-1)
        logp_N = logp_NV.gather(1, ids_BT[row_N, place_N + 1][:, None])[:, 0]
        sums: list[float] = (
            torch.zeros(len(pairs), device=device).index_add(0, row_N, logp_N).tolist()
        )
        return sums


def _inverse_cdf(logp_BV: Float[Tensor, "B V"], draws_B: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
    """The token at which the cumulative probability passes the draw; one draw a token."""
    cumulative_BV = logp_BV.exp().cumsum(dim=-1, dtype=torch.float64)
    target_B1 = (draws_B * cumulative_BV[:, -1])[:, None]
    return torch.searchsorted(cumulative_BV, target_B1, right=True)[:, 0].clamp(
        max=logp_BV.shape[1] - 1
    )


def _pad_right(rows: Sequence[Sequence[int]], pad: int) -> Int[Tensor, "B T"]:
    longest = max(len(r) for r in rows)
    return torch.tensor([[*r, *([pad] * (longest - len(r)))] for r in rows])


def _visible(lengths_B: Int[Tensor, " B"], longest: int, room: int) -> Bool[Tensor, "B K"] | None:
    """Which cached positions a row may look at; None when no row was padded."""
    if bool((lengths_B == longest).all()):
        return None
    places_K = torch.arange(longest + room, device=lengths_B.device)
    return (places_K[None] < lengths_B[:, None]) | (places_K[None] >= longest)
