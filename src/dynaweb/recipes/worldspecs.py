"""World models by name, for measuring them (`world.opening` says which names there are)."""

from collections.abc import Sequence

from dynaweb.bench.worlds.answers import Measured
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.opening import COPY as COPY
from dynaweb.world.opening import OpenChat, open_world_model
from dynaweb.world.trained import asking as asking
from dynaweb.world.trained import world_folder as world_folder


def open_world(
    spec: str, training: Sequence[Trajectory], *, threads: int, chat: OpenChat | None = None
) -> Measured:
    """A world model ready to be asked, with a checksum that tells it from every other.

    Args:
        spec: as `world.opening.open_world_model` takes it.
        training: real attempts: what `nearest` knows, and examples of `prompted`.
        threads: of a model on a CPU.
        chat: opens chat models at addresses.

    Raises:
        UserError: no such model, or `nearest` without training. StorageError: the folder cannot be read.
    """
    opened = open_world_model(spec, known=training, chat=chat, threads=threads)
    return Measured(
        name=opened.name,
        world=opened.model,
        checksum=opened.checksum,
        shows_goal=opened.shows_goal,
    )
