"""Who samples from the policy in training: this process, or a server at an address that is given every update."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from transformers import PreTrainedModel

from dynaweb.errors import MissingDependencyError, SamplerError, UserError
from dynaweb.gspo.train import PolicySampler
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.language import TextCodec
from dynaweb.lm.publish import Way, has_adapters, open_publisher
from dynaweb.lm.remote import RemoteSampler, served_models
from dynaweb.lm.sampler import TorchSampler

UPDATES = "updates"
"""Folder of the weights that a server is given, in the run's own folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerWish:
    """A sampler at an address."""

    config: EndpointConfig
    """Where and how to ask. `model` is the server's name of the policy that is trained."""
    api_key: str = field(default="", repr=False)
    """Sent as bearer token; empty sends none."""
    way: Way | None = None
    """How new weights reach it; None takes adapters where the policy has some, else all weights."""
    updates: Path | None = None
    """Folder that the server sees too; None is the run's own."""


FIRST = "*"
"""Name of a wish that takes whatever the server lists first."""


@contextmanager
def policy_sampler(
    wish: SamplerWish | None, model: PreTrainedModel, codec: TextCodec, version: str, out: Path
) -> Iterator[PolicySampler]:
    """A sampler that answers with the policy's present weights, closed at the end.

    Args:
        wish: where it is; None samples in this process.
        model: the policy.
        codec: of the policy.
        version: of its weights.
        out: the run's folder.

    Raises:
        UserError: the server has no such model, or there is no way to give it these weights.
        MissingDependencyError: the server does not answer, or does not take weights.
    """
    if wish is None:
        yield TorchSampler(model, codec, version)
        return
    config = replace(wish.config, model=_name_at(wish))
    way = wish.way or (Way.ADAPTERS if has_adapters(model) else Way.WEIGHTS)
    publisher = open_publisher(way, config, wish.updates or out / UPDATES, api_key=wish.api_key)
    with RemoteSampler(
        config, codec, version, api_key=wish.api_key, publisher=publisher
    ) as sampler:
        yield sampler


def _name_at(wish: SamplerWish) -> str:
    asked = wish.config.model
    try:
        names = [m.name for m in served_models(wish.config, api_key=wish.api_key)]
    except SamplerError as error:
        raise MissingDependencyError(f"no sampler: {error}") from error
    if not names or (asked not in names and asked != FIRST):
        raise UserError(
            f"the sampler at {wish.config.url!r} has no model {asked!r}: it lists {', '.join(map(repr, names[:8])) or 'none'}"
        )
    return names[0] if asked == FIRST else asked
