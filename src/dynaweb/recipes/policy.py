"""The agent by supervised training: demonstrations in, a model that acts out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import AgentConfig, LmAgent
from dynaweb.axtree.lexicon import learn_lexicon
from dynaweb.axtree.rename import renamed_copies
from dynaweb.axtree.vocabulary import VocabularyConfig, learn_vocabulary
from dynaweb.dataset.policy import policy_examples
from dynaweb.lm.gather import Gather
from dynaweb.lm.language import Language
from dynaweb.lm.model import build_model, context_length, load_model, save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.prompts.pointers import EVERY_WORD
from dynaweb.recipes.config import RecipeConfig
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.progress import Progress
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig
from dynaweb.train.encode import encode_examples, fitting
from dynaweb.train.fit import FitResult, fit
from dynaweb.train.metrics import fit_progress as fit_progress
from dynaweb.world.beginning import learn_language
from dynaweb.world.train import world_texts

MAX_BATCH = 64


def learn_tokenizer(
    trajectories: Sequence[Trajectory], config: RecipeConfig, folder: Path
) -> Mapping[str, object]:
    """A tokenizer from everything that agent, world model and judge will read and write."""
    lexicon = (
        learn_lexicon(trajectories, config.policy.lexicon) if config.policy.pointers else EVERY_WORD
    )
    shown = policy_examples(trajectories).examples
    texts = ["".join(lexicon.pair(e.prompt, e.completion)) for e in shown]
    texts += world_texts(trajectories, config.world.train, lexicon)
    language = learn_language(texts, lexicon, config.policy.vocab_size)
    language.save(folder)
    known = len(lexicon.words or ())
    return {"vocab_size": language.tokenizer.vocab_size, "texts": len(texts), "lexicon": known}


def encoded_examples(
    trajectories: Sequence[Trajectory],
    language: Language,
    *,
    context: int,
    copies: int,
    seed: int,
) -> tuple[list[Example], dict[str, int]]:
    """Policy examples in tokens, with renamed copies; and the count behind them.

    Demonstrations longer than `context` are left out and counted.
    """
    vocabulary = learn_vocabulary(trajectories, VocabularyConfig())
    attempts = renamed_copies(
        trajectories,
        vocabulary,
        copies=copies,
        seed_of=lambda t, i: derive_seed(seed, "rename", t.trajectory_id, i),
    )
    made = policy_examples(attempts)
    pairs = [(e.prompt, e.completion) for e in made.examples]
    examples, too_long = fitting(encode_examples(language, pairs), context)
    counts = {"attempts": len(trajectories), "attempts_renamed": len(attempts) - len(trajectories)}
    counts |= {"steps_in": made.steps_in, "examples": len(examples)}
    counts["dropped.too_long"] = too_long
    return examples, counts | {f"dropped.{r}": n for r, n in made.dropped.items()}


def train_policy(
    trajectories: Sequence[Trajectory],
    folder: Path,
    *,
    words: Path,
    how: FitConfig,
    config: RecipeConfig,
    progress: Progress,
    stage: str,
    begin: Path | None = None,
) -> dict[str, object]:
    """Train the agent on demonstrations, from new weights or from those in `begin`.

    `words` is the folder with the language.
    """
    torch.set_num_threads(config.threads)
    language = load_language(words)
    model = new_model(config, language) if begin is None else load_model(begin)
    examples, counts = encoded_examples(
        trajectories,
        language,
        context=context_length(model),
        copies=config.policy.renamed_copies,
        seed=config.seed,
    )
    result = fit(model, examples, how, folder / "training", fit_progress(progress, stage))
    language.save(folder)
    save_model(model, folder)
    return fit_facts(result) | {"counts": counts}


def new_model(config: RecipeConfig, language: Language) -> PreTrainedModel:
    """Weights that have learnt nothing; the same for every stage of a run."""
    seed = derive_seed(config.seed, "model") % 2**31
    return build_model(config.policy.model, language.tokenizer.vocab_size, seed)


def fit_facts(result: FitResult) -> dict[str, object]:
    """What a run remembers of a training."""
    return {
        "steps": result.steps,
        "loss": result.loss,
        "tokens": result.tokens,
        "seconds_so_far": float(result.elapsed_sec),
    }


def load_agent(folder: Path, version: str, config: AgentConfig, *, threads: int) -> LmAgent:
    """A trained agent that batches the calls of all episodes that wait."""
    torch.set_num_threads(threads)
    language = load_language(folder)
    sampler = TorchSampler(load_model(folder), language.tokenizer, version)
    gather = Gather(sampler.sample, max_batch=MAX_BATCH)
    return LmAgent(gather.ask, language, version, config)


def only_successes(trajectories: Iterable[Trajectory]) -> list[Trajectory]:
    """Attempts that the real page rewarded."""
    return [t for t in trajectories if t.reward == 1.0]
