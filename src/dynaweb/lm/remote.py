"""The policy behind an address: token ids in, token ids and log-probabilities out, as vLLM's server gives them.

The same interface as `lm.sampler.TorchSampler`, so whoever samples cannot tell. Each reply carries the version of the
weights that were asked for, by a name that only those weights have where the server keeps names (`lm.publish`); a server
that answers with others, or has forgotten them, ends the run in one line. A reply that fails while the server is well
is that request's `SamplerError`, and the sampler's fault in its attempt.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final

from pydantic import BaseModel, ValidationError
from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.errors import MissingDependencyError, SamplerError, UserError
from dynaweb.lm.asker import Asker, EndpointTally, Route
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.language import TextCodec
from dynaweb.lm.publish import Publisher
from dynaweb.lm.retry import Failure
from dynaweb.lm.tokenwire import OTHER_MODEL, completion_body, read_tokens
from dynaweb.records.trajectory import Generation

PROBE_SEC: Final = 30.0
"""Longest wait for the list of models that says whether a server is well."""


class _Card(BaseModel):
    id: str
    max_model_len: int | None = None


class _Models(BaseModel):
    data: list[_Card]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model that a server lists."""

    name: str
    context: int | None
    """Most tokens, prompt and reply together; None where the server does not say."""


def served_models(config: EndpointConfig, *, api_key: str = "") -> list[ServedModel]:
    """What a server has, in its order.

    Raises:
        SamplerError: it does not answer, or not with a list of models.
    """
    quick = replace(
        config,
        tries=min(2, config.tries),
        attempt_sec=min(PROBE_SEC, config.attempt_sec),
        deadline_sec=min(PROBE_SEC, config.deadline_sec),
    )
    asker = Asker(quick, api_key=api_key)
    route = Route(address=f"{config.url}/models", missing="no list of models", method="GET")
    try:
        (found,) = asker.each(lambda r: asker.ask(r, None, _read_models), [route])
    finally:
        asker.close()
    if isinstance(found, Failure):
        raise SamplerError(f"{config.url!r}: {found.message}")
    return found


def _read_models(data: bytes) -> list[ServedModel] | Failure:
    try:
        cards = _Models.model_validate_json(data).data
    except ValidationError:
        return Failure(kind="malformed", message="the answer is no list of models", again=True)
    return [ServedModel(name=c.id, context=c.max_model_len) for c in cards]


class RemoteSampler:
    """A `contracts.Sampler` at an address that takes new weights. Close it, or use it in a `with` block.

    Example:
        config = EndpointConfig(url="http://127.0.0.1:8000", model="policy")
        with RemoteSampler(config, language.tokenizer, "agent", publisher=publisher) as sampler:
            sampler.update(model, "agent+gspo1")
            generations = sampler.sample(requests)
    """

    def __init__(
        self,
        config: EndpointConfig,
        codec: TextCodec,
        version: str,
        *,
        api_key: str = "",
        publisher: Publisher | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            config: where and how to ask; `model` is the server's name of the weights of `version`.
            codec: of the policy.
            version: of the weights that the server has.
            api_key: sent as bearer token; empty sends none.
            publisher: gives the server new weights; without one it keeps those it has.

        Raises:
            UserError: a key that no header can carry.
        """
        self._config = config
        self._codec = codec
        self._version = version
        self._name = config.model
        self._vocab_size = codec.vocab_size
        self._key = api_key
        self._asker = Asker(config, api_key=api_key)
        self._publisher = publisher
        self._route = Route(
            address=f"{config.url}/completions", missing="no such model, or no completions"
        )
        self._settled: dict[SampleRequest, Generation | Failure] = {}

    @property
    def version(self) -> str:
        """Version of the weights that answer."""
        return self._version

    @property
    def tally(self) -> EndpointTally:
        """What was asked, since the sampler was made; updates not counted."""
        return self._asker.tally

    def update(self, model: PreTrainedModel, version: str) -> None:
        """Have the server answer with these weights from now on.

        Raises:
            UserError: there is no way to give it weights, or not these.
            MissingDependencyError: the server does not take them, or is lost.
            StorageError: they cannot be written for it.
        """
        if self._publisher is None:
            raise UserError(
                f"the sampler at {self._config.url!r} cannot take new weights: give it a folder for them"
            )
        self._name = self._publisher.publish(model, version)
        self._version = version
        self._vocab_size = int(model.config.get_text_config().vocab_size)
        self._settled.clear()

    def sample(self, requests: Sequence[SampleRequest]) -> list[Generation]:
        """Replies in order, asked side by side; equal requests are asked once.

        A caller that asks the halves of a refused batch again (`lm.gather.answer_each`) gets what was answered, and what
        failed, without another question.

        Raises:
            SamplerError: a request failed after all tries, and the server is well.
            MissingDependencyError: the server is lost, or no longer has these weights.
        """
        wanted = list(dict.fromkeys(requests))
        fresh = [r for r in wanted if r not in self._settled]
        outcomes = {r: self._settled[r] for r in wanted if r in self._settled}
        outcomes |= zip(fresh, self._asked(fresh), strict=True)
        failed = [o for o in outcomes.values() if isinstance(o, Failure)]
        if not failed:
            self._settled.clear()
            return [o for r in requests if isinstance(o := outcomes[r], Generation)]
        self._settled |= outcomes
        if fresh:
            self._require_well(failed)
        kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(f.kind for f in failed).items())
        more = f" (of {len(wanted)} requests: {kinds})" if len(wanted) > 1 else ""
        raise SamplerError(f"{self._config.url!r}: {failed[0].message}{more}")

    def close(self) -> None:
        """Close connections; safe to call twice."""
        self._asker.close()
        if self._publisher is not None:
            self._publisher.close()

    def __enter__(self) -> "RemoteSampler":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _asked(self, requests: list[SampleRequest]) -> list[Generation | Failure]:
        try:
            return self._asker.each(self._answer, requests) if requests else []
        except SamplerError as error:
            raise self._lost(str(error)) from error

    async def _answer(self, request: SampleRequest) -> Generation | Failure:
        name, version, vocab_size = self._name, self._version, self._vocab_size
        outcome = await self._asker.ask(
            self._route,
            completion_body(request, name, self._codec.eos_id),
            lambda data: read_tokens(
                data, request, name, self._codec, vocab_size=vocab_size, version=version
            ),
        )
        tally = self.tally
        tally.requests += 1
        if isinstance(outcome, Generation):
            tally.answered += 1
            tally.prompt_tokens += len(outcome.prompt_ids)
            tally.completion_tokens += len(outcome.completion_ids)
        return outcome

    def _require_well(self, failed: Sequence[Failure]) -> None:
        """Tell what failed alone from a server that is lost or holds other weights."""
        others = [f for f in failed if f.kind == OTHER_MODEL]
        if others:
            raise self._lost(others[0].message)
        try:
            names = [m.name for m in served_models(self._config, api_key=self._key)]
        except SamplerError as error:
            raise self._lost(f"{failed[0].message}; and {error}") from error
        if self._name not in names:
            raise self._lost(f"it lists {', '.join(map(repr, names[:8]))}")

    def _lost(self, why: str) -> MissingDependencyError:
        return MissingDependencyError(
            f"the sampler at {self._config.url!r} no longer answers as {self._name!r}: {why}; start it again, and the same command goes on"
        )
