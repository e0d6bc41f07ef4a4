import random
from pathlib import Path

import pytest
import torch

from dynaweb.contracts import SampleRequest
from dynaweb.errors import SamplerError
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import Tokenizer, train_tokenizer
from dynaweb.train.batch import Example
from dynaweb.train.logprob import completion_logprobs

TINY = ModelConfig(hidden=32, layers=2, heads=4, ffn=64, context=64)
TOKENIZER = train_tokenizer(["click('13')"], 300)
MODEL = build_model(TINY, TOKENIZER.vocab_size, 0)


def sampler(batch_tokens: int = 10_000) -> TorchSampler:
    return TorchSampler(MODEL, TOKENIZER, "v1", batch_tokens=batch_tokens)


def requests(count: int = 24, temperature: float | None = None) -> list[SampleRequest]:
    """Prompts of many lengths, some equal, greedy and sampled mixed."""
    stream = random.Random(5)
    prompts = [
        tuple(stream.randrange(2, TOKENIZER.vocab_size) for _ in range(stream.randrange(1, 30)))
        for _ in range(count // 2)
    ]
    return [
        SampleRequest(
            prompt_ids=prompts[i % len(prompts)],
            max_new_tokens=1 + i % 20,
            temperature=temperature if temperature is not None else 0.7 * (i % 3),
            seed=i,
        )
        for i in range(count)
    ]


def test_a_reply_does_not_depend_on_its_batch() -> None:
    together = sampler().sample(requests())
    alone = [sampler().sample([r])[0] for r in requests()]
    shuffled = sampler(batch_tokens=200).sample(requests()[::-1])[::-1]
    for other in (alone, shuffled):
        for a, b in zip(together, other, strict=True):
            assert (a.completion_ids, a.finish, a.raw_text) == (
                b.completion_ids,
                b.finish,
                b.raw_text,
            )
            assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
def test_log_probabilities_are_those_of_the_trainer(temperature: float) -> None:
    replies = sampler().sample(requests(temperature=temperature))
    with torch.no_grad():
        for row, reply in zip(
            completion_logprobs(MODEL, replies, temperature=temperature), replies, strict=True
        ):
            assert row.tolist() == pytest.approx(reply.logprobs, abs=1e-5)


def test_greedy_takes_the_likeliest_and_reports_the_model_at_temperature_one() -> None:
    reply = sampler().sample(
        [SampleRequest(prompt_ids=(5, 6, 7), max_new_tokens=6, temperature=0.0, seed=0)]
    )[0]
    ids = [5, 6, 7]
    for token, logprob in zip(reply.completion_ids, reply.logprobs, strict=True):
        with torch.no_grad():
            logits = MODEL(input_ids=torch.tensor([ids])).logits[0, -1]
        assert token == int(logits.argmax())
        assert logprob == pytest.approx(float(logits.log_softmax(-1).max()), abs=1e-5)
        ids.append(token)


def test_samples_follow_the_distribution() -> None:
    prompt = (9, 8, 7)
    replies = sampler().sample(
        [
            SampleRequest(prompt_ids=prompt, max_new_tokens=1, temperature=0.3, seed=s)
            for s in range(4000)
        ]
    )
    with torch.no_grad():
        expected = (MODEL(input_ids=torch.tensor([prompt])).logits[0, -1] / 0.3).softmax(-1)
    counts = torch.bincount(
        torch.tensor([r.completion_ids[0] for r in replies]), minlength=TOKENIZER.vocab_size
    )
    assert float((counts / 4000 - expected).abs().sum() / 2) < 0.15


def test_the_seed_decides() -> None:
    def ask(seed: int) -> tuple[int, ...]:
        return (
            sampler()
            .sample(
                [SampleRequest(prompt_ids=(3,), max_new_tokens=20, temperature=1.0, seed=seed)]
            )[0]
            .completion_ids
        )

    assert ask(1) == ask(1)
    assert ask(1) != ask(2)


def test_the_end_token_ends_a_reply() -> None:
    model = build_model(TINY, TOKENIZER.vocab_size, 0)
    with torch.no_grad():
        hidden = model.base_model(input_ids=torch.tensor([[4]])).last_hidden_state[0, -1]
        model.get_output_embeddings().weight[TOKENIZER.eos_id] = 10 * hidden
    reply = TorchSampler(model, TOKENIZER, "v1").sample(
        [SampleRequest(prompt_ids=(4,), max_new_tokens=9, temperature=0.0, seed=0)]
    )[0]
    assert reply.completion_ids == (TOKENIZER.eos_id,)
    assert (reply.finish, reply.raw_text) == ("stop", "")


def test_a_reply_stops_at_its_limit_or_the_context() -> None:
    short, full = sampler().sample(
        [
            SampleRequest(prompt_ids=(4,), max_new_tokens=3, temperature=1.0, seed=0),
            SampleRequest(prompt_ids=(4,) * 60, max_new_tokens=50, temperature=1.0, seed=0),
        ]
    )
    assert (len(short.completion_ids), short.finish) == (3, "length")
    assert (len(full.completion_ids), full.finish) == (4, "length")


def test_scores_are_summed_log_probabilities() -> None:
    prompts = [(4, 5, 6), (7,), (8, 9)]
    choices = [[(10, 11), (12,)], [(13, 14, 15)], [(16,), (17, 18), (19,)]]
    scores = sampler(batch_tokens=8).score(prompts, choices)
    assert [len(s) for s in scores] == [2, 1, 3]
    with torch.no_grad():
        for prompt, given, answered in zip(prompts, choices, scores, strict=True):
            rows = completion_logprobs(
                MODEL, [Example(prompt_ids=prompt, completion_ids=c) for c in given]
            )
            assert [float(r.sum()) for r in rows] == pytest.approx(answered, abs=1e-5)


def test_other_weights_answer_after_an_update() -> None:
    s = sampler()
    before = s.sample(requests(4))
    s.update(build_model(TINY, TOKENIZER.vocab_size, 1), "v2")
    after = s.sample(requests(4))
    assert s.version == after[0].policy_version == "v2"
    assert [g.completion_ids for g in before] != [g.completion_ids for g in after]


def test_bad_questions_are_named() -> None:
    s = sampler()
    for ids, new, heat, message in (
        ((), 1, 0.0, "empty prompt"),
        ((4,) * 64, 1, 0.0, "context of 64"),
        ((4,), 0, 0.0, "0 tokens"),
        ((4, 10**6), 1, 0.0, "no id 1000000"),
        ((4,), 1, -1.0, "temperature -1.0"),
    ):
        with pytest.raises(SamplerError, match=message):
            s.sample([SampleRequest(prompt_ids=ids, max_new_tokens=new, temperature=heat, seed=0)])
    with pytest.raises(SamplerError, match="empty prompt or completion"):
        s.score([(4,)], [[()]])
    assert s.sample([]) == []
    assert s.score([], []) == []


def test_a_saved_pair_answers_the_same(tmp_path: Path) -> None:
    from dynaweb.lm.model import load_model, save_model

    save_model(MODEL, tmp_path)
    TOKENIZER.save(tmp_path)
    again = TorchSampler(load_model(tmp_path), Tokenizer.load(tmp_path), "v1")
    assert again.sample(requests()) == sampler().sample(requests())
