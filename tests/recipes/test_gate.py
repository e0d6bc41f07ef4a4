"""No training in a world model that knows no more than rules and copying; with the numbers, by command and by function."""

import dataclasses
from pathlib import Path

import pytest
from tests.conformance.toy import TableWorldModel, table_of
from tests.gspo import toys

from dynaweb.bench.results import FidelityReport, FidelityRow, Share
from dynaweb.errors import UserError
from dynaweb.evaluate.statistics import shares_difference
from dynaweb.gspo.limits import GateConfig
from dynaweb.recipes.dreaming import train_in_dreams
from dynaweb.recipes.gate import gain_of, measured, require_knowledge
from dynaweb.recipes.presets import preset
from dynaweb.recipes.stage import Run
from dynaweb.recipes.worldly import FIDELITY
from dynaweb.records.action import Click
from dynaweb.records.trajectory import Behaviour
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.jsonfile import write_record
from dynaweb.runs.progress import silent
from dynaweb.world.baselines import CopyWorldModel

CLOSED = GateConfig()


def table(**shares: tuple[int, int]) -> FidelityReport:
    """Of shares (hits, n); a step that rules settle is always there, and counts for nothing."""
    given = {name: Share(hits=hits, n=n) for name, (hits, n) in shares.items()}
    total = FidelityRow(task="all", settled=Share(hits=500, n=500), **given)
    return FidelityReport(world_model="w", total=total, by_task=(), steps=0, seeds=0)


def test_newcombes_interval() -> None:
    """Newcombe 1998, table II, method 10: 56 of 70 against 48 of 80; and bounds."""
    low, high = shares_difference((56, 70), (48, 80))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)
    low, high = shares_difference((10, 10), (0, 20))
    assert (round(low, 4), high) == (0.6791, 1.0)
    assert shares_difference((0, 0), (1, 2)) == (-1.0, 1.0)
    low, high = shares_difference((5, 10), (5, 10))
    assert low == pytest.approx(-high)


DEMO = {"local": (30, 39), "rules_only": (0, 39), "unchanged": (20, 25), "by_rules": (141, 141)}


@pytest.mark.parametrize(
    ("shares", "counts", "passes"),
    [
        # a demo's world model
        (DEMO | {"ended": (91, 91)}, (282, 166, 296), True),
        # it says that every step ends: more is right than by copying, and what goes on is spoilt
        ({"by_rules": (0, 30), "local": (0, 30), "ended": (90, 90)}, (90, 30, 150), False),
        # two smoke runs' world models: one knows how episodes end, the other ends them all
        ({"unchanged": (1, 1), "by_rules": (16, 16), "ended": (13, 13)}, (30, 17, 30), True),
        ({"unchanged": (0, 1), "by_rules": (8, 16), "ended": (13, 13)}, (21, 17, 30), False),
        # it adds nothing to the rules, and raw copying would have 0 of 600
        ({"by_rules": (600, 600), "local": (0, 40)}, (600, 600, 640), False),
        # rules alone come upon as many changes
        ({"local": (9, 40), "rules_only": (9, 40)}, (9, 9, 40), False),
        # better, but it may be chance
        ({"local": (3, 20), "rules_only": (1, 20)}, (3, 1, 20), False),
        # rules settle all there is: nobody can tell
        ({}, (0, 0, 0), False),
    ],
)
def test_what_rules_do_not_settle_decides(
    shares: dict[str, tuple[int, int]],
    counts: tuple[int, int, int],
    passes: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    gain = gain_of(table(**shares), 0.95)
    assert (gain.every.right, gain.every.ruled, gain.every.n) == counts
    assert gain.proved is passes
    if passes:
        require_knowledge(gain, CLOSED)
        return
    with pytest.raises(UserError, match=r"gspo\.gate\.closed=false") as told:
        require_knowledge(gain, CLOSED)
    assert "\n" not in str(told.value)
    assert gain.n == 0 or f"{counts[0]} of {counts[2]} rightly" in str(told.value)
    assert not caplog.records
    require_knowledge(gain, dataclasses.replace(CLOSED, closed=False))
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "as configured" in caplog.text and str(gain) in caplog.text


def test_measured_on_real_steps() -> None:
    """A table of the very pages knows them; copying is no better than copying."""
    held_out = [
        toys.attempt(s, (Click(box), Click("7")), Behaviour.RANDOM)
        for s in range(20)
        for box in ("3", "4")
    ]
    knows: TableWorldModel = table_of(range(20))
    gain = measured(knows, held_out, 0.95)
    assert gain.n > 0 and gain.every.right == gain.n and gain.proved
    same = measured(CopyWorldModel(), held_out, 0.95)
    assert same.n == gain.n and same.every.right == same.every.ruled and not same.proved
    with pytest.raises(UserError, match="a gain of"):
        require_knowledge(same, CLOSED)


def test_a_recipe_is_refused_before_it_loads_a_model(tmp_path: Path) -> None:
    smoke = preset("smoke")
    config = dataclasses.replace(smoke, gspo=dataclasses.replace(smoke.gspo, gate=CLOSED))
    with RunFolder(tmp_path, config=config, seed=0) as folder:
        run = Run(folder=folder, config=config, progress=silent)
        run.inputs |= {name: name for name in ("sft", "world", "fidelity")}
        write_record(run.path("fidelity") / FIDELITY, table(local=(10, 229), rules_only=(10, 229)))
        with pytest.raises(UserError, match="10 of 229 rightly, rules and copying 10"):
            train_in_dreams(run, run.path("sft"), run.path("world"), [])
        assert not (run.path("gspo") / "checkpoints").exists()
