"""What the loop is made of."""

from dataclasses import dataclass
from typing import Protocol

from transformers import PreTrainedModel

from dynaweb.contracts import Judge, Sampler, WorldModel
from dynaweb.dream.starts import StartPoint
from dynaweb.errors import UserError
from dynaweb.gspo.audit import Audit
from dynaweb.gspo.config import GspoConfig
from dynaweb.gspo.fresh import PolicyVersion
from dynaweb.gspo.groups import Attempt
from dynaweb.lm.language import Language
from dynaweb.train.batch import Example


class PolicySampler(Sampler, Protocol):
    """A sampler that takes new weights."""

    def update(self, model: PreTrainedModel, version: str) -> None:
        """Answer with these weights from now on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the loop is made of; how each part was made is not its business."""

    policy: PreTrainedModel
    """The initial policy; trained in place."""
    name: str
    """Version of the initial policy, the stem of all later versions."""
    sampler: PolicySampler
    """Samples from the policy."""
    language: Language
    """The policy's."""
    world: WorldModel | None
    """Frozen; None when every group is live (`live.share` 1)."""
    judge: Judge | None
    """Frozen; None with the world model."""
    starts: tuple[StartPoint, ...]
    """Real places to begin, with the experts' and the policy's own real ways on."""
    demonstrations: tuple[Example, ...] = ()
    """What the supervised term reads (`update.demonstrations`)."""
    audit: Audit | None = None
    """Replays dreams for real."""
    live: Attempt | None = None
    """Attempts in the real browser; None when `live.share` is 0."""
    served: bool = False
    """The sampler is a server that all ranks would share: the first alone asks it and gives it weights."""

    @property
    def world_version(self) -> str:
        """Of the world model; empty without one."""
        return self.world.version if self.world is not None else ""

    def version(self, updates: int) -> PolicyVersion:
        """Of the policy, after so many updates."""
        return PolicyVersion(name=self.name, updates=updates)


def require_sources(parts: Parts, config: GspoConfig) -> None:
    """Every source that the configuration wants is there.

    Raises:
        UserError: one is not.
    """
    if config.live.share < 1.0 and (parts.world is None or parts.judge is None):
        raise UserError(
            f"live share {config.live.share!r} leaves groups to dreams, and there is no world model with a judge: give one, or set live.share=1"
        )
    if config.live.share > 0.0 and parts.live is None:
        raise UserError(
            f"live share {config.live.share!r} wants groups in the real browser, and none is given: set live.share=0"
        )
