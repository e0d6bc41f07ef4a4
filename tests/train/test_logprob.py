import pytest
import torch

from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.batch import Example
from dynaweb.train.logprob import completion_logprobs, flat_logprobs

MODEL = build_model(ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=64), 32, 0)
ROWS = [
    Example(prompt_ids=(3, 4, 5), completion_ids=(6, 7)),
    Example(prompt_ids=(8,), completion_ids=(9, 10, 11, 1)),
    Example(prompt_ids=(12,) * 20, completion_ids=(13,)),
]


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_rows_together_are_rows_alone_with_the_whole_output(temperature: float) -> None:
    together = completion_logprobs(MODEL, ROWS, temperature=temperature)
    assert [len(t) for t in together] == [2, 4, 1]
    for row, logp in zip(ROWS, together, strict=True):
        logits = (
            MODEL(input_ids=torch.tensor([row.prompt_ids + row.completion_ids])).logits[0]
            / temperature
        )
        places = range(len(row.prompt_ids) - 1, row.length - 1)
        expected = torch.stack(
            [logits[p].log_softmax(-1)[t] for p, t in zip(places, row.completion_ids, strict=True)]
        )
        torch.testing.assert_close(logp, expected, rtol=1e-5, atol=1e-6)


def test_gradients_do_not_depend_on_the_company() -> None:
    def gradient(groups: list[list[Example]]) -> torch.Tensor:
        MODEL.zero_grad()
        for rows in groups:
            flat_logprobs(MODEL, rows).sum().backward()
        return torch.cat([p.grad.flatten() for p in MODEL.parameters() if p.grad is not None])

    torch.testing.assert_close(
        gradient([ROWS]), gradient([[r] for r in ROWS[::-1]]), rtol=1e-4, atol=1e-5
    )


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match=r"rows \[1\] of 2"):
        flat_logprobs(MODEL, [ROWS[0], Example(prompt_ids=(3,), completion_ids=())])
    with pytest.raises(ValueError, match="temperature 0"):
        flat_logprobs(MODEL, ROWS, temperature=0.0)
