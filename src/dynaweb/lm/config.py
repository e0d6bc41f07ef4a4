"""Shape of the default model, and how an endpoint is asked. Importable without torch."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

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


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointConfig:
    """An OpenAI-compatible server and how it is asked. The key itself is never part of it.

    Example:
        EndpointConfig(url="http://127.0.0.1:8000/v1", model="Qwen/WebWorld-8B", in_flight=32)
    """

    url: str
    """Base address, up to and with `/v1`; an address without a path gets `/v1`."""
    model: str
    """Name that the server knows the model by."""
    key_variable: str = ""
    """Name of the environment variable that holds the API key; empty sends none."""
    in_flight: int = 8
    """Most requests at the server at once."""
    connect_sec: float = 10.0
    """Longest wait for a connection, seconds."""
    attempt_sec: float = 120.0
    """Longest single try, from connecting to the last byte, seconds."""
    deadline_sec: float = 600.0
    """Longest time for one request with all its tries and pauses, seconds from its first try."""
    tries: int = 5
    """Most tries of one request."""
    backoff_sec: float = 0.5
    """Pause before the second try, seconds; doubled before each further one, then drawn from half of it to all."""
    backoff_max_sec: float = 30.0
    """Longest pause that is not the server's own wish, seconds."""
    max_reply_bytes: int = 8 << 20
    """Longest answer that is read; a longer one is a failure."""
    logprobs: bool = True
    """Ask for log-probabilities; a server that refuses them is asked without from then on."""
    send_seed: bool = True
    """Send each request's seed; off for servers that refuse one."""
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the server calls the longest reply."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", base_address(self.url))
        if not self.model.strip():
            raise UserError(
                "endpoint model is empty: use a name that the server lists at /v1/models"
            )
        ranges = {
            "in_flight": (self.in_flight, 1, 4096),
            "connect_sec": (self.connect_sec, 0.01, 3600),
            "attempt_sec": (self.attempt_sec, 0.01, 86_400),
            "deadline_sec": (self.deadline_sec, 0.01, 604_800),
            "tries": (self.tries, 1, 100),
            "backoff_sec": (self.backoff_sec, 0.0, 3600),
            "backoff_max_sec": (self.backoff_max_sec, 0.0, 3600),
            "max_reply_bytes": (self.max_reply_bytes, 1024, 1 << 30),
        }
        for name, (value, low, high) in ranges.items():
            if not low <= value <= high:
                raise UserError(f"endpoint {name} {value!r} is out of range: use {low} to {high}")

    @property
    def loopback(self) -> bool:
        """The server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host name or address always means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def base_address(url: str) -> str:
    """A server's base address without a last slash; `/v1` where it has no path.

    Raises:
        UserError: it is none, or holds a password.
    """
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UserError(f"endpoint url is no address ({error}): use http://HOST:PORT/v1") from error
    if "@" in parts.netloc:
        # not shown: what stands before the @ is a secret
        raise UserError(
            "endpoint url holds a user name or password: give the key in an environment variable, and its name as key_variable"
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise UserError(f"endpoint url {url!r} is no base address: use http://HOST:PORT/v1")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """LoRA adapters beside the linear layers of a frozen model.

    Example:
        AdapterConfig(rank=16, alpha=32)
    """

    rank: int = 0
    """Inner width; 0 trains the whole model instead."""
    alpha: int = 32
    """Adapters are scaled by alpha / rank; above 0."""

    def __post_init__(self) -> None:
        if not 0 <= self.rank <= 4096 or not 1 <= self.alpha <= 65_536:
            raise UserError(
                f"adapters of rank {self.rank!r} and alpha {self.alpha!r} cannot be: use a rank of 0 to 4096 and an alpha of 1 or more"
            )
