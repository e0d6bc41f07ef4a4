"""Scripted experts: on pages written by hand, and in the real browser."""

import pytest

from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.measure import measure_experts
from dynaweb.collect.page import see
from dynaweb.collect.run import CollectConfig
from dynaweb.errors import UserError
from dynaweb.records.action import parse_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Step


def page(*lines):
    return Observation(url="http://x/", title="t", tree="\n".join(["RootWebArea 't'", *lines]))


async def act(task, goal, observation, past=()):
    return (await EXPERTS[task].decide(goal, tuple(past), observation, 0)).action


INBOX = page(
    "\t[1] heading 'Primary'",
    "\t[2] generic '', clickable",
    "\t\tStaticText 'Ann'",
    "\t\t[3] image 'trash', clickable",
    "\t\t[4] image 'star', clickable",
    "\t[5] generic '', clickable",
    "\t\tStaticText 'Bob'",
    "\t\t[6] image 'trash', clickable",
    "\t\t[7] image 'star', clickable",
)
CELLS = page(
    "\t[1] table ''",
    "\t\t[2] row ''",
    "\t\t\t[3] rowheader 'Year'",
    "\t\t\t[4] cell '1990'",
    "\t\t\t\t[5] textbox '', value='1990'",
    "\t\t[6] row ''",
    "\t\t\t[7] rowheader 'Director'",
    "\t\t\t[8] cell ''",
    "\t\t\t\t[9] textbox ''",
    "\t[10] generic 'Submit', clickable",
)
LOGIN = page("\t[1] textbox ''", "\t[2] textbox '', value='••'", "\t[3] button 'Login'")


@pytest.mark.parametrize(
    ("task", "goal", "observation", "action"),
    [
        ("click-button", 'Click on the "no" button.', page("\t[1] button 'No'", "\t[2] button 'no'"), "click('2')"),
        ("click-dialog-2", 'Click the button in the dialog box labeled "x".', page("\t[2] button 'Close'", "\t[3] button 'OK'"), "click('2')"),
        ("click-checkboxes", "Select a, b and click Submit.", page("\t[1] checkbox 'a', checked='true'", "\t[2] checkbox 'c', checked='true'", "\t[3] button 'Submit'"), "click('2')"),
        ("click-checkboxes", "Select nothing and click Submit.", page("\t[1] checkbox 'a', checked='false'", "\t[3] button 'Submit'"), "click('3')"),
        ("click-checkboxes-soft", "Select words similar to tiny and click Submit.", page("\t[1] checkbox 'big', checked='false'", "\t[2] checkbox 'petite', checked='false'", "\t[3] button 'Submit'"), "click('2')"),
        ("click-scroll-list", "Select Korea, South, Chad from the scroll list and click Submit.", page("\t[1] listbox ''", "\t\t[2] option 'Korea, South'", "\t\t[3] option 'Chad'", "\t[4] button 'Submit'"), "select_option('1', ['Korea, South', 'Chad'])"),
        ("enter-time", "Enter 12:05 AM as the time and press submit.", page("\t[1] InputTime ''", "\t[2] button 'Submit'"), "fill('1', '00:05')"),
        ("simple-algebra", "Solve for x", page("\tStaticText '3 - x = 10'", "\t[1] textbox ''", "\t[2] button 'Submit'"), "fill('1', '-7')"),
        ("find-word", "Find the 2nd word in the paragraph", page("\tStaticText 'Ut, eget. Magna'", "\t[1] textbox ''", "\t[2] button 'Submit'"), "fill('1', 'eget')"),
        ("email-inbox-delete", "Find the email by Bob and click the trash icon to delete it.", INBOX, "click('6')"),
        ("email-inbox-forward-nl", "Send Ann the email you got from Bob.", INBOX, "click('5')"),
        ("multi-orderings", "Search for crime movies directed by Lee from year 1990.", CELLS, "fill('9', 'Lee')"),
        ("guess-number", "Guess the number between 0-9", page("\tStaticText 'The number is lower than'", "\tStaticText '4'", "\t[1] spinbutton '', value='4'", "\t[2] button 'Submit'"), "fill('1', '1')"),
        ("buy-ticket", "Buy the ticket with the shortest duration.", page("\tStaticText '11h 2m'", "\t[1] button 'Book for $9'", "\tStaticText '3h 50m'", "\t[2] button 'Book for $99'"), "click('2')"),
        ("click-menu", "Select A>B>C", page("\t[1] menuitem 'A'", "\t[2] menuitem 'B'"), "hover('2')"),
        ("login-user", 'Enter the username "al" and the password "pw"', LOGIN, "fill('1', 'al')"),
    ],
)  # fmt: skip
async def test_what_an_expert_does(task, goal, observation, action):
    assert await act(task, goal, observation) == parse_action(action)


