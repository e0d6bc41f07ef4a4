"""The same loss and the same gradient as TRL's GSPO, where TRL can compute it: every attempt one prompt and one reply.

TRL has no ratio over several prompts; there its own trainer computes one for each step (`Level.STEP`), which is
compared too. TRL's KL is taken without its correction by the ratio, which we do not have. Its loss is a private method of its trainer: the trainer is real, and its version is pinned.
"""

from pathlib import Path

import pytest
import torch
from tests.gspo.test_update import model
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.bench.training.trl_side import LossSettings, grpo_trainer
from dynaweb.gspo.config import ClipConfig, Level, UpdateConfig
from dynaweb.gspo.gradient import accumulate
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.update import score_old
from dynaweb.lm.model import save_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TOKENS = 40


def attempts(rows: int) -> list[TrainTrajectory]:
    """Ragged replies; every attempt has as many rows, since TRL weighs rows and we weigh attempts."""
    stream = torch.Generator().manual_seed(5)

    def ids(low: int, high: int) -> tuple[int, ...]:
        n = int(torch.randint(low, high + 1, (), generator=stream))
        return tuple(torch.randint(3, TOKENS, (n,), generator=stream).tolist())

    return [
        TrainTrajectory(
            name=f"t{n}",
            source=Source.DREAM,
            reward=float(n % 2),
            advantage=(-1.0) ** n * (0.3 + n / 7),
            copies=1,
            rows=tuple(Row(prompt_ids=ids(3, 20), completion_ids=ids(1, 7)) for _ in range(rows)),
        )
        for n in range(6)
    ]


def grads(policy: PreTrainedModel) -> Tensor:
    return torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])


def ours(some: list[TrainTrajectory], settings: UpdateConfig) -> tuple[float, Tensor]:
    policy, tally = model(0), Tally()
    accumulate(policy, score_old(model(1), model(2), some, settings), settings, tally)
    return tally.loss, grads(policy)


def theirs(some: list[TrainTrajectory], settings: UpdateConfig, out: Path) -> tuple[float, Tensor]:
    trainer = trainer_of(settings, out)
    rows = [(a.advantage, r) for a in some for r in a.rows]
    batch = padded([r for _, r in rows])
    batch["advantages"] = torch.tensor([worth for worth, _ in rows])
    scored = score_old(model(1), model(2), some, settings)
    lengths = [len(r.completion_ids) for _, r in rows]
    for name, logp in (
        ("old_per_token_logps", torch.cat([s.old_logp_T for s in scored])),
        ("ref_per_token_logps", torch.cat([s.reference_logp_T for s in scored])),
    ):
        width = batch["completion_ids"].shape[1]
        cut = torch.split(logp, lengths)
        batch[name] = torch.stack([torch.nn.functional.pad(x, (0, width - len(x))) for x in cut])
    policy = trainer.model.eval()
    loss = trainer._compute_loss(policy, batch)
    loss.backward()
    return float(loss.detach()), grads(policy)


def trainer_of(settings: UpdateConfig, out: Path):
    pytest.importorskip("trl", reason="pip install 'dynaweb[parity]'")
    save_model(model(0), out / "weights")  # with KL, TRL reads its reference from the same place
    asked = LossSettings(
        low=settings.clip.low,
        high=settings.clip.high,
        kl=settings.kl,
        temperature=settings.temperature,
        token_level=settings.level is Level.TOKEN,
    )
    return grpo_trainer(out / "weights", out, TOKENS, asked)


def padded(rows: list[Row]) -> dict[str, Tensor]:
    """TRL's layout: prompts padded on the left, completions on the right."""
    before = max(len(r.prompt_ids) for r in rows)
    after = max(len(r.completion_ids) for r in rows)

    def left(ids: tuple[int, ...]) -> list[int]:
        return [0] * (before - len(ids)) + list(ids)

    def right(ids: tuple[int, ...]) -> list[int]:
        return list(ids) + [0] * (after - len(ids))

    def ones(ids: tuple[int, ...]) -> tuple[int, ...]:
        return (1,) * len(ids)

    return {
        "prompt_ids": torch.tensor([left(r.prompt_ids) for r in rows]),
        "prompt_mask": torch.tensor([left(ones(r.prompt_ids)) for r in rows]),
        "completion_ids": torch.tensor([right(r.completion_ids) for r in rows]),
        "completion_mask": torch.tensor([right(ones(r.completion_ids)) for r in rows]),
    }


@pytest.mark.parametrize(
    ("level", "rows", "kl"),
    [
        (Level.TRAJECTORY, 1, 0.0),
        (Level.TRAJECTORY, 1, 0.1),
        (Level.TOKEN, 1, 0.0),
        (Level.TOKEN, 1, 0.1),
        (Level.STEP, 2, 0.0),  # its KL weighs rows, ours the tokens of an attempt
    ],
)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_loss_and_gradient_are_trls(
    level: Level, rows: int, kl: float, temperature: float, tmp_path: Path
) -> None:
    settings = UpdateConfig(
        level=level,
        clip=ClipConfig(low=0.05, high=0.07, reference_tokens=None),
        kl=kl,
        temperature=temperature,
    )
    some = attempts(rows)
    loss, gradient = ours(some, settings)
    their_loss, their_gradient = theirs(some, settings, tmp_path)
    assert abs(loss) > 1e-3
    assert loss == pytest.approx(their_loss, abs=1e-5)
    assert float(gradient.abs().max()) > 1e-4
    assert torch.allclose(gradient, their_gradient, atol=1e-5)
