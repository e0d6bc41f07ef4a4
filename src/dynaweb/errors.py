"""One error type per border. A named failure is recorded where it happened; anything else is a bug.

`UserError` and `MissingDependencyError` end a command (exit 2 and 4). The others are caught by the
rollout and written on the trajectory as its reason (contracts: outcome and blame).
"""


class DynawebError(Exception):
    """Something we know how to name: says what was wrong, where, and what to do."""


class UserError(DynawebError):
    """The caller asked for something that cannot be: exit 2."""


class MissingDependencyError(DynawebError):
    """The machine lacks something we need (browser, package, port, disk): exit 4."""


class ActionError(DynawebError):
    """The policy's words are not an action, or the action does not fit the page."""


class TreeError(DynawebError):
    """A text is no accessibility tree of any dialect we read, or a line of it is no element."""


class DeltaError(DynawebError):
    """A state change cannot be read, or does not fit the page it is applied to."""


class BrowserError(DynawebError):
    """The real browser failed: crash, timeout, refused navigation."""


class SamplerError(DynawebError):
    """The language model failed: transport, deadline, or an empty reply."""


class WorldModelError(DynawebError):
    """The world model gave no usable page."""


class JudgeError(DynawebError):
    """The judge gave no usable verdict."""


class TrainingError(DynawebError):
    """Training cannot go on: a loss or gradient that is not finite."""


class StorageError(DynawebError):
    """A run folder or record file is damaged, foreign or not writable."""
