"""Training with a sampler at an address: the same run as in one process, and what is found when it is not the same sampler."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from tests.gspo import toys
from tests.gspo.test_train import QUICK, rows, weights
from tests.lm.faulty import Faulty
from tests.serve.running import running
from transformers import PreTrainedModel

from dynaweb.errors import MissingDependencyError, TrainingError
from dynaweb.gspo.train import Parts, train_gspo
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.language import Language
from dynaweb.lm.localpolicy import LocalPolicy
from dynaweb.lm.model import save_model
from dynaweb.lm.publish import WeightFolders
from dynaweb.lm.remote import RemoteSampler
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.sampler import sampler_app

pytestmark = pytest.mark.usefixtures("one_thread")
SHORT = dataclasses.replace(QUICK, iterations=2)


@pytest.fixture(scope="module")
def served_folder(half_trained: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "toy"
    save_model(half_trained, folder)
    Language(toys.tokenizer()).save(folder)
    return folder


class Deaf(LocalPolicy):
    """Says that it has taken the new weights, and keeps the old ones."""

    def reload(self, path: str) -> None:
        pass


@contextmanager
def far(
    model: PreTrainedModel,
    folder: Path,
    updates: Path,
    policy: type[LocalPolicy] = LocalPolicy,
    acts: tuple[str, ...] = (),
) -> Iterator[tuple[Parts, RemoteSampler]]:
    server = policy(folder, "toy", updates=updates)
    with running(Faulty(sampler_app(server, ServeConfig()), iter(acts))) as url:
        config = EndpointConfig(url=url, model="toy", in_flight=64, tries=3, backoff_sec=0.01)
        publisher = WeightFolders(config, updates)
        with RemoteSampler(config, toys.tokenizer(), "toy", publisher=publisher) as sampler:
            yield dataclasses.replace(toys.parts(model), sampler=sampler), sampler


def test_it_is_the_run_of_one_process(
    half_trained: PreTrainedModel, served_folder: Path, tmp_path: Path
) -> None:
    """Rewards, updates and weights, though answers break on the way and are asked for again."""
    here = toys.parts(toys.copy_weights(half_trained))
    train_gspo(here, SHORT, tmp_path / "here")
    model, acts = toys.copy_weights(half_trained), ("500", "well", "cut", "500")
    with far(model, served_folder, tmp_path / "updates", acts=acts) as (parts, sampler):
        train_gspo(parts, SHORT, tmp_path / "there")
        assert sampler.version == "toy+gspo2" and not sampler.tally.failed
        assert sum(sampler.tally.retried.values()) == 3
    assert torch.allclose(weights(parts), weights(here), atol=1e-5)
    for one, other in zip(rows(tmp_path / "here"), rows(tmp_path / "there"), strict=True):
        assert one["dream/reward"] == other["dream/reward"]
        assert one["groups_trained"] == other["groups_trained"]
        assert (other["update/sampler_gap"] or 0.0) < 1e-4


def test_a_server_that_keeps_old_weights_is_found(
    half_trained: PreTrainedModel, served_folder: Path, tmp_path: Path
) -> None:
    """Its replies carry the new version's name; their log-probabilities give it away."""
    fast = dataclasses.replace(SHORT.update.optimizer, learning_rate=0.05)
    update = dataclasses.replace(
        SHORT.update, optimizer=fast, warmup_steps=0, sampler_gap_limit=1e-3
    )
    config = dataclasses.replace(SHORT, update=update)
    model = toys.copy_weights(half_trained)
    with (
        far(model, served_folder, tmp_path / "updates", Deaf) as (parts, _),
        pytest.raises(TrainingError, match="must hold the same weights"),
    ):
        train_gspo(parts, config, tmp_path / "run")


def test_a_lost_server_ends_the_run_and_the_same_command_goes_on(
    half_trained: PreTrainedModel, served_folder: Path, tmp_path: Path
) -> None:
    one = dataclasses.replace(SHORT, iterations=1)
    model = toys.copy_weights(half_trained)
    with far(model, served_folder, tmp_path / "updates") as (parts, _):
        train_gspo(parts, one, tmp_path / "run")
    with pytest.raises(MissingDependencyError, match="did not take the weights"):
        train_gspo(
            dataclasses.replace(parts, policy=toys.copy_weights(half_trained)),
            SHORT,
            tmp_path / "run",
        )
    again = toys.copy_weights(half_trained)
    with far(again, served_folder, tmp_path / "updates") as (parts, _):
        assert train_gspo(parts, SHORT, tmp_path / "run").resumed_from == 1
    here = toys.parts(toys.copy_weights(half_trained))
    train_gspo(here, SHORT, tmp_path / "here")
    assert torch.allclose(weights(parts), weights(here), atol=1e-5)
