"""Rules about tabs and history: a page that was seen is shown again, one that was not is the model's."""

from dataclasses import replace

from dynaweb.records.action import Action, GoBack, NewTab, TabClose, TabFocus
from dynaweb.records.observation import Observation, Tab
from dynaweb.world.ruled import Ruled

EMPTY_PAGE = "RootWebArea ''"


def travel(history: tuple[Observation, ...], page: Observation, action: Action) -> Ruled:
    """Rules about tabs and history: a page that was seen is shown again as it was."""
    match action:
        case NewTab():
            tabs = (*page.tabs, Tab(url="about:blank", title=""))
            blank = Observation(
                url="about:blank",
                title="",
                tree=EMPTY_PAGE,
                tabs=tabs,
                active_tab=len(tabs) - 1,
            )
            return Ruled(page=blank, settled=True, rule="tab")
        case TabFocus(index):
            return _show(history, page, index, page.tabs, "tab")
        case TabClose():
            left = (*page.tabs[: page.active_tab], *page.tabs[page.active_tab + 1 :])
            return _show(history, page, max(page.active_tab - 1, 0), left, "tab")
        case _:
            return _turn(history, page, back=isinstance(action, GoBack))


def _turn(history: tuple[Observation, ...], page: Observation, *, back: bool) -> Ruled:
    if not page.tabs:
        return Ruled(page=page, settled=False, rule="")
    tab = page.tabs[page.active_tab]
    if back:
        url = tab.back[-1]
        turned = replace(tab, url=url, back=tab.back[:-1], forward=(tab.url, *tab.forward))
    else:
        url = tab.forward[0]
        turned = replace(tab, url=url, back=(*tab.back, tab.url), forward=tab.forward[1:])
    tabs = (*page.tabs[: page.active_tab], turned, *page.tabs[page.active_tab + 1 :])
    return _show(history, page, page.active_tab, tabs, "history")


def _show(
    history: tuple[Observation, ...],
    page: Observation,
    index: int,
    tabs: tuple[Tab, ...],
    rule: str,
) -> Ruled:
    """The latest page seen at the address that tab shows; else the model is asked for it."""
    if not 0 <= index < len(tabs):
        return Ruled(page=page, settled=False, rule="")
    url = tabs[index].url
    if index == page.active_tab and url == page.url and len(tabs) == len(page.tabs):
        return Ruled(page=replace(page, tabs=tabs), settled=True, rule=rule)
    seen = next((o for o in reversed(history) if o.url == url), None)
    if seen is None:
        there = replace(page, url=url, tabs=tabs, active_tab=index, focused=None)
        return Ruled(page=there, settled=False, rule=rule)
    shown = replace(tabs[index], title=seen.title)
    tabs = (*tabs[:index], shown, *tabs[index + 1 :])
    page = replace(seen, tabs=tabs, active_tab=index, last_action_error="", attachments={})
    return Ruled(page=page, settled=True, rule=rule)
