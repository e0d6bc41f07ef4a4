"""Real transitions of other projects, with descriptions that people's models wrote: `pytest --cases DIR`."""

import json
from collections import Counter
from pathlib import Path

import pytest

from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.prompts.annotate import Annotation
from dynaweb.records.delta import DeltaKind
from dynaweb.world.data.annotate import Annotator, Case, Explained, case_of
from dynaweb.world.data.settings import DataConfig
from dynaweb.world.data.truth import refuse
from dynaweb.world.steps import Known, known_steps


@pytest.fixture(scope="module")
def known(request) -> dict[str, tuple[Known, str]]:
    folder = request.config.getoption("--cases")
    if not folder:
        pytest.skip("needs --cases DIR")
    found: dict[str, tuple[Known, str]] = {}
    for path in sorted(Path(folder).glob("transitions/*.json")):
        read = read_trajectories(path, detect(path), Provenance(), Tally())
        steps = [k for t in read for k in known_steps(t)]
        body = json.loads(path.read_text("utf-8"))
        said = next((str(body[key]) for key in body if "change" in key or "desc" in key), "")
        found.update({path.stem: (steps[0], said)} if steps else {})
    return found


def test_templates_are_never_refused(known):
    seen = Counter()
    for name, (step, _) in known.items():
        case = case_of(step)
        if isinstance(case, Case):
            (made,) = Annotator(DataConfig()).explain([case])
            assert isinstance(made, Explained)
            why = refuse(made.annotation, case.page, step.action, step.next_page, case.delta.kind)
            assert why == "", name
            seen[case.delta.kind] += 1
    assert len(seen) >= 3


@pytest.mark.parametrize("name", ["ss_magna_hallucinated_change", "ss_goto_no_effect"])
def test_changes_that_did_not_happen_are_refused(known, name):
    step, said = known[name]
    kind = without_renumbering(diff(step.history[-1], step.action, step.next_page)).kind
    assert kind is DeltaKind.NONE
    told = Annotation(reasoning="It is a link.", changes=said)
    assert refuse(told, step.history[-1], step.action, step.next_page, kind) == "invents_a_change"
