"""Local weights behind their own chat template as a `contracts.ChatModel`: a Hugging Face folder, or a GGUF file.

Safetensors and GGUF only; nothing that lies beside the weights is run. A reply depends on its own request alone,
whatever else is in the batch (`lm.sampler`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedModel

from dynaweb.contracts import ChatReply, ChatRequest, SampleRequest
from dynaweb.errors import SamplerError
from dynaweb.lm.chattemplate import ChatTemplate, load_template
from dynaweb.lm.chatwire import cut_at
from dynaweb.lm.model import context_length, is_gguf, load_model
from dynaweb.lm.sampler import BATCH_TOKENS, Ended, TorchSampler
from dynaweb.lm.tokenizer import Tokenizer
from dynaweb.records.trajectory import Generation

Gone = Callable[[], bool]
"""Whether nobody waits for this reply any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReply:
    """A reply with its tokens."""

    reply: ChatReply
    tokens: tuple[str, ...] = ()
    """Its text token by token; a character that several tokens make up shows as U+FFFD in each."""
    logprobs: tuple[float, ...] = ()
    """Natural log-probability of each token: of the sampling distribution, or of the model at temperature 1 when greedy."""


class LocalChat:
    """A model in this process."""

    def __init__(
        self,
        model: PreTrainedModel,
        template: ChatTemplate,
        name: str,
        *,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        """Ask `model` in the words of `template`, at most `batch_tokens` positions at once."""
        tokenizer = template.tokenizer
        end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        assert isinstance(end, int)
        pad_id = pad if isinstance(pad, int) else end
        self._codec = Tokenizer(tokenizer.backend_tokenizer, eos_id=end, pad_id=pad_id, own=False)
        self._template = template
        self._room = context_length(model)
        self._ends = {end, *_end_ids(model)}
        self._sampler = TorchSampler(model, self._codec, f"local:{name}", batch_tokens=batch_tokens)
        self.name = name
        """What the model is called, without where it is."""

    @property
    def version(self) -> str:
        """`local:` and the model's name."""
        return self._sampler.version

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies in order. A request that the model cannot take is a reply that says why."""
        return [w.reply for w in self.write([(r, _never) for r in requests])]

    def write(self, requests: Sequence[tuple[ChatRequest, Gone]]) -> list[WrittenReply]:
        """`chat`, with the tokens; a reply that nobody waits for any more is ended early."""
        prompts = [self._prompt(request) for request, _ in requests]
        open_ones = [i for i, p in enumerate(prompts) if not isinstance(p, str)]
        samples = [p for p in prompts if not isinstance(p, str)]
        generations = self._sampler.sample(samples, [self._ended(*requests[i]) for i in open_ones])
        written = dict(zip(open_ones, generations, strict=True))
        return [
            self._failure(prompt)
            if isinstance(prompt, str)
            else self._failure("cancelled: nobody waits for the reply")
            if gone()
            else self._written(request, written[i])
            for i, ((request, gone), prompt) in enumerate(zip(requests, prompts, strict=True))
        ]

    def _prompt(self, request: ChatRequest) -> SampleRequest | str:
        """What the sampler is asked, or why it cannot be."""
        if not request.messages or request.max_new_tokens < 1 or request.temperature < 0:
            return "a request needs a message, at least 1 new token and no negative temperature"
        try:
            ids = self._template.encode(request.messages)
        except SamplerError as error:
            return str(error)
        if not 0 < len(ids) < self._room:
            return f"the conversation takes {len(ids)} tokens; the context has {self._room}, the reply included"
        return SampleRequest(
            prompt_ids=ids,
            max_new_tokens=request.max_new_tokens,
            temperature=request.temperature,
            seed=request.seed,
        )

    def _ended(self, request: ChatRequest, gone: Gone) -> Ended:
        def ended(ids: Sequence[int]) -> bool:
            if gone() or ids[-1] in self._ends:
                return True
            return bool(request.stop) and cut_at(self._codec.decode(ids), request.stop)[1]

        return ended

    def _written(self, request: ChatRequest, generation: Generation) -> WrittenReply:
        ids = generation.completion_ids
        own = ids[:-1] if ids and ids[-1] in self._ends else ids
        text, cut = cut_at(self._codec.decode(own), request.stop)
        kept = self._covering(own, text) if cut else len(own)
        logprobs = generation.logprobs[:kept]
        reply = ChatReply(
            text=text,
            finish="stop" if cut or len(own) < len(ids) else "length",
            model=self.name,
            prompt_tokens=len(generation.prompt_ids),
            completion_tokens=len(ids),
            mean_logprob=sum(logprobs) / kept if kept else None,
        )
        tokens = tuple(self._codec.decode([i]) for i in own[:kept])
        return WrittenReply(reply=reply, tokens=tokens, logprobs=logprobs)

    def _covering(self, ids: Sequence[int], text: str) -> int:
        """Fewest tokens that spell the text, and perhaps more."""
        return next(n for n in range(len(ids) + 1) if self._codec.decode(ids[:n]).startswith(text))

    def _failure(self, why: str) -> WrittenReply:
        return WrittenReply(reply=ChatReply(text="", finish="error", model=self.name, error=why))


def load_chat(path: Path, *, batch_tokens: int = BATCH_TOKENS) -> LocalChat:
    """Read a chat model from a Hugging Face folder or a GGUF file, in fp32.

    Raises:
        StorageError: there is none, it is damaged, or it has no chat template.
        MissingDependencyError: a GGUF file, and a package that reads it is missing.
    """
    template = load_template(path)
    name = path.stem if is_gguf(path) else path.resolve().name
    return LocalChat(load_model(path), template, name, batch_tokens=batch_tokens)


def _end_ids(model: PreTrainedModel) -> set[int]:
    """Every token that ends a reply; instruct models have several."""
    found: set[int] = set()
    for config in (model.config, model.generation_config):
        ids = getattr(config, "eos_token_id", None)
        found |= {ids} if isinstance(ids, int) else set(ids or ())
    return found


def _never() -> bool:
    return False
