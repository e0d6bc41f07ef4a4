"""Hypothesis strategies for any record, from its annotations: nothing here to keep in step by hand."""

import re

from hypothesis import strategies as st

from dynaweb.records.action import ACTION_TYPES, Action
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Group, Start, Step, Trajectory

PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

texts = st.text(st.characters(exclude_categories=()), max_size=12).map(lambda t: PAIR.sub("", t))
st.register_type_strategy(str, texts)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(int, st.integers(-(1 << 40), 1 << 40))

observations = st.builds(
    Observation,
    tabs=st.lists(st.builds(Tab), max_size=2).map(tuple),
    focused=st.none() | texts,
    attachments=st.dictionaries(texts, texts, max_size=2),
)
st.register_type_strategy(Observation, observations)
steps = st.builds(
    Step, generations=st.lists(st.deferred(lambda: generations), max_size=1).map(tuple)
)
actions: st.SearchStrategy[Action] = st.one_of([st.builds(kind) for kind in ACTION_TYPES])


def generations_with(ids: st.SearchStrategy[list[int]], logprobs: st.SearchStrategy[list[float]]):
    from dynaweb.records.trajectory import Generation

    return st.builds(
        Generation,
        prompt_ids=ids.map(tuple),
        completion_ids=ids.map(tuple),
        logprobs=logprobs.map(tuple),
    )


generations = generations_with(
    st.lists(st.integers(0, 1 << 33) | st.integers(0, 2047), max_size=20),
    st.lists(
        st.floats(max_value=0, allow_infinity=False, width=32)
        | st.floats(max_value=0, allow_infinity=False),
        max_size=20,
    ),
)
starts = st.builds(
    Start,
    prefix=st.lists(actions, max_size=2).map(tuple),
    past=st.lists(steps, max_size=1).map(tuple),
)
trajectories = st.builds(
    Trajectory,
    steps=st.lists(steps, min_size=1, max_size=3).map(tuple),
    past=st.lists(steps, max_size=1).map(tuple),
)
groups = trajectories.map(lambda t: Group(start=t.start, members=(t,)))
