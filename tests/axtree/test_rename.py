"""Renaming: consistent, one to one, structure untouched; and which words are names."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.axtree.rename import Renaming, draw_renaming, rename_trajectory
from dynaweb.axtree.vocabulary import (
    Vocabulary,
    VocabularyConfig,
    content_words,
    learn_vocabulary,
    words_of,
)
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Fill
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Step, Trajectory, World

NAMES = [
    "Alda",
    "Brea",
    "Coda",
    "Dema",
    "Elko",
    "Fara",
    "Goro",
    "Hila",
    "Ivo",
    "Joma",
    "Kelda",
    "Lumo",
]


def attempt(seed: int, *, goal: str | None = None, chosen: str | None = None) -> Trajectory:
    name, other = NAMES[seed % len(NAMES)], NAMES[(seed + 1) % len(NAMES)]
    tree = (
        "RootWebArea 'Pick Task'\n"
        f"\t[1] checkbox '{name}', checked='false'\n"
        f"\t[2] checkbox '{other}', checked='false'\n"
        "\t[3] textbox 'Username', autocomplete='list'\n"
        "\t[4] button 'Submit'"
    )
    page = Observation(url="http://x/pick", title="Pick Task", tree=tree)
    steps = (
        Step(observation=page, action=Click("1")),
        Step(observation=page, action=Fill("3", chosen or name)),
    )
    return Trajectory(
        trajectory_id=f"pick-{seed}",
        task="pick",
        goal=goal or f"Select {name} and click Submit",
        seed=seed,
        steps=steps,
        final=page,
        outcome=Outcome.SUCCESS,
        reason=Reason.TASK_ENDED,
        world=World.LIVE,
        behaviour=Behaviour.EXPERT,
    )


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return learn_vocabulary([attempt(s) for s in range(12)], VocabularyConfig())


def test_names_and_structure_are_told_apart(vocabulary: Vocabulary) -> None:
    assert vocabulary.is_renamable("pick")
    assert {"alda", "kelda"} <= set(vocabulary.pool)
    for word in ("username", "task", "submit", "select"):
        assert vocabulary.is_protected("pick", word)


def test_a_renamed_attempt_is_consistent_everywhere(vocabulary: Vocabulary) -> None:
    for seed in range(30):
        t = attempt(seed)
        renamed = rename_trajectory(t, vocabulary, seed)
        assert renamed is not None
        name = renamed.goal.split()[1]
        assert name != NAMES[seed % len(NAMES)] and name[0].isupper()
        tree = renamed.steps[0].observation.tree
        assert f"[1] checkbox '{name}', checked='false'" in tree
        assert "[3] textbox 'Username', autocomplete='list'" in tree
        assert "[4] button 'Submit'" in tree
        fill = renamed.steps[1].action
        assert isinstance(fill, Fill) and fill.value == name
        assert tree.count("\n") == t.steps[0].observation.tree.count("\n")


def test_the_same_seed_gives_the_same_names(vocabulary: Vocabulary) -> None:
    assert rename_trajectory(attempt(1), vocabulary, 5) == rename_trajectory(
        attempt(1), vocabulary, 5
    )
    drawn = {str(rename_trajectory(attempt(1), vocabulary, s)) for s in range(10)}
    assert len(drawn) > 5


def test_renaming_is_one_to_one(vocabulary: Vocabulary) -> None:
    for seed in range(60):
        t = attempt(seed)
        renaming = draw_renaming(t, vocabulary, seed)
        assert renaming is not None
        new = list(renaming.words.values())
        assert len(new) == len(set(new))
        assert not set(new) & (content_words(t) | words_of(t.goal))


def test_beginnings_of_words_stay_beginnings(vocabulary: Vocabulary) -> None:
    t = attempt(0, goal="Select what starts with Al and click Submit")
    for seed in range(20):
        renamed = rename_trajectory(t, vocabulary, seed)
        assert renamed is not None
        start = renamed.goal.split()[4]
        assert start != "Al"
        assert f"checkbox '{start}" in renamed.steps[0].observation.tree


def test_a_beginning_that_cannot_change_keeps_its_words(vocabulary: Vocabulary) -> None:
    """`an` is never a name: renaming Anka would make "starts with An" a lie."""
    t = attempt(0, goal='Select what starts with "Al" and click Submit')
    assert rename_trajectory(t, vocabulary, 0) is not None
    kept = Vocabulary(
        protected={"pick": vocabulary.protected["pick"] | {"al"}},
        pool=vocabulary.pool,
        cipher_share=0.5,
    )
    assert rename_trajectory(t, kept, 0) is None


def test_a_task_that_is_understood_and_not_copied_is_left_alone() -> None:
    attempts = [attempt(s, goal="Select what rhymes", chosen="zzz") for s in range(12)]
    vocabulary = learn_vocabulary(attempts, VocabularyConfig())
    assert not vocabulary.is_renamable("pick")
    assert rename_trajectory(attempts[0], vocabulary, 0) is None


def test_too_few_seeds_are_no_evidence() -> None:
    vocabulary = learn_vocabulary([attempt(s) for s in range(3)], VocabularyConfig())
    assert not vocabulary.is_renamable("pick")


def test_escapes_and_case_survive() -> None:
    r = Renaming({"new": "old", "n": "q"})
    assert r.text(r"new\new NEW New nEw") == r"old\new OLD Old oLd"
    assert (
        r.quoted(r"[1] new 'new', new='new', value='new'")
        == r"[1] new 'old', new='new', value='old'"
    )
    assert r.quoted('StaticText "new\'s"') == 'StaticText "old\'s"'


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_is_renamed_without_an_error(text: str) -> None:
    r = Renaming({"a": "b"})
    assert len(r.text(text)) == len(text)
    assert len(r.quoted(text)) == len(text)


def test_generations_do_not_survive(vocabulary: Vocabulary) -> None:
    t = attempt(2)
    renamed = rename_trajectory(replace(t, past=t.steps), vocabulary, 1)
    assert renamed is not None and all(not s.generations for s in renamed.past + renamed.steps)


@pytest.mark.parametrize(
    "bad", [{"common_fraction": 1.5}, {"min_seeds": 1}, {"cipher_share": -0.1}]
)
def test_bad_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(UserError, match="out of range"):
        VocabularyConfig(**bad)  # type: ignore[arg-type]
