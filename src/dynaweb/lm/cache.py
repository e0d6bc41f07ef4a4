"""Keys and values of attention, in buffers allocated once per batch."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import Cache, PreTrainedModel
from transformers.cache_utils import DynamicLayer


class RoomyLayer(DynamicLayer):
    """A cache layer that writes in place.

    Transformers' own layer copies all keys and values at every token; at 64 rows that costs more
    than the model itself.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
        self.capacity = capacity
        self.length = 0
        self.key_buffer = torch.empty(0)
        self.value_buffer = torch.empty(0)

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Allocate room for `capacity` positions of every row."""
        rows, heads, _, width = key_states.shape
        self.key_buffer = key_states.new_empty(rows, heads, self.capacity, width)
        self.value_buffer = value_states.new_empty(
            rows, heads, self.capacity, value_states.shape[-1]
        )
        self.is_initialized = True

    def update(
        self,
        key_states: Float[Tensor, "B H T D"],
        value_states: Float[Tensor, "B H T D"],
        *args: object,
        **kwargs: object,
    ) -> tuple[Tensor, Tensor]:
        """Append positions; returns all so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[-2]
        self.key_buffer[:, :, self.length : end] = key_states
        self.value_buffer[:, :, self.length : end] = value_states
        self.length = end
        return self.key_buffer[:, :, :end], self.value_buffer[:, :, :end]

    def get_seq_length(self) -> int:
        """Positions so far."""
        return self.length

    def select(self, rows: Int[Tensor, " B"]) -> None:
        """Keep these rows, in this order; a row may be named more than once."""
        self.key_buffer = self.key_buffer[rows]
        self.value_buffer = self.value_buffer[rows]


class RoomyCache(Cache):
    """One `RoomyLayer` per layer of the model."""

    def __init__(self, model: PreTrainedModel, capacity: int) -> None:
        self.rooms: list[RoomyLayer] = [
            RoomyLayer(capacity) for _ in range(model.config.get_text_config().num_hidden_layers)
        ]
        super().__init__(layers=[*self.rooms])

    def select(self, rows: Int[Tensor, " B"]) -> None:
        """Keep these rows of every layer, in this order."""
        for room in self.rooms:
            room.select(rows)
