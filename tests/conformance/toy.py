"""A small deterministic web site, written by hand: the third world of the conformance suite.

One page with two panes behind tabs, a form with two checkboxes and a text field, a disabled button.
Three tasks ask for different parts of it. Everything it shows follows from (task, seed, actions).
"""

from dataclasses import dataclass, replace
from random import Random

from dynaweb.axtree.gate import check_action
from dynaweb.contracts import Imagine, Prediction, PredictionStatus, StepResult
from dynaweb.errors import UserError
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Fill,
    Focus,
    ReportInfeasible,
    SendMsgToUser,
    print_action,
)
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import (
    Outcome,
    Start,
    Step,
    Trajectory,
    Verdict,
    World,
)

TASKS = ("toy-check", "toy-write", "toy-open")
WORDS = ("red", "blue", "green", "gold", "grey", "pink")

FORM_TAB, NOTES_TAB, FIRST, SECOND, FIELD, LOCKED, SUBMIT, DONE = "12345678"
FOCUSABLE = (FORM_TAB, NOTES_TAB, FIRST, SECOND, FIELD, SUBMIT, DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Everything the page remembers."""

    names: tuple[str, str]
    notes: bool = False
    checked: frozenset[str] = frozenset()
    text: str = ""
    focused: str | None = None
    submitted: str = ""


def first_site(seed: int) -> Site:
    first, second = Random(seed).sample(WORDS, 2)
    return Site(names=(first, second))


def goal_of(task: str, seed: int) -> str:
    names = first_site(seed).names
    return {
        "toy-check": f"Tick {names[1]} and submit.",
        "toy-write": f"Write {names[0]} and submit.",
        "toy-open": "Open the notes and press done.",
    }[task]


def show(site: Site) -> Observation:
    lines = ["RootWebArea 'Toy'"]
    for bid, name, on in ((FORM_TAB, "Form", not site.notes), (NOTES_TAB, "Notes", site.notes)):
        lines.append(f"\t[{bid}] tab '{name}', selected='{str(on).lower()}'")
    if site.notes:
        lines.append(f"\t[{DONE}] button 'Done'")
    else:
        for bid, name in zip((FIRST, SECOND), site.names, strict=True):
            lines.append(
                f"\t[{bid}] checkbox '{name}', checked='{str(bid in site.checked).lower()}'"
            )
        value = f", value={site.text!r}" if site.text else ""
        lines.append(f"\t[{FIELD}] textbox 'Word'{value}")
        lines.append(f"\t[{LOCKED}] button 'Reset', disabled")
        lines.append(f"\t[{SUBMIT}] button 'Submit'")
    return Observation(
        url="http://toy/",
        title="Toy",
        tree="\n".join(lines),
        tabs=(Tab(url="http://toy/", title="Toy"),),
        focused=site.focused,
    )


def advance(site: Site, action: Action) -> Site:
    """What the page makes of an action that the gate let through."""
    match action:
        case Click(bid) if bid in (FIRST, SECOND):
            return replace(site, checked=site.checked ^ {bid}, focused=bid)
        case Click(bid) if bid in (FORM_TAB, NOTES_TAB):
            return replace(site, notes=bid == NOTES_TAB, focused=bid)
        case Click(bid) if bid in (SUBMIT, DONE):
            return replace(site, submitted=bid, focused=bid)
        case Click(bid) | Focus(bid) if bid in FOCUSABLE:
            return replace(site, focused=bid)
        case Fill(bid, value) if bid == FIELD:
            return replace(site, text=value, focused=bid)
        case Clear(bid) if bid == FIELD:
            return replace(site, text="", focused=bid)
        case _:
            return site


def solved(task: str, site: Site) -> bool:
    match task:
        case "toy-check":
            return site.submitted == SUBMIT and site.checked == {SECOND}
        case "toy-write":
            return site.submitted == SUBMIT and site.text == site.names[0]
        case _:
            return site.submitted == DONE


def solution(task: str, seed: int) -> tuple[Action, ...]:
    word = first_site(seed).names[0]
    return {
        "toy-check": (Click(SECOND), Click(SUBMIT)),
        "toy-write": (Fill(FIELD, word), Click(SUBMIT)),
        "toy-open": (Click(NOTES_TAB), Click(DONE)),
    }[task]


class ToyEnvironment:
    """The site as a `contracts.Environment`, live."""

    def __init__(self) -> None:
        self._state: Start | None = None
        self._site = first_site(0)

    @property
    def world(self) -> World:
        return World.LIVE

    @property
    def goal(self) -> str:
        return self._state.goal if self._state is not None else ""

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        if task not in TASKS:
            raise UserError(f"no task {task!r}: use one of {', '.join(TASKS)}")
        self._site = first_site(seed)
        page = show(self._site)
        self._state = Start(task=task, seed=seed, goal=goal_of(task, seed), observation=page)
        if start is not None:
            for action in start.prefix:
                await self.step(action)
            page = self._state.observation
        return page

    async def step(self, action: Action) -> StepResult:
        state = await self.snapshot()
        refused = check_action(state.observation, action)
        if refused is not None:
            fault, message = refused
            page = replace(state.observation, last_action_error=message)
            self._move(state, Step(observation=state.observation, action=action, fault=fault), page)
            return StepResult(observation=page, fault=fault)
        self._site = advance(self._site, action)
        page = show(self._site)
        self._move(state, Step(observation=state.observation, action=action), page)
        over = bool(self._site.submitted) or isinstance(action, SendMsgToUser | ReportInfeasible)
        reward = float(solved(state.task, self._site)) if over else None
        return StepResult(observation=page, reward=reward, terminated=over)

    def _move(self, state: Start, step: Step, page: Observation) -> None:
        assert step.action is not None
        self._state = replace(
            state,
            observation=page,
            prefix=(*state.prefix, step.action),
            past=(*state.past, step),
        )

    async def snapshot(self) -> Start:
        if self._state is None:
            raise UserError("reset first")
        return self._state

    async def restore(self, state: Start) -> Observation:
        return await self.reset(state.task, state.seed, state)

    async def close(self) -> None:
        self._state = None


class TableWorldModel:
    """A perfect memory: the next page of every (page, action) it was shown; otherwise invalid."""

    version = "table"

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], tuple[Observation, bool]] = {}
        self.batches: list[int] = []
        """Size of every batch asked."""

    def learn(
        self, page: Observation, action: Action, after: Observation, *, terminal: bool
    ) -> None:
        self._table[(page.tree, print_action(action))] = (after, terminal)

    def predict(self, questions: list[Imagine] | tuple[Imagine, ...]) -> list[Prediction]:
        self.batches.append(len(questions))
        return [self._one(q) for q in questions]

    def _one(self, q: Imagine) -> Prediction:
        page = q.history[-1]
        known = self._table.get((page.tree, print_action(q.action)))
        after, terminal = known if known is not None else (page, False)
        return Prediction(
            observation=after,
            delta=None,
            status=PredictionStatus.OK if known is not None else PredictionStatus.INVALID,
            confidence=1.0 if known is not None else 0.0,
            terminal=terminal,
        )


def all_actions(site: Site) -> list[Action]:
    """Everything worth remembering at a page: every click, and both words in the field."""
    clicks: list[Action] = [Click(b) for b in FOCUSABLE]
    return [*clicks, *(Fill(FIELD, w) for w in site.names)]


def table_of(seeds: range) -> TableWorldModel:
    """A table of every page that `all_actions` lead to; focus never decides what an action does."""
    table = TableWorldModel()
    for seed in seeds:
        frontier, seen = {first_site(seed)}, set[Site]()
        while frontier:
            seen |= frontier
            after: set[Site] = set()
            for site in frontier:
                for action in all_actions(site):
                    if check_action(show(site), action) is None:
                        then = advance(site, action)
                        table.learn(show(site), action, show(then), terminal=bool(then.submitted))
                        if not then.submitted:
                            after.add(replace(then, focused=None))
            frontier = after - seen
    return table


class RuleJudge:
    """Replays the actions on the site: what a judge would say if it were never wrong."""

    def judge(self, trajectories: list[Trajectory]) -> list[Verdict]:
        return [Verdict(outcome=self._one(t)) for t in trajectories]

    def _one(self, t: Trajectory) -> Outcome:
        site = first_site(t.seed)
        for step in (*t.past, *t.steps):
            if step.action is not None and step.fault is None:
                site = advance(site, step.action)
        return Outcome.SUCCESS if solved(t.task, site) else Outcome.FAILURE
