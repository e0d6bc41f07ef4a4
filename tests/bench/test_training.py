import sys
from pathlib import Path

import pytest
import torch

from dynaweb.bench.training.made import GROUP, STEPS, made_groups, with_sampled
from dynaweb.bench.training.memory import TIMES
from dynaweb.bench.training.rival import measure_rival, require_trl
from dynaweb.bench.training.run import measure_training
from dynaweb.bench.training.wish import TrainWish, versus
from dynaweb.cli.training_speeds import BEGIN, END, lines, measure
from dynaweb.errors import MissingDependencyError, UserError
from dynaweb.gspo.config import UpdateConfig
from dynaweb.gspo.fresh import sampler_gap
from dynaweb.gspo.update import score_old
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model

TINY = ModelConfig(hidden=16, layers=1, heads=2, ffn=32, context=256)
WISH = TrainWish(
    repeats=1,
    model=TINY,
    vocabulary=512,
    groups=1,
    token_budget=1024,
    rival_model=TINY,
    rival_vocabulary=512,
    rival_rows=2,
    rival_prompt=8,
    rival_reply=4,
    big_model=TINY,
    big_vocabulary=512,
    sample_group=4,
    sample_prompt=8,
    sample_reply=4,
    memory_groups=1,
)


def silent(stage: str, done: int, total: int | None, note: str = "") -> None:
    pass


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_sides_take_turns_and_the_first_pair_does_not_count() -> None:
    order: list[str] = []
    times = {"ours": iter([100.0, 1.0, 2.0, 4.0]), "theirs": iter([100.0, 2.0, 8.0, 4.0])}

    def side(name: str) -> float:
        order.append(name)
        return next(times[name])

    found = versus(
        "x",
        "y",
        8,
        lambda: side("ours"),
        lambda: side("theirs"),
        repeats=3,
        said=lambda done, ratio: None,
    )
    assert order == ["theirs", "ours", "ours", "theirs", "theirs", "ours", "ours", "theirs"]
    assert (found.ours.high, found.ours.median, found.ours.low, found.ours.n) == (8.0, 4.0, 2.0, 3)
    assert (found.times.low, found.times.median, found.times.high) == (1.0, 2.0, 4.0)


def test_made_groups_share_their_first_prompt_and_hold_what_a_sampler_says() -> None:
    made = made_groups(2, 512, seed=0)
    assert len(made) == 2 * GROUP
    assert all(len(a.rows) == STEPS for a in made)
    assert len({a.rows[0].prompt_ids for a in made}) == 2
    assert sum(a.advantage for a in made) == 0.0
    model = build_model(TINY, 512, seed=0)
    told = with_sampled(model, made, 1024)
    gap = sampler_gap(score_old(model, None, told, UpdateConfig(token_budget=1024)))
    assert gap is not None and gap < 1e-5


def test_parts_are_measured_once_and_kept(tmp_path: Path) -> None:
    parts = ["update", "sampling"]
    first = measure_training(WISH, parts, tmp_path, sys.executable, silent)
    assert first.update is not None and first.update.times.median > 0.0
    assert [v.what.split(",")[0] for v in first.sampling] == ["sampling", "sampling"]
    again = measure_training(WISH, parts, tmp_path, sys.executable, silent)
    assert again.update == first.update and again.sampling == first.sampling
    markdown = "\n".join(lines(first, markdown=True))
    assert markdown.count("| update | bare passes |") == 1
    assert "TRL" not in markdown


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_memory_is_measured_in_processes_of_their_own(tmp_path: Path) -> None:
    report = measure_training(WISH, ["memory"], tmp_path, sys.executable, silent)
    assert [p.rows for p in report.memory] == [t * GROUP * STEPS for t in TIMES]
    assert all(p.peak_mib > 10.0 for p in report.memory)
    assert report.memory[-1].peak_mib < 1.5 * report.memory[0].peak_mib
    assert f"| {GROUP * STEPS} |" in "\n".join(lines(report, markdown=True))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_trl_computes_the_same_loss(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="pip install 'dynaweb[parity]'")
    found = measure_rival(WISH, sys.executable, tmp_path, lambda done, ratio: None)
    assert abs(found.our_loss) > 1e-4
    assert found.our_loss == pytest.approx(found.their_loss, abs=1e-5)
    assert found.speed.theirs.n == 1


def test_an_interpreter_without_trl_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"dynaweb\[parity\]"):
        require_trl("/bin/false")
    with pytest.raises(MissingDependencyError, match="cannot run"):
        require_trl(str(tmp_path / "nothing"))


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'speed'"):
        measure_training(WISH, ["speed"], tmp_path, sys.executable, silent)
    with pytest.raises(UserError, match="even number"):
        TrainWish(rival_rows=3)


def test_numbers_go_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    measure(WISH, ["update"], tmp_path / "out", "", page, quiet=True)
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{BEGIN}\n") and text.endswith(f"{END}\nafter\n")
    assert "old" not in text and "| update | bare passes |" in text
    page.write_text("no marks", "utf-8")
    with pytest.raises(UserError, match="no place"):
        measure(WISH, ["update"], tmp_path / "out", "", page, quiet=True)
