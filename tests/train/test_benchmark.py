import pytest

from dynaweb.errors import UserError
from dynaweb.lm.model import ModelConfig
from dynaweb.train.benchmark import BenchmarkConfig, benchmark


def test_everything_is_measured() -> None:
    tiny = ModelConfig(hidden=16, layers=1, heads=2, ffn=32, context=64)
    result = benchmark(
        BenchmarkConfig(
            model=tiny,
            vocab_size=512,
            rows=8,
            group=4,
            prompt_tokens=(5, 9),
            new_tokens=3,
            batch_tokens=64,
            repeats=1,
        )
    )
    assert (
        min(
            result.train_adamw,
            result.train_muon,
            result.sample_distinct,
            result.sample_grouped,
            result.generate,
        )
        > 0.0
    )


@pytest.mark.parametrize("changed", [{"rows": 9}, {"repeats": 0}, {"prompt_tokens": (9, 5000)}])
def test_impossible_benchmarks_are_named(changed: dict[str, object]) -> None:
    with pytest.raises(UserError, match="benchmark"):
        BenchmarkConfig(**changed)  # type: ignore[arg-type]
