"""New weights for a sampler at an address: how an update of the policy reaches the server that samples from it.

    adapters   a folder with the LoRA adapters, `/v1/load_lora_adapter`: a name of their own for each version
    weights    a folder with all weights, `/collective_rpc` `reload_weights`: the server's one model changes
    nccl       from GPU to GPU, by TRL's `VLLMClient`; for servers and trainers that both have one

Folders are for servers that see the same file system. They are written aside and renamed, named by version and
checksum, and the one before the last is removed: a server may still be reading the last.
"""

import hashlib
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from transformers import PreTrainedModel

from dynaweb.errors import MissingDependencyError, SamplerError, StorageError, UserError
from dynaweb.lm.asker import Asker, Body, Route
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.model import save_model
from dynaweb.lm.retry import Failure

ADAPTER_WEIGHTS: Final = "adapter_model.safetensors"
MODEL_WEIGHTS: Final = "model.safetensors"
KEPT: Final = 2
"""Folders that are not removed yet: the server's own, and the one it may still be reading."""

_ODD = re.compile(r"[^A-Za-z0-9._+-]+")


class Way(StrEnum):
    """How new weights reach a server."""

    ADAPTERS = "adapters"
    WEIGHTS = "weights"
    NCCL = "nccl"


class Publisher(Protocol):
    """Gives a server new weights."""

    def publish(self, model: PreTrainedModel, version: str) -> str:
        """Give them; returns the server's name for them.

        Raises:
            UserError: not these weights. StorageError: they cannot be written.
            MissingDependencyError: the server does not take them, or is lost.
        """
        ...

    def close(self) -> None:
        """Close connections; safe to call twice."""
        ...


def has_adapters(model: PreTrainedModel) -> bool:
    """Whether LoRA adapters stand beside the model's layers."""
    return any("lora_" in name for name, _ in model.named_parameters())


class _Folders(ABC):
    """Weights as folders on a file system that the server sees too."""

    def __init__(self, config: EndpointConfig, folder: Path, *, api_key: str = "") -> None:
        """Nothing is written yet.

        Args:
            config: of the server; its longest tries hold for updates too.
            folder: where the folders are put; the server must see it under the same path.
            api_key: sent as bearer token; empty sends none.
        """
        self._config = config
        self._folder = folder.resolve()
        self._asker = Asker(config, api_key=api_key)
        self._root = config.url.removesuffix("/v1")
        self._written: list[str] | None = None

    def publish(self, model: PreTrainedModel, version: str) -> str:
        """Write the weights, have the server read them, remove those of before the last."""
        before = self._written if self._written is not None else self._found()
        name = self._write(model, version)
        served = self._load(name)
        written = [*(old for old in before if old != name), name]
        for old in written[:-KEPT]:
            self._forget(old)
            shutil.rmtree(self._folder / old, ignore_errors=True)
        self._written = written[-KEPT:]
        return served

    def close(self) -> None:
        """Close connections; safe to call twice."""
        self._asker.close()

    @abstractmethod
    def _save(self, model: PreTrainedModel, folder: Path) -> Path:
        """Write the weights; returns the file that holds them."""

    @abstractmethod
    def _load(self, name: str) -> str:
        """Have the server read the folder; returns what it calls the weights."""

    @abstractmethod
    def _forget(self, name: str) -> None:
        """Tell the server that the folder goes."""

    def _found(self) -> list[str]:
        """What a run that was cut left here, oldest first."""
        left = [p for p in self._folder.glob("*") if p.is_dir() and not p.name.startswith(".")]
        return [p.name for p in sorted(left, key=lambda p: p.stat().st_mtime_ns)]

    def _write(self, model: PreTrainedModel, version: str) -> str:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._folder, prefix=".writing-") as aside:
                made = Path(aside) / "whole"
                with self._save(model, made).open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
                name = f"{_ODD.sub('-', version)}-{digest}"
                if not (self._folder / name).exists():
                    made.rename(self._folder / name)
        except OSError as error:
            raise StorageError(
                f"cannot write weights for the sampler in {str(self._folder)!r}: {error.strerror or error}"
            ) from error
        return name

    def _tell(self, route: Route, body: Body) -> Failure | None:
        """Post; what the server says does not matter when it is content."""

        async def tell(body: Body) -> bool | Failure:
            return await self._asker.ask(route, body, lambda data: True)

        try:
            (outcome,) = self._asker.each(tell, [body])
        except SamplerError as error:
            raise MissingDependencyError(str(error)) from error
        return outcome if isinstance(outcome, Failure) else None

    def _refused(self, failure: Failure, name: str) -> MissingDependencyError:
        return MissingDependencyError(
            f"the sampler at {self._config.url!r} did not take the weights in {str(self._folder / name)!r}: {failure.message}; it must see this folder under the same path"
        )


