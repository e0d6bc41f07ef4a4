from collections import Counter
from dataclasses import replace

import pytest
from tests.world.data.made import INBOX, LOGIN, attempt, mail, page, toys

from dynaweb.records.action import Click, Noop
from dynaweb.world.data.admit import HELD_OUT, TRAIN, Admission, Admitted
from dynaweb.world.data.keys import Sketcher
from dynaweb.world.data.settings import (
    DataConfig,
    FilterConfig,
    SplitBy,
    SplitConfig,
    Unchanged,
)


def admitted(trajectories, config: DataConfig, sketcher: Sketcher | None = None) -> list[Admitted]:
    admission = Admission(config, sketcher)
    return [admission.admit(t) for t in trajectories]


def reasons(found: list[Admitted]) -> Counter[str]:
    return sum((a.dropped for a in found), Counter())


ALL = DataConfig(split=SplitConfig(held_out=0.0))


@pytest.mark.parametrize(
    "rules",
    [
        FilterConfig(),
        FilterConfig(duplicates=False),
        FilterConfig(unchanged=Unchanged.PRUNE),
        FilterConfig(max_turns=3),
        FilterConfig(per_url=3),
        FilterConfig(per_action=2),
        FilterConfig(keywords=("tick",)),
        FilterConfig(near_duplicate=0.9),
        FilterConfig(mask_personal=True),
    ],
    ids=lambda r: repr(r)[13:70],
)
def test_every_step_is_kept_or_counted(rules):
    trajectories = [*toys(range(4)), mail()]
    found = admitted(trajectories, replace(ALL, filter=rules), Sketcher())
    for one, whole in zip(found, trajectories, strict=True):
        assert len(one.kept) + one.dropped.total() == len(whole.steps) == one.steps
    assert sum(len(a.kept) for a in found) > 0


def test_reasons_by_hand():
    no_action = attempt("a", (page(LOGIN), None), final=page(LOGIN))
    no_next = attempt("b", (page(INBOX), Click("3")), final=None)
    unseen = attempt("c", (page(""), Click("3")), final=page(INBOX))
    again = attempt("d", (page(INBOX), Click("4")), (page(INBOX), Click("4")), final=page(INBOX))
    config = replace(ALL, filter=FilterConfig(per_action=10))
    found = admitted([no_action, no_next, unseen, again], config)
    assert reasons(found) == {
        "no_action": 1,
        "no_next_page": 1,
        "page_not_recorded": 1,
        "duplicate": 1,
    }


def test_caps_keep_the_first_ones():
    steps = [(page(INBOX), Click("3")), (page(INBOX), Click("4")), (page(INBOX), Noop(5.0))]
    many = attempt("m", *steps, final=page(INBOX))
    found = admitted([many], replace(ALL, filter=FilterConfig(per_url=2)))
    assert [k.known.index for k in found[0].kept] == [0, 1]
    assert reasons(found) == {"over_per_url": 1}


def test_another_next_page_is_no_duplicate():
    one = attempt("a", (page(INBOX), Click("3")), final=page(LOGIN))
    other = attempt("b", (page(INBOX), Click("3")), final=page(INBOX))
    admission = Admission(ALL, None)
    assert [len(admission.admit(t).kept) for t in (one, other, one)] == [1, 1, 0]
    assert admission.noted == {"same page and action, another next page": 1}


def test_a_keyword_is_a_word_and_leaves_the_whole_attempt_out():
    config = replace(ALL, filter=FilterConfig(keywords=("MAIL", "ai")))
    found = admitted([mail()], config)
    assert reasons(found) == {"keyword 'MAIL'": 4} and not found[0].kept
    found = admitted([mail()], replace(ALL, filter=FilterConfig(keywords=("mai",))))
    assert len(found[0].kept) == 4


def test_pruning_keeps_what_was_pruned_at_hand():
    config = replace(ALL, filter=FilterConfig(unchanged=Unchanged.PRUNE))
    found = admitted([mail()], config)[0]
    assert [k.index for k in found.pruned] == [2]
    assert [k.known.index for k in found.kept] == [0, 1, 3]
    assert [k.follows for k in found.kept] == [False, True, True]
    assert [k.rejection for k in found.kept] == ["", "form", ""]


@pytest.mark.parametrize("by", list(SplitBy))
def test_a_group_is_on_one_side(by):
    trajectories = [mail(f"m{i}", f"task{i % 7}") for i in range(30)]
    trajectories += [
        attempt(f"s{i}", (page(INBOX, f"http://s{i % 5}.test/{i}"), Click("3")), final=page(INBOX))
        for i in range(30)
    ]
    config = DataConfig(split=SplitConfig(by=by, held_out=0.4))
    found = admitted(trajectories, config)
    sides: dict[object, set[str]] = {}
    for one in found:
        group = {
            SplitBy.TASK: one.trajectory.task,
            SplitBy.SITE: one.site,
            SplitBy.PAGE: (one.trajectory.task, one.trajectory.seed),
        }[by]
        sides.setdefault(group, set()).add(one.side)
    assert all(len(s) == 1 for s in sides.values())
    if by is not SplitBy.SITE:
        assert {s for one in sides.values() for s in one} == {TRAIN, HELD_OUT}


def test_a_page_and_action_are_on_one_side():
    config = DataConfig(split=SplitConfig(held_out=0.5))
    found = admitted([mail(f"m{i}", f"task{i}") for i in range(12)], config)
    sides: dict[str, set[str]] = {}
    for one in found:
        for held in one.kept:
            sides.setdefault(held.key, set()).add(one.side)
    assert {one.side for one in found} == {TRAIN, HELD_OUT}
    assert all(len(s) == 1 for s in sides.values())
    assert reasons(found)["page_and_action_on_the_other_side"] > 0


def test_near_duplicates_by_likeness():
    rows = "".join(f"\n\t[{i}] link 'Mail {i}'" for i in range(20, 120))
    whole = INBOX + rows
    alike = whole.replace("'Mail 50'", "'Mail fifty'")
    one = attempt("a", (page(whole), Click("3")), final=page(whole))
    other = attempt("b", (page(alike), Click("3")), final=page(alike))
    elsewhere = attempt("c", (page(alike), Click("4")), final=page(alike))
    config = replace(ALL, filter=FilterConfig(near_duplicate=0.8))
    found = admitted([one, other, elsewhere], config, Sketcher())
    assert [len(a.kept) for a in found] == [1, 0, 1]
    assert reasons(found) == {"near_duplicate": 1}
