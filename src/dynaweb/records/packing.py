"""Token ids and log-probabilities in few characters: little-endian numbers in base64, exactly.

`H:` and `I:` are unsigned integers of 16 and 32 bits, `f:` and `d:` are floats of 32 and 64 bits.
"""

import base64
import sys
from array import array


def pack_ints(values: tuple[int, ...]) -> str | None:
    """Whole numbers as text; None when one of them does not fit in 32 unsigned bits."""
    if min(values) < 0 or max(values) >= 1 << 32:
        return None
    return _packed(array("H" if max(values) < 1 << 16 else "I", values))


def pack_floats(values: tuple[float, ...]) -> str:
    """Floats as text."""
    # torch gives float32 values; half the bytes where that loses nothing
    single = array("f", values)
    return _packed(single if tuple(single) == values else array("d", values))


def _packed(numbers: "array[int] | array[float]") -> str:
    if sys.byteorder == "big":
        numbers.byteswap()
    return f"{numbers.typecode}:{base64.b64encode(numbers.tobytes()).decode('ascii')}"


def unpack(text: str) -> tuple[int, ...] | tuple[float, ...] | None:
    """The numbers again; None when the text is not packed numbers."""
    code, _, body = text.partition(":")
    if code not in ("H", "I", "f", "d"):
        return None
    numbers: array[int] | array[float] = (
        array("H") if code == "H" else array("I") if code == "I" else array(code)
    )
    try:
        numbers.frombytes(base64.b64decode(body, validate=True))
    except ValueError:
        return None
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers.tolist())
