"""One seed, many independent streams: derived by hashing, never a shared global generator."""

import hashlib


def derive_seed(seed: int, *parts: str | int) -> int:
    """A 63-bit seed for one call, from the run's seed and what the call is.

    Order and batching of calls cannot change it (contracts: determinism).
    """
    text = "\x1f".join(str(p) for p in (seed, *parts))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
