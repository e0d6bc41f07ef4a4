"""What a set of trajectories holds: every count, every oddity once, with its place."""

from dataclasses import replace

from tests.records.test_codec import TRAJECTORY

from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.survey import survey
from dynaweb.records.action import Click, Noop
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Outcome, Reason, Step

PAGE = Observation(url="u", title="", tree="RootWebArea 'A'\n\t[1] button 'Ok'\n\t[2] link 'x'\n\t[2] link 'y'")  # fmt: skip


def attempt(*steps, **more):
    made = [Step(observation=s) if isinstance(s, Observation) else s for s in steps]
    return replace(TRAJECTORY, **({"steps": tuple(made), "final": PAGE, "trajectory_id": "a", "license": "MIT"} | more))  # fmt: skip


def look(*trajectories):
    tally = Tally()
    return survey(trajectories, tally), tally


def test_counts():
    acted = Step(observation=PAGE, action=Noop())
    lost = attempt(acted, Step(observation=PAGE, fault=Fault.NO_ACTION), trajectory_id="b", outcome=Outcome.FAILURE, reason=Reason.OUT_OF_STEPS, license="")  # fmt: skip
    found, tally = look(attempt(acted), lost)
    assert (found.trajectories, found.steps, found.transitions, found.unchanged) == (2, 3, 2, 2)
    assert (found.lengths, found.median_steps) == ([1, 2], 1.5)
    assert found.endings == {"success (task_ended)": 1, "failure (out_of_steps)": 1}
    assert found.faults == {"no_action": 1} and found.licenses == {"MIT": 1, "": 1}
    assert found.tasks == {TRAJECTORY.task: 2} and tally.noted == {}


def test_what_is_odd_is_counted_with_its_place():
    wrong = Step(observation=PAGE, action=Click("99"))
    owned_up = replace(wrong, fault=Fault.MISSING_ELEMENT)
    doubtful = Step(observation=PAGE, action=Click("2"), thought="half \ud83c")
    empty = Observation(url="u", title="", tree="")
    torn = Observation(url="u", title="", tree="RootWebArea 'A'\n\t<<", last_action_error="Timeout")
    after = Observation(url="v", title="", tree="RootWebArea 'A'", last_action_error="Timeout")
    found, tally = look(
        attempt(wrong, owned_up, doubtful, after, Step(observation=empty, action=Click("1")), torn),
        attempt(),
    )
    assert tally.noted == {
        "action names an element that its page does not have": 1,
        "action names an id that stands twice on its page": 1,
        "half of a surrogate pair, which no UTF-8 holds": 1,
        "page is empty": 1,
        "an error was reported although the page changed": 1,
        "line of a page is no element: kept as it stands": 1,
        "trajectory without steps": 1,
        "trajectory id stands twice": 1,
    }
    assert tally.first["action names an element that its page does not have"] == "'a' step 1: '99'"
    assert found.faults == {"missing_element": 1}
