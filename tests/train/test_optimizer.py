import pytest
import torch

from dynaweb.errors import StorageError
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.optimizer import Muon, Optimizer, orthogonalise

TINY = ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=64)


def test_orthogonal_within_the_iteration_s_promise() -> None:
    for shape in ((3, 8, 24), (3, 24, 8)):
        singular = torch.linalg.svdvals(
            orthogonalise(torch.randn(shape, generator=torch.Generator().manual_seed(0)))
        )
        assert 0.6 < float(singular.min()) <= float(singular.max()) < 1.3


def test_muon_moves_as_torch_s_does() -> None:
    """torch.optim.Muon works in bfloat16: equal up to its rounding."""
    start = [
        torch.randn(s, generator=torch.Generator().manual_seed(i))
        for i, s in enumerate([(8, 24), (24, 8), (8, 24)])
    ]
    ours, theirs = ([torch.nn.Parameter(s.clone()) for s in start] for _ in range(2))
    mine = Muon(ours, lr=0.02, momentum=0.95, weight_decay=0.1)
    reference = torch.optim.Muon(theirs, lr=0.02, momentum=0.95, weight_decay=0.1)
    for step in range(3):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            gradient = torch.randn(a.shape, generator=torch.Generator().manual_seed(10 * step + i))
            a.grad, b.grad = gradient.clone(), gradient.clone()
        mine.step()
        reference.step()
    for a, b, s in zip(ours, theirs, start, strict=True):
        moved = (a - s).detach().norm()
        assert float((a - b).detach().norm() / moved) < 0.05


def test_every_parameter_moves_once_and_only_hidden_matrices_are_muon_s() -> None:
    model = build_model(TINY, 32, 0)
    optimizer = Optimizer(model, OptimizerConfig(name="muon"))
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = torch.randn(p.shape, generator=torch.Generator().manual_seed(0))
    optimizer.step(1.0)
    assert all(not torch.equal(p, before[n]) for n, p in model.named_parameters())
    assert all(p.grad is None for p in model.parameters())
    on_muon = {k.split("/")[1] for k in optimizer.state() if k.startswith("muon/")}
    assert on_muon == {n for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n}


def test_state_of_another_kind_is_refused() -> None:
    model = build_model(TINY, 32, 0)
    optimizer = Optimizer(model, OptimizerConfig(name="adamw"))
    with pytest.raises(StorageError, match="fits no parameter"):
        optimizer.restore({"muon/x/momentum": torch.zeros(2)})
    with pytest.raises(StorageError, match="has shape"):
        optimizer.restore({"adamw/model.norm.weight/exp_avg": torch.zeros(2)})
