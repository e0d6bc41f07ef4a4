"""All weights from the trainer's GPU to the server's, by TRL's `VLLMClient` and vLLM's own transfer engine.

Nothing of the transfer is ours. It needs trl with vLLM beside the trainer, a CUDA device on both sides, and a server
started with `VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --weight-transfer-config '{"backend": "nccl"}'`.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from transformers import PreTrainedModel

from dynaweb.errors import MissingDependencyError, UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.publish import has_adapters

if TYPE_CHECKING:
    from trl.generation.vllm_client import VLLMClient


class NcclPublisher:
    """A `publish.Publisher` without files. The server keeps its one name, as with `publish.WeightFolders`."""

    def __init__(self, config: EndpointConfig) -> None:
        """Nothing is connected yet.

        Raises:
            MissingDependencyError: trl or vLLM is not installed.
        """
        if not find_spec("trl") or not find_spec("vllm"):
            raise MissingDependencyError(
                "weights by NCCL need trl and vLLM in this environment: pip install 'trl[vllm]', or give the sampler folders (adapters, weights)"
            )
        self._config = config
        self._client: VLLMClient | None = None

    def publish(self, model: PreTrainedModel, version: str) -> str:
        """Send every parameter to the server.

        Raises:
            MissingDependencyError: no CUDA device here, or the server is lost or cannot take weights.
            UserError: the policy has adapters.
        """
        if has_adapters(model):
            raise UserError("the policy has adapters: give the sampler these and not all weights")
        if model.device.type != "cuda":
            raise MissingDependencyError(
                f"weights by NCCL need the policy on a CUDA device, it is on {str(model.device)!r}: give the sampler folders (adapters, weights)"
            )
        try:
            if self._client is None:
                from trl.generation.vllm_client import VLLMClient  # noqa: PLC0415 - an extra

                client = VLLMClient(base_url=self._config.url.removesuffix("/v1"))
                client.init_communicator(model.device)
                self._client = client
            self._client.update_model_params(model)
            self._client.reset_prefix_cache()
        except Exception as error:  # trl raises bare Exception for what a server refuses
            raise MissingDependencyError(
                f"the sampler at {self._config.url!r} did not take the weights: {error}"
            ) from error
        return self._config.model

    def close(self) -> None:
        """Leave the group that weights are sent through; safe to call twice."""
        if self._client is not None:
            client, self._client = self._client, None
            client.close_communicator()
