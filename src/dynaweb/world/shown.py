"""The part of a page that an agent is shown, which is the part that a model imagines.

Where the keyboard is, how far the page is scrolled and the fragment of the address stand in no prompt
and change no outcome that a prompt shows. Rules keep them as well as they can; a model neither learns
nor is measured on them (they are reported apart).
"""

from dataclasses import replace
from urllib.parse import urldefrag

from dynaweb.axtree.same import same_page
from dynaweb.records.observation import Observation


def as_shown(page: Observation, like: Observation) -> Observation:
    """The page without what no prompt shows.

    Args:
        page: the page.
        like: where the scroll offset comes from, and the address when only its fragment differs.
    """
    page = replace(page, focused=None, scroll=like.scroll, attachments={})
    places = (urldefrag(page.url).url, len(page.tabs), page.active_tab)
    if places != (urldefrag(like.url).url, len(like.tabs), like.active_tab):
        return page
    if [t.title for t in page.tabs] != [t.title for t in like.tabs]:
        return page
    return replace(page, url=like.url, tabs=like.tabs)


def equal_as_shown(one: Observation, other: Observation, like: Observation) -> bool:
    """Whether two pages show an agent the same, up to the numbers of new elements."""
    return same_page(as_shown(one, like), as_shown(other, like))
