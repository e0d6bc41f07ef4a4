import pytest

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.label import label_action
from dynaweb.records.action import (
    Clear,
    Click,
    DragAndDrop,
    Fill,
    Focus,
    GoBack,
    GoForward,
    Goto,
    KeyboardPress,
    MouseClick,
    MouseUploadFile,
    Noop,
    Press,
    Scroll,
    SelectOption,
    TabClose,
    TabFocus,
    UploadFile,
)
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Fault

TREE = """RootWebArea 'T'
\tStaticText 'Username'
\t[5] textbox ''
\t[6] button 'OK', disabled
\t[7] button 'Ok'
\t[8] textbox 'Fixed', readonly
\t[9] combobox 'Size', value='S'
\t\t[10] option 'S', selected='true'
\t\t[11] option 'L'
\t[12] combobox 'City'
\t[13] generic 'It\\'s here', clickable
\t[14] image ''"""
TREE = TREE.replace("'It\\'s here'", '"It\'s here"')
ONE_TAB = (Tab(url="http://a", title="T"),)


def page(**given) -> Observation:
    return Observation(url="http://a", title="T", tree=TREE, tabs=ONE_TAB, **given)


@pytest.mark.parametrize(
    "action",
    [
        Click("7"),
        Click("13"),
        Fill("5", "x"),
        Clear("5"),
        Fill("12", "x"),
        SelectOption("9", ("L",)),
        Press("6", "Enter"),
        Focus("6"),
        DragAndDrop("7", "13"),
        Scroll(0, 100),
        Noop(),
        Goto("http://b"),
    ],
)
def test_what_the_page_allows_passes(action):
    assert check_action(page(), action) is None


@pytest.mark.parametrize(
    ("action", "fault", "says"),
    [
        (Click("99"), Fault.MISSING_ELEMENT, "no element with bid '99'"),
        (DragAndDrop("7", "99"), Fault.MISSING_ELEMENT, "no element with bid '99'"),
        (Click("6"), Fault.DISABLED, "element '6' (button) is disabled"),
        (Fill("7", "x"), Fault.NOT_EDITABLE, "element '7' (button) cannot be filled"),
        (Fill("8", "x"), Fault.NOT_EDITABLE, "element '8' (textbox) cannot be filled"),
        (Fill("9", "L"), Fault.NOT_EDITABLE, "element '9' (combobox) cannot be filled"),
        (SelectOption("9", ("XL",)), Fault.NOT_AN_OPTION, "has no option 'XL'"),
        (SelectOption("7", ("L",)), Fault.NOT_AN_OPTION, "has no options"),
        (GoBack(), Fault.IMPOSSIBLE, "no page to go back to"),
        (GoForward(), Fault.IMPOSSIBLE, "no page to go forward to"),
        (TabClose(), Fault.IMPOSSIBLE, "only tab"),
        (TabFocus(3), Fault.IMPOSSIBLE, "there is no tab 3"),
        (Goto("javascript:alert(1)"), Fault.IMPOSSIBLE, "not an address"),
    ],
)
def test_what_the_page_refuses_has_a_class_and_a_reason(action, fault, says):
    refusal = check_action(page(), action)
    assert refusal is not None
    assert refusal[0] is fault
    assert says in refusal[1]


@pytest.mark.parametrize(
    ("action", "label"),
    [
        (Click("7"), "click('7') button 'Ok'"),
        (Click("13"), "click('13') generic \"It's here\""),
        (Fill("5", "bob"), "fill('5', 'bob') textbox after 'Username'"),
        (DragAndDrop("7", "13"), "drag_and_drop('7', '13') button 'Ok' to generic \"It's here\""),
        (Click("99"), "click('99')"),
        (Noop(), "noop()"),
    ],
)
def test_an_action_is_labelled_with_what_it_acts_on(action, label):
    assert label_action(action, page()) == label


def test_long_names_are_cut_in_labels():
    tree = f"RootWebArea 'T'\n\t[7] button '{'x' * 100}'"
    label = label_action(Click("7"), Observation(url="u", title="T", tree=tree))
    assert label == f"click('7') button '{'x' * 39}…'"


@pytest.mark.parametrize("action", [Click("11"), DragAndDrop("11", "7")])
def test_an_option_of_a_closed_list_is_chosen_and_not_clicked(action):
    fault, message = check_action(page(), action)
    assert fault is Fault.IMPOSSIBLE
    assert message == "element '11' is inside a closed list; use select_option"


def test_an_option_of_a_list_that_the_page_opened_can_be_clicked():
    tree = TREE.replace("combobox 'Size', value='S'", "combobox 'Size', value='S', expanded='true'")
    here = Observation(url="http://a", title="T", tree=tree, tabs=ONE_TAB)
    assert check_action(here, Click("11")) is None


@pytest.mark.parametrize(
    ("role", "good", "bad", "form"),
    [
        ("Date", "2017-02-28", "02/28/2017", "YYYY-MM-DD"),
        ("InputTime", "21:37", "9:37 PM", "HH:MM"),
        ("ColorWell", "#00ff7f", "green", "#rrggbb"),
    ],
)
def test_fields_of_one_form_refuse_another_in_the_browsers_words(role, good, bad, form):
    here = Observation(url="http://a", title="T", tree=f"RootWebArea 'T'\n\t[1] {role} ''")
    assert check_action(here, Fill("1", good)) is None
    assert check_action(here, Fill("1", "")) is None
    assert check_action(here, Fill("1", bad)) == (
        Fault.IMPOSSIBLE,
        f"element '1' takes {form} only",
    )


@pytest.mark.parametrize("action", [UploadFile("7", ("a.txt",)), MouseUploadFile(1.0, 2.0, ("a",))])
def test_files_are_read_only_where_the_world_says_so(action):
    assert check_action(page(), action) == (Fault.IMPOSSIBLE, "files cannot be uploaded here")
    assert check_action(page(), action, uploads=True) is None


def test_an_upload_needs_its_element_too():
    assert check_action(page(), UploadFile("99", ()), uploads=True) == (
        Fault.MISSING_ELEMENT,
        "no element with bid '99' on this page",
    )
    refusal = check_action(page(), UploadFile("6", ("a",)), uploads=True)
    assert refusal is not None and refusal[0] is Fault.DISABLED


@pytest.mark.parametrize("action", [MouseClick(1.0, 2.0), KeyboardPress("Enter")])
def test_mouse_and_keyboard_by_themselves_name_no_element(action):
    assert check_action(page(), action) is None
