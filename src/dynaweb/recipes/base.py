"""The stage before the first demonstration: a new model learns to look things up on made-up pages (ours)."""

from collections.abc import Mapping
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.dataset.exercises import Lesson, exercises
from dynaweb.lm.language import Language
from dynaweb.lm.model import save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.policy import fit_facts, fit_progress, new_model
from dynaweb.recipes.stage import Run
from dynaweb.records.seeds import derive_seed
from dynaweb.train.config import FitConfig
from dynaweb.train.encode import encode_examples
from dynaweb.train.fit import fit

BASE = "base"
UNSEEN = 300
"""Exercises that it is measured on."""


def learn_to_read(run: Run, words: Path) -> Path | None:
    """Train a base; None when the recipe has no exercises.

    Args:
        run: the recipe.
        words: folder with the language.
    """
    config = run.config
    practice = config.policy.base
    if not practice.find and not practice.mixed:
        return None
    inputs = {
        "words": run.made(words),
        "base": practice,
        "model": config.policy.model,
        "seed": config.seed,
    }

    def work(folder: Path) -> Mapping[str, object]:
        torch.set_num_threads(config.threads)
        language = load_language(words)
        model = new_model(config, language)
        facts = _practise(run, model, language, folder)
        language.save(folder)
        save_model(model, folder)
        sampler = TorchSampler(model, language.tokenizer, BASE)
        right = {k.value: _right(sampler, language, k, config.seed) for k in Lesson}
        return facts | {"unseen": UNSEEN, "right": right}

    run.stage(BASE, inputs, work)
    return run.path(BASE)


def _practise(
    run: Run, model: PreTrainedModel, language: Language, folder: Path
) -> dict[str, object]:
    """One lesson after the other, each once through its exercises."""
    practice, seed = run.config.policy.base, run.config.seed
    counts = {Lesson.FIND: practice.find, Lesson.MIXED: practice.mixed}
    lessons = [lesson for lesson in Lesson if counts[lesson]]
    facts: dict[str, object] = {}
    seconds = 0.0
    for lesson in lessons:
        made = exercises(counts[lesson], language.lexicon.words or (), lesson, seed=seed)
        how = FitConfig(
            epochs=1.0,
            batch_tokens=practice.batch_tokens,
            optimizer=practice.optimizer,
            decay_fraction=0.5 if lesson is lessons[-1] else 0.0,
            seed=derive_seed(seed, BASE, lesson.value) % 2**31,
        )
        rows = encode_examples(language, [(e.prompt, e.completion) for e in made])
        result = fit(model, rows, how, folder / lesson.value, fit_progress(run.progress, BASE))
        seconds += result.elapsed_sec
        facts[lesson.value] = fit_facts(result)
    return facts | {"seconds_so_far": seconds}


def _right(sampler: TorchSampler, language: Language, lesson: Lesson, seed: int) -> int:
    """Exercises right of `UNSEEN` that it was not trained on."""
    unseen = exercises(
        UNSEEN, language.lexicon.words or (), lesson, seed=derive_seed(seed, "unseen exercises")
    )
    asked = [language.encode(e.prompt) for e in unseen]
    requests = [
        SampleRequest(prompt_ids=a.ids, max_new_tokens=32, temperature=0.0, seed=0) for a in asked
    ]
    replies = sampler.sample(requests)
    return sum(
        a.read(r).raw_text == e.completion for a, r, e in zip(asked, replies, unseen, strict=True)
    )
