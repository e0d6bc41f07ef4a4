"""verl's agent loop that dreams: verl samples and trains, the world model answers and the judge rewards.

It has never run inside verl here: verl needs CUDA, and versions of transformers that do not go with ours. It is written
to the interface of verl 0.9.1 (`AgentLoopBase`: made by hydra from `_target_`, then only `run` is called), and tested
with everything real but verl itself. Nothing of verl is imported before its own records are made.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from uuid import uuid4

from dynaweb.agent.lm_agent import AgentConfig, LmAgent, act_prompt
from dynaweb.contracts import Imagine, Judge, Prediction, SampleRequest, WorldModel
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.errors import MissingDependencyError, SamplerError, StorageError, UserError
from dynaweb.lm.gather import Gather
from dynaweb.lm.language import Language
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.alone import judge_of
from dynaweb.recipes.verl.convert import Row, output_rows
from dynaweb.recipes.worldly import open_imagination
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import (
    Behaviour,
    Generation,
    Outcome,
    Start,
    Trajectory,
    Verdict,
)
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.verdict import needs_verdict, with_verdict
from dynaweb.world.trained import asking, world_folder, world_name

if TYPE_CHECKING:
    from verl.experimental.agent_loop.agent_loop import AgentLoopOutput

VERSION: Final = "verl"
"""Of the policy on attempts: verl says nothing about its weights."""


class TokenReply(Protocol):
    """verl's `TokenOutput`, as far as it is read."""

    token_ids: Sequence[int]
    log_probs: Sequence[float] | None


class ServerManager(Protocol):
    """verl's `AsyncLLMServerManager`, as far as it is called."""

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, object]
    ) -> TokenReply:
        """A reply from the policy in training."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreaming:
    """What is shared by all attempts of one of verl's workers."""

    language: Language
    """The policy's."""
    world_version: str
    pages: Gather[Imagine, Prediction]
    verdicts: Gather[Trajectory, Verdict]
    config: DreamConfig
    max_new_tokens: int
    """Longest reply, tokens."""
    prompt_length: int
    """Longest prompt that verl passes on whole; a longer one is the sampler's fault, never cut."""
    tries: int
    """Attempts whose outcome nobody knows are made again, so often in all."""


def dreaming(
    language: Language,
    world: WorldModel,
    judge: Judge,
    config: DreamConfig,
    *,
    max_new_tokens: int,
    prompt_length: int,
    tries: int = 2,
) -> Dreaming:
    """World model and judge, asked in batches by the attempts that wait."""
    return Dreaming(
        language=language,
        world_version=world.version,
        pages=Gather(world.predict, max_batch=config.max_batch),
        verdicts=Gather(judge.judge, max_batch=config.max_batch),
        config=config,
        max_new_tokens=max_new_tokens,
        prompt_length=prompt_length,
        tries=tries,
    )


