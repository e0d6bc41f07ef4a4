"""How a command ends: one line that says how to mend it, and an exit code that says whose turn it is.

0 done · 1 the run failed · 2 the command or its configuration is wrong · 3 finished, but with more failures than allowed ·
4 the machine lacks something · 130 interrupted · 143 terminated
"""

import difflib
import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from types import FrameType

import typer

from dynaweb.cli.saying import clean
from dynaweb.errors import DynawebError, MissingDependencyError, StorageError, UserError

OK, FAILED, USAGE, TOO_MANY_FAILURES, MISSING, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 130, 143

# typer brings its own copy of click since 0.27; its public names lead to the common base in every version
CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]

EXTRAS = {
    "torch": "train",
    "transformers": "train",
    "tokenizers": "train",
    "safetensors": "train",
    "jaxtyping": "train",
    "playwright": "browser",
    "protego": "browser",
    "miniwob": "browser",
    "psutil": "browser",
    "numpy": "study",
    "scipy": "study",
    "pyarrow": "data",
    "rensa": "data",
    "selectolax": "data",
    "apted": "bench",
    "zss": "bench",
    "httpx2": "chat",
    "starlette": "serve",
    "uvicorn": "serve",
    "peft": "lora",
    "ray": "ray",
}
"""Package -> the extra of dynaweb that brings it."""


DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""No path is wrong then: the machine lacks room."""


class TooManyFailuresError(DynawebError):
    """The command finished its work, but more of it failed than the caller allows: exit 3."""


def run(command: Callable[[], object], *, debug: bool) -> int:
    """Run a command; print at most one line for an error, and return the exit code.

    Args:
        command: does everything; may return an exit code.
        debug: print tracebacks of named errors too.
    """
    ended: list[int] = []

    def terminate(number: int, frame: FrameType | None) -> None:
        ended.append(number)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # a shell's background job is born deaf to the keyboard; it must still end when told to
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)  # asyncio winds down cleanly on this one alone

    signal.signal(signal.SIGTERM, terminate)
    try:
        code = _ending(command, debug=debug)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code != INTERRUPTED:
        return code
    # typer turns the keyboard's interrupt into this code by itself
    return complain(
        "interrupted; run the same command again to go on", TERMINATED if ended else code
    )


def _ending(command: Callable[[], object], *, debug: bool) -> int:
    try:
        code = command()
        # here, where an end can still be told, and not while Python shuts down
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except DynawebError as error:
        if debug:
            traceback.print_exc()
        return complain(str(error), _code(error))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if debug or package not in EXTRAS:
            traceback.print_exc()
        extra = EXTRAS.get(package, "train,browser,study")
        return complain(f"needs the package {package!r}: pip install 'dynaweb[{extra}]'", MISSING)
    except typer.Exit as ending:
        return ending.exit_code
    except CLICK_ERROR as error:
        return complain(_usage_line(error), USAGE)
    except OSError as error:
        return _refused(error, debug=debug)
    except SystemExit as ending:
        # the command line's library turns a broken pipe inside a command into exit code 1
        if isinstance(ending.__context__, BrokenPipeError):
            return _refused(ending.__context__, debug=debug)
        raise


def _discard_output() -> None:
    """What is still held back for standard output cannot be written: Python would fail at it once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _refused(error: OSError, *, debug: bool) -> int:
    """What the machine refused, and whose turn it is: a path is the caller's, a full disk is not."""
    if debug:
        traceback.print_exc()
    if error.filename is not None:
        code = MISSING if error.errno in DISK_FULL else USAGE
        return complain(f"{str(error.filename)[:200]!r}: {error.strerror}", code)
    _discard_output()
    if isinstance(error, BrokenPipeError):
        # the reader of our output has gone (`| head`); nothing is left to say to it
        return OK
    return complain(f"cannot write the output: {error.strerror or error}", MISSING)


def complain(message: str, code: int) -> int:
    """Print an error as one line on stderr; returns the code."""
    print(f"dynaweb: {clean(' '.join(message.split()))}", file=sys.stderr)
    return code


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing when nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def _code(error: DynawebError) -> int:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in DISK_FULL:
        return MISSING
    if isinstance(error, UserError | StorageError):
        return USAGE
    if isinstance(error, MissingDependencyError):
        return MISSING
    return TOO_MANY_FAILURES if isinstance(error, TooManyFailuresError) else FAILED


_NO_WHOLE_NUMBER = "Input should be a valid integer, unable to parse string as an integer"
"""How the command line's library says it."""


def _usage_line(error: Exception) -> str:
    said = getattr(error, "format_message", lambda: str(error))()
    said = str(said).replace("Value error, ", "").replace(_NO_WHOLE_NUMBER, "not a whole number")
    context = getattr(error, "ctx", None)
    where = f"{context.command_path} --help" if context is not None else "dynaweb --help"
    return f"{str(said).rstrip('.')} (see {where})"