async def test_dots_in_a_password_field_count_only_if_typed_by_us():
    goal = 'Enter the username "al" and the password "pw"'
    named = page(
        "\t[1] textbox '', value='al'", "\t[2] textbox '', value='••'", "\t[3] button 'Login'"
    )
    assert await act("login-user", goal, named) == parse_action("fill('2', 'pw')")
    typed = Step(observation=LOGIN, action=parse_action("fill('2', 'pw')"))
    assert await act("login-user", goal, named, [typed]) == parse_action("click('3')")
    refused = Step(
        observation=LOGIN, action=parse_action("fill('2', 'pw')"), fault=Fault.IMPOSSIBLE
    )
    assert await act("login-user", goal, named, [refused]) == parse_action("fill('2', 'pw')")


@pytest.mark.parametrize("task", EXPERTS)
@pytest.mark.parametrize("goal", ["", "Do as you like."])
async def test_a_lost_expert_says_so(task, goal):
    empty = page()
    step = await EXPERTS[task].decide(goal, (), empty, 0)
    assert step.fault is Fault.NO_ACTION
    assert step.action is None
    assert step.thought


GOALS = (
    "Select a, b and click Submit.",
    "Select A>B and click Submit.",
    "Find the 9th word in the paragraph",
    "Search for crime movies directed by Lee from year 1990.",
    'Use the textbox to enter "Ann" and press "Search", then find and click the 8th search result.',
    "Find Ann in the contact book and click on their email.",
    'Check the 3rd radio button and enter the number "4" into the 2nd textbox.',
    "Buy the ticket with the cheapest cost.",
    "Select 12/26/2016 as the date and hit submit.",
    "Enter 13:43 PM as the time and press submit.",
    'Find the email by Bob and reply to them with the text "Hi".',
    "Copy the text from the 3rd text area below",
)


@pytest.mark.parametrize("task", EXPERTS)
async def test_no_page_breaks_an_expert(task):
    """After a detour an expert sees pages and goals it was not written for: it is lost, never broken."""
    blank = page("\t[1] textbox '', multiline", "\t[2] link '>'", "\t[3] heading 'Ann'")
    for observation in (INBOX, CELLS, LOGIN, blank):
        for goal in GOALS:
            step = await EXPERTS[task].decide(goal, (), observation, 0)
            assert (step.action is None) == (step.fault is Fault.NO_ACTION)


def test_the_label_of_a_field_is_not_what_contains_it():
    seen = see("", (), CELLS)
    assert [seen.label(n) for n in seen.every("textbox")] == ["Year", "Director"]


FORTY = tuple(
    """
Find the email by Ann and forward that email to Bob.|Locate the email by Ann. Forward that email to Bob.
Look for the email from Ann and forward to Bob.|Forward to Bob the email from Ann.
Send Bob the email you got from Ann.|Go to the email by Ann. Send it to Bob.
Send to Bob the email you got from Ann.|Forward the email from Ann to Bob.
Send Bob the email from Ann.|Please find the message by Ann, then send it to Bob.
Please forward the information from Ann to Bob.|Bob wants the email you got from Ann.
Bob wants the email Ann sent to you.|The mail by Ann should be forwarded to Bob.
Please forward to Bob the email by Ann.|Give Bob the message you received from Ann,
Forward the mail by Ann to Bob.|Go to the message from Ann and send it to Bob.
Bob is waiting for the email by Ann.|Ann wants his or her message to be sent to Bob.
I want the mail by Ann to be sent to Bob.|Forward to Bob the email you got from Ann.
Please forward the message from Ann to Bob.|Please find the mail by Ann. Forward it to Bob.
Navigate to the message from Ann and send it to Bob.|Forward Bob the email from Ann.
Forward Bob the message Ann sent you.|Send Bob the information Ann sent to you.
Search for the mail Ann sent you and send it to Bob.
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("goal", FORTY)
async def test_every_wording_of_forwarding_is_understood(goal):
    assert await act("email-inbox-forward-nl", goal, INBOX) == parse_action("click('2')")
    form = page("\t[1] image 'send'", "\t[2] textbox ''", "\t[3] textbox '', value='x'")
    assert await act("email-inbox-forward-nl", goal, form) == parse_action("fill('2', 'Bob')")


SAMPLE = (
    "choose-date-easy", "click-checkboxes", "click-menu", "email-inbox-reply", "enter-date",
    "guess-number", "login-user-popup", "multi-layouts", "navigate-tree", "search-engine",
)  # fmt: skip


@pytest.mark.browser
async def test_experts_solve_real_pages():
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.browser.environment import miniwob_world

    async with miniwob_world(BrowserConfig()) as make_env:
        scores = await measure_experts(SAMPLE, (41, 42), make_env, CollectConfig(workers=2))
    assert {s.task: (s.successes, s.n) for s in scores} == dict.fromkeys(SAMPLE, (2, 2))
    assert max(s.max_steps for s in scores) > 3


async def test_a_task_without_an_expert_is_named():
    with pytest.raises(UserError, match="no expert for task 'drag-box'"):
        await measure_experts(["drag-box"], [0], lambda: None, CollectConfig())


@pytest.mark.browser
def test_every_expert_is_for_a_task_there_is():
    from dynaweb.browser.miniwob import miniwob_tasks

    assert set(EXPERTS) <= set(miniwob_tasks())