class DreamAgentLoop:
    """One attempt for verl. `agent_loop.yaml` (`dynaweb gspo verl`) names `dream_agent_loop`, which makes it."""

    def __init__(self, server_manager: ServerManager, shared: Dreaming) -> None:
        """Nothing is asked yet."""
        self._server = server_manager
        self._shared = shared

    async def run(
        self, sampling_params: Mapping[str, object], **fields: object
    ) -> "list[AgentLoopOutput]":
        """Dream once from the row's start.

        Args:
            sampling_params: of verl's rollout.
            fields: columns of the dataset; `start` is where the dream begins.

        Raises:
            MissingDependencyError: verl is not installed.
            UserError: the row has no start, or the rollout samples from a truncated distribution.
        """
        try:
            from verl.experimental.agent_loop.agent_loop import (  # noqa: PLC0415 - its own environment
                AgentLoopOutput,
            )
        except ImportError as error:
            raise MissingDependencyError(
                f"verl is not installed beside dynaweb ({error}): this loop runs in verl's own environment"
            ) from error
        return [AgentLoopOutput(**row) for row in await self.rows(sampling_params, fields)]

    async def rows(
        self, sampling_params: Mapping[str, object], fields: Mapping[str, object]
    ) -> list[Row]:
        """`run`, without verl's records."""
        _require_whole(sampling_params)
        start = _start_of(fields)
        shared, began = self._shared, time.monotonic()
        name = f"{fields.get('uid', start.task)}/{fields.get('session_id', 0)}"
        sampled_sec = [0.0]
        for k in range(shared.tries):
            seed = derive_seed(0, name, k)
            attempt = await self._attempt(start, f"{name}/{k}", seed, sampling_params, sampled_sec)
            if attempt.outcome is not Outcome.UNKNOWN:
                break
        first = shared.language.encode(act_prompt(start.goal, start.past, start.observation)).ids
        waited = time.monotonic() - began - sampled_sec[0]
        metrics = {"generate_sequences": sampled_sec[0], "tool_calls": waited}
        return output_rows(
            attempt, first[: shared.prompt_length], shared.language.tokenizer.eos_id, metrics
        )

    async def _attempt(
        self,
        start: Start,
        name: str,
        seed: int,
        sampling_params: Mapping[str, object],
        sampled_sec: list[float],
    ) -> Trajectory:
        shared = self._shared

        async def ask(request: SampleRequest) -> Generation:
            began = time.monotonic()
            try:
                return await self._reply(request, sampling_params)
            finally:
                sampled_sec[0] += time.monotonic() - began

        temperature = sampling_params.get("temperature", 1.0)
        assert isinstance(temperature, int | float)
        how = AgentConfig(temperature=temperature, max_new_tokens=shared.max_new_tokens)
        environment = DreamEnvironment(shared.pages.ask, shared.config)
        attempt = await run_episode(
            environment,
            LmAgent(ask, shared.language, VERSION, how),
            trajectory_id=name,
            task=start.task,
            seed=start.seed,
            config=EpisodeConfig(max_steps=shared.config.max_steps),
            behaviour=Behaviour.AGENT,
            start=start,
            episode_seed=seed,
            world_model_version=shared.world_version,
        )
        if not needs_verdict(attempt):
            return attempt
        return with_verdict(attempt, await shared.verdicts.ask(attempt))

    async def _reply(
        self, request: SampleRequest, sampling_params: Mapping[str, object]
    ) -> Generation:
        shared = self._shared
        if len(request.prompt_ids) > shared.prompt_length:
            raise SamplerError(
                f"prompt of {len(request.prompt_ids)} tokens: verl would cut it to rollout.prompt_length={shared.prompt_length}"
            )
        codec = shared.language.tokenizer
        asked = {
            **sampling_params,
            "max_tokens": request.max_new_tokens,
            "logprobs": True,
            "stop_token_ids": [codec.eos_id],
            "seed": request.seed,
        }
        said = await self._server.generate(
            uuid4().hex, prompt_ids=list(request.prompt_ids), sampling_params=asked
        )
        ids = tuple(said.token_ids)
        if not ids:
            raise SamplerError("verl's server gave a reply without a token")
        ended = ids[-1] == codec.eos_id
        return Generation(
            prompt_ids=request.prompt_ids,
            completion_ids=ids,
            logprobs=tuple(said.log_probs or ()),
            temperature=request.temperature,
            seed=request.seed,
            policy_version=VERSION,
            raw_text=codec.decode(ids[:-1] if ended else ids),
            finish="stop" if ended else "length",
        )


def dream_agent_loop(
    *,
    trainer_config: object,
    server_manager: ServerManager,
    policy: str,
    world: str,
    max_steps: int = 5,
    max_new_tokens: int = 48,
    **others: object,
) -> DreamAgentLoop:
    """What hydra makes of `agent_loop.yaml`.

    Args:
        trainer_config: verl's; its rollout says how long prompts and replies may be.
        server_manager: verl's, samples from the policy.
        policy: folder with the policy's tokenizer, the same as verl's model.
        world: folder of a world model with its judge, or of a run that has trained one.
        max_steps: actions before a dream is cut.
        max_new_tokens: longest reply.
        others: what verl gives every agent loop and this one does not need: tokenizer, processor, ...
    """
    rollout = getattr(trainer_config, "config").actor_rollout_ref.rollout  # noqa: B009 - untyped
    longest = min(max_new_tokens, int(rollout.response_length))
    return DreamAgentLoop(
        server_manager, _opened(policy, world, max_steps, longest, int(rollout.prompt_length))
    )


@lru_cache(maxsize=4)
def _opened(
    policy: str, world: str, max_steps: int, max_new_tokens: int, prompt_length: int
) -> Dreaming:
    """Read once in each of verl's workers."""
    folder = world_folder(world)
    ask = asking(folder)
    seen = open_imagination(folder, world_name(folder), ask, judge_of(folder)[0])
    return dreaming(
        load_language(Path(policy)),
        seen.world,
        seen.judge,
        DreamConfig(max_steps=max_steps, show_goal=ask.show_goal),
        max_new_tokens=max_new_tokens,
        prompt_length=prompt_length,
    )


def _start_of(fields: Mapping[str, object]) -> Start:
    text = fields.get("start")
    if not isinstance(text, str):
        raise UserError("the dataset's row has no column 'start': make it with `dynaweb gspo verl`")
    try:
        start = codec_for(Start).decode(json.loads(text), "start")
    except (StorageError, ValueError) as error:
        raise UserError(f"the dataset's column 'start' is damaged: {error}") from error
    assert isinstance(start, Start)
    return start


def _require_whole(sampling_params: Mapping[str, object]) -> None:
    for name, whole in (("top_p", (None, 1, 1.0)), ("top_k", (None, 0, -1))):
        if sampling_params.get(name) not in whole:
            raise UserError(
                f"rollout.{name} {sampling_params[name]!r} samples from a part of the distribution, which biases the ratio: leave it off"
            )
