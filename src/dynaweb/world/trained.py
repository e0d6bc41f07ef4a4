"""Trained world models in their folders: which folder, how it is asked, and the weights themselves. Importable without torch."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.contracts import WorldModel
from dynaweb.errors import StorageError, UserError
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.folder import fingerprint
from dynaweb.runs.jsonfile import decode, read_object
from dynaweb.world.config import WorldModelConfig

WEIGHTS = "model.safetensors"
WORLD = "world"
RUN_FILE = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedWorld:
    """A trained world model, read."""

    name: str
    """Of its run, else of its folder."""
    model: WorldModel
    checksum: str
    """Of weights and settings."""
    config: WorldModelConfig


def open_trained(spec: str, threads: int | None = None) -> TrainedWorld:
    """Read the weights of a trained world model.

    Args:
        spec: its folder, or a run's.
        threads: of a model on a CPU; as it is set when None.

    Raises:
        UserError: there is none. StorageError: it cannot be read.
    """
    folder = world_folder(spec)
    ask = asking(folder)

    import torch  # noqa: PLC0415 - not every world model needs it

    from dynaweb.lm.model import load_model  # noqa: PLC0415
    from dynaweb.lm.sampler import TorchSampler  # noqa: PLC0415
    from dynaweb.lm.tokenizer import load_language  # noqa: PLC0415
    from dynaweb.world.model import PatchWorldModel  # noqa: PLC0415

    if threads is not None:
        torch.set_num_threads(threads)
    name = world_name(folder)
    language = load_language(folder)
    sampler = TorchSampler(load_model(folder), language.tokenizer, f"world-{name}")
    weights = _digest_file(folder / WEIGHTS)
    return TrainedWorld(
        name=name,
        model=PatchWorldModel(sampler, language, ask),
        checksum=f"{weights}-{fingerprint(ask)}",
        config=ask,
    )


def world_folder(spec: str) -> Path:
    """The folder with the weights.

    Raises:
        UserError: there is none.
    """
    given = Path(spec)
    for folder in (given, given / WORLD):
        if (folder / WEIGHTS).is_file():
            return folder
    raise UserError(
        f"no world model {spec!r}: use copy, nearest, a folder with {WEIGHTS}, a run folder that has trained one, "
        "or a form and a chat model such as full@FOLDER"
    )


def world_name(folder: Path) -> str:
    """What a trained model is called, for people: by its run, where it stands in one, else by its folder."""
    whole = folder.resolve()
    in_run = whole.name == WORLD and (whole.parent / RUN_FILE).is_file()
    return whole.parent.name if in_run else whole.name


def asking(folder: Path) -> WorldModelConfig:
    """How a trained model is asked: as its run asked it, else as it was trained.

    Raises:
        StorageError: what stands beside the weights is damaged.
    """
    run = folder.parent / RUN_FILE
    if folder.name == WORLD and run.is_file():
        body = read_object(run).get("config")
        ask = _inside(body, WORLD, "ask")
        if ask is not None:
            return decode(WorldModelConfig, ask, f"{run}: config.world.ask")
    about = folder / "world.json"
    if not about.is_file():
        return WorldModelConfig()
    body = read_object(about)
    how, lengths = _inside(body.get("config"), "examples"), body.get("ask")
    known = {k: how[k] for k in ("show_goal", "past_actions") if k in how} if isinstance(how, dict) else {}  # fmt: skip
    told = known | (lengths if isinstance(lengths, dict) else {})
    return decode(WorldModelConfig, told, f"{about}: config.examples and ask")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBack:
    """What a training left out to be measured with, as `dataset.split.split_by_task` divides."""

    fraction: float
    """Of the tasks; 0 leaves out none."""
    seed: int


def kept_back(folder: Path) -> KeptBack | None:
    """What `dynaweb world train` held out when it made this model; None for one that it did not make of trajectories.

    Raises:
        StorageError: its result file is damaged.
    """
    told = folder / "result.json"
    body = read_object(told) if told.is_file() else {}
    fraction, seed = body.get("held_out"), body.get("seed")
    if not isinstance(fraction, float) or not isinstance(seed, int):
        return None
    return KeptBack(fraction=fraction, seed=seed)


def _inside(body: object, *keys: str) -> object:
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body


def _digest_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def trajectories_digest(trajectories: Sequence[Trajectory]) -> str:
    """A checksum of attempts, in their order."""
    digest = hashlib.sha256()
    for t in trajectories:
        digest.update(dump(t).encode())
    return digest.hexdigest()
