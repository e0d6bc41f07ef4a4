"""A language model as an agent: the same prompt, sampling and parsing in the real web and in dreams."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.label import label_action
from dynaweb.contracts import SampleRequest
from dynaweb.errors import UserError
from dynaweb.lm.language import Language
from dynaweb.prompts.act import render_act
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Generation, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """How the policy is asked."""

    temperature: float = 0.0
    """0 is greedy (evaluation); 1 for on-policy training. Truncated sampling is not offered: it would bias the ratio."""
    max_new_tokens: int = 48
    """Longest reply, in tokens."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 5.0:
            raise UserError(f"agent temperature {self.temperature!r} is out of range: use 0 to 5")
        if not 1 <= self.max_new_tokens <= 4096:
            raise UserError(
                f"agent max_new_tokens {self.max_new_tokens!r} is out of range: use 1 to 4096"
            )


def act_prompt(goal: str, past: tuple[Step, ...], observation: Observation) -> str:
    """The policy's prompt at one step; also what expert steps are re-rendered through."""
    done = [label_action(s.action, s.observation) for s in past if s.action is not None]
    return render_act(goal, done, observation.last_action_error, observation.tree)


class LmAgent:
    """A sampler that decides. `ask` answers one request; batching happens behind it."""

    def __init__(
        self,
        ask: Callable[[SampleRequest], Awaitable[Generation]],
        language: Language,
        version: str,
        config: AgentConfig,
    ) -> None:
        self._ask = ask
        self._language = language
        self._version = version
        self._config = config

    @property
    def version(self) -> str:
        """Version of the policy's weights."""
        return self._version

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """Prompt, sample, parse. A reply without an action is a step with a fault.

        Raises:
            SamplerError: the model failed, or the prompt is longer than its context.
        """
        prompt = self._language.encode(act_prompt(goal, past, observation))
        request = SampleRequest(
            prompt_ids=prompt.ids,
            max_new_tokens=self._config.max_new_tokens,
            temperature=self._config.temperature,
            seed=seed,
        )
        generation = prompt.read(await self._ask(request))
        reply = read_reply(generation.raw_text)
        return Step(
            observation=observation,
            thought=reply.thought,
            action=reply.action,
            fault=reply.fault,
            generations=(generation,),
        )
