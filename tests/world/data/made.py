"""Attempts written by hand, whose every page is known."""

from tests.world.toys import expert, wanderer

from dynaweb.records.action import Action, Click, Fill
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import (
    Behaviour,
    Fault,
    Outcome,
    Reason,
    Step,
    Trajectory,
    World,
)

LOGIN = (
    "RootWebArea 'Sign in'\n\t[3] textbox 'Name'\n\t[4] textbox 'Password'\n\t[5] button 'Sign in'\n"
    "\t[6] button 'Send', disabled\n\t[7] textbox 'Code', readonly"
)
WRONG = LOGIN + "\n\t[9] alert 'Wrong password or name'"
INBOX = "RootWebArea 'Inbox'\n\t[3] link 'Mail 1'\n\t[4] link 'Mail 2'\n\tStaticText 'You have 2 mails'\n\t[8] button 'Write'"


def page(tree: str, url: str = "http://mail.test/", error: str = "") -> Observation:
    title = tree.partition("'")[2].partition("'")[0]
    return Observation(url=url, title=title, tree=tree, last_action_error=error)


def attempt(
    name: str,
    *steps: tuple[Observation, Action | None],
    final: Observation | None,
    task: str = "mail",
    seed: int = 0,
    faults: tuple[Fault | None, ...] = (),
    goal: str = "Read the mail",
    license: str = "MIT",
) -> Trajectory:
    told = faults or (None,) * len(steps)
    return Trajectory(
        trajectory_id=name,
        task=task,
        goal=goal,
        seed=seed,
        steps=tuple(
            Step(observation=o, action=a, fault=f) for (o, a), f in zip(steps, told, strict=True)
        ),
        final=final,
        outcome=Outcome.FAILURE,
        reason=Reason.OUT_OF_STEPS,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        license=license,
    )


def mail(name: str = "mail-1", task: str = "mail") -> Trajectory:
    """Wrong password, a click on something disabled, then in."""
    typed = LOGIN.replace("'Password'", "'Password', value='••'")
    wrong = WRONG.replace("'Password'", "'Password', value='••'")
    return attempt(
        name,
        (page(LOGIN), Fill("4", "ab")),
        (page(typed), Click("5")),
        (page(wrong), Click("6")),
        (page(wrong, error="element '6' (button) is disabled"), Click("5")),
        final=page(INBOX, "http://mail.test/inbox"),
        task=task,
        faults=(None, None, Fault.DISABLED, None),
    )


def toys(seeds: range, *, wandering: bool = True) -> list[Trajectory]:
    """Attempts on the toy site, walked for real."""
    made = []
    for seed in seeds:
        for task in ("toy-check", "toy-write", "toy-open"):
            made.append(expert(task, seed))
            if wandering:
                made.append(wanderer(task, seed))
    return made