class AdapterFolders(_Folders):
    """LoRA adapters, each version under a name of its own, so that no reply can come from another."""

    def _save(self, model: PreTrainedModel, folder: Path) -> Path:
        if not has_adapters(model):
            raise UserError(
                "the policy has no adapters to give to the sampler: train adapters, or give it all weights"
            )
        from dynaweb.lm.adapters import adapters_of, save_adapters  # noqa: PLC0415 - an extra

        save_adapters(model, model.state_dict(), adapters_of(model), folder, self._config.model)
        return folder / ADAPTER_WEIGHTS

    def _load(self, name: str) -> str:
        route = Route(
            address=f"{self._config.url}/load_lora_adapter",
            missing="no way to load adapters: start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1",
        )
        # `load_inplace` would make vLLM read the folder again for every request (vllm#41482)
        body = {"lora_name": name, "lora_path": str(self._folder / name), "load_inplace": False}
        failure = self._tell(route, body)
        # the name holds the checksum: adapters that are there already are these
        if failure is not None and "already been loaded" not in failure.message:
            raise self._refused(failure, name)
        return name

    def _forget(self, name: str) -> None:
        route = Route(
            address=f"{self._config.url}/unload_lora_adapter", missing="no way to unload adapters"
        )
        self._tell(route, {"lora_name": name})


class WeightFolders(_Folders):
    """All weights. The server keeps its one name, so that only the sampler's gap tells whose a reply is."""

    def _save(self, model: PreTrainedModel, folder: Path) -> Path:
        if has_adapters(model):
            raise UserError("the policy has adapters: give the sampler these and not all weights")
        save_model(model, folder)
        return folder / MODEL_WEIGHTS

    def _load(self, name: str) -> str:
        missing = "no way to load weights: start vLLM with VLLM_SERVER_DEV_MODE=1"
        reload = {
            "method": "reload_weights",
            "kwargs": {"weights_path": str(self._folder / name)},
        }
        asked: tuple[tuple[str, Body], ...] = (
            ("collective_rpc", reload),
            # what is cached of prompts was computed by the weights before
            ("reset_prefix_cache", {}),
        )
        for path, body in asked:
            failure = self._tell(Route(address=f"{self._root}/{path}", missing=missing), body)
            if failure is not None:
                raise self._refused(failure, name)
        return self._config.model

    def _forget(self, name: str) -> None:
        """The server has read newer weights since."""


def open_publisher(
    way: Way, config: EndpointConfig, folder: Path, *, api_key: str = ""
) -> Publisher:
    """The publisher of a way.

    Args:
        way: how weights reach the server.
        config: of the server.
        folder: for those that go by folders.
        api_key: sent as bearer token; empty sends none.

    Raises:
        MissingDependencyError: `nccl`, and trl with vLLM is not there.
    """
    match way:
        case Way.ADAPTERS:
            return AdapterFolders(config, folder, api_key=api_key)
        case Way.WEIGHTS:
            return WeightFolders(config, folder, api_key=api_key)
        case Way.NCCL:
            from dynaweb.lm.nccl import NcclPublisher  # noqa: PLC0415 - an extra, and a GPU

            return NcclPublisher(config)
