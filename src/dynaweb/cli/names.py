"""Names of tasks as a person types them."""

from dynaweb.browser.miniwob import NOT_TASKS, check_task, miniwob_tasks
from dynaweb.cli.endings import did_you_mean
from dynaweb.collect.experts import EXPERTS
from dynaweb.errors import UserError


def known_task(name: str) -> str:
    """The task's name as the package spells it.

    Raises:
        UserError: no such task; says which is near.
    """
    bare = name.removeprefix("miniwob.")
    if bare not in (*miniwob_tasks(), *NOT_TASKS) and (near := did_you_mean(bare, miniwob_tasks())):
        raise UserError(f"no MiniWoB++ task {name!r}{near} `dynaweb tasks` lists them")
    return check_task(name)


def require_expert(name: str) -> str:
    """`known_task`, for one that has a scripted expert.

    Raises:
        UserError: no such task, or no expert for it.
    """
    task = known_task(name)
    if task not in EXPERTS:
        raise UserError(
            f"task {name!r} has no scripted expert: choose from `dynaweb tasks --experts`"
        )
    return task
