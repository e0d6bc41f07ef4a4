"""How long work takes, so that a busy machine or a full heap does not decide a test."""

import gc
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of one call.

    Without the garbage collector: a full collection walks everything that earlier tests left behind,
    the more often the more is allocated, and would make linear work look quadratic.
    """
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        work()
        return time.process_time() - began
    finally:
        gc.enable()
