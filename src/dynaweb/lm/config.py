"""Shape of the default model. Importable without torch."""

from dataclasses import dataclass

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A small Llama, trained from scratch: about 2.2 M parameters with the defaults.

    Example:
        ModelConfig(hidden=256, layers=6, heads=8, ffn=688)
    """

    hidden: int = 192
    """Width of the residual stream; divisible by `heads`, and the quotient is even (rotary)."""
    layers: int = 4
    """Transformer blocks, at least 1."""
    heads: int = 6
    """Attention heads, at least 1."""
    ffn: int = 512
    """Inner width of the feed-forward part, at least 1."""
    context: int = 2048
    """Longest prompt plus completion, tokens; at least 16."""
    rope_theta: float = 10_000.0
    """Base of the rotary embedding, above 1."""

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "heads", "ffn"):
            if getattr(self, name) < 1:
                raise UserError(f"model {name} is {getattr(self, name)!r}: use at least 1")
        if self.hidden % self.heads or (self.hidden // self.heads) % 2:
            raise UserError(
                f"model hidden {self.hidden!r} must be an even multiple of heads {self.heads!r}"
            )
        if self.context < 16:
            raise UserError(f"model context is {self.context!r}: use at least 16 tokens")
        if self.rope_theta <= 1.0:
            raise UserError(f"model rope_theta is {self.rope_theta!r}: use more than 1")
