"""GSPO by itself: a policy, and dreams, real pages or both; a trained policy comes out."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics
from dynaweb.browser.miniwob import miniwob_tasks
from dynaweb.dream.starts import StartPoint, collect_starts
from dynaweb.errors import UserError
from dynaweb.gspo.audit import Audit
from dynaweb.gspo.progress import METRICS
from dynaweb.gspo.readable import readable
from dynaweb.gspo.train import ALONE, GspoResult, Parts, train_gspo
from dynaweb.lm.language import Language
from dynaweb.lm.model import context_length
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.alone import NOTHING_READ, gain_over_copy, read_attempts
from dynaweb.recipes.attempting import LIVE, live_attempts
from dynaweb.recipes.collecting import openings
from dynaweb.recipes.config import MAY_DIFFER, RecipeConfig
from dynaweb.recipes.dreaming import audited, demonstrations_of, replayed
from dynaweb.recipes.dreamland import Dreamland, dreaming_in, open_dreamland
from dynaweb.recipes.gate import LONGER as LONGER_WORLD
from dynaweb.recipes.gate import require_knowledge
from dynaweb.recipes.gspo_weights import Tuned, begin, write
from dynaweb.recipes.sampling import SamplerWish, policy_sampler
from dynaweb.recipes.stage import Run
from dynaweb.records.codec import dump, load
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.atomic import write_json
from dynaweb.runs.folder import RunFolder, check_folder, plain
from dynaweb.runs.jsonl import read_prefix
from dynaweb.runs.progress import Progress
from dynaweb.train.crew import trained as trained_weights
from dynaweb.train.ranks import Ranks, exchanged, joined
from dynaweb.world.opening import OpenChat

RESULT = "result.json"
TRAINING = "training"
HELD_OUT = "give --held-out FILE, real attempts that it was not trained on, in which something happens that rules do not know"
LONGER = frozenset({"gspo.iterations", "gspo.checkpoint_every"})
"""Settings that a run may be taken up with: it goes on longer, and is the same run."""
MAY_TAKE_UP = MAY_DIFFER | LONGER


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoWish:
    """What to train with."""

    policy: Path
    """Folder of the agent to begin with."""
    world: str | None
    """World model to dream in (`dreamland.open_dreamland`); None when every group is live."""
    experts: tuple[Path, ...]
    """Files of real attempts: their states are where attempts begin, experts among them demonstrate."""
    held_out: tuple[Path, ...] = ()
    """Files of real attempts that the world model was not trained on, for the gate; empty takes its run's table."""
    judge: str = ""
    """Of the dreams; empty takes the trained world model's own."""
    answers_count: bool = False
    """Of a judge that is asked in words: whether a message to the user can fulfil a task."""
    chat: OpenChat | None = field(default=None, compare=False)
    """Opens chat models at addresses."""
    sampler: SamplerWish | None = None
    """Server that samples from the policy; None samples in this process."""
    tuned: Tuned = field(default_factory=Tuned)
    """What of the policy is trained."""
    cpu: bool = False
    """Leave GPUs alone; they are used over ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoTrained:
    """What became of it."""

    result: GspoResult
    starts: int
    """Places to begin."""
    left_out: Mapping[str, int]
    """Reason -> rows of the files, states, experts or attempts that are not used."""
    bars: Path | None
    """Where the judge's bars were found; None for the defaults, or without a judge."""
    gate: str
    """What the world model knows beyond copying; empty without one."""
    audited: bool
    """Dreams were replayed for real now and then."""
    opening_steps: int
    """Real steps that looking at first pages took."""
    rows: tuple[Metrics, ...]
    """Metrics of every iteration."""
    ranks: int
    """Processes that trained it."""
    trained_parameters: int
    """Numbers that were trained; all, or the adapters'."""

    @property
    def audit_steps(self) -> int:
        """Real actions that audits took."""
        return round(sum(r.get("audit/live_steps") or 0 for r in self.rows))

    @property
    def real_steps(self) -> int:
        """Real actions in all: live groups, audits and first pages."""
        return self.result.live_steps + self.audit_steps + self.opening_steps


def train_gspo_alone(
    wish: GspoWish,
    out: Path,
    config: RecipeConfig,
    progress: Progress,
    argv: tuple[str, ...] = (),
    ranks: Ranks = ALONE,
) -> GspoTrained:
    """Train a policy; its folder is `out` itself. The same call goes on where it stopped.

    Args:
        wish: what to train with.
        out: run folder.
        config: `gspo` says how; `browser`, `seed` and workers too.
        progress: told how far it is.
        argv: the command, for the record.
        ranks: which of the processes this is, that all call this; the first one writes.

    Raises:
        UserError: nowhere to begin, the world model knows no more than rules and copying, or the folder holds another run.
        StorageError: a file or a model cannot be read. MissingDependencyError: a browser is needed and is not there.
    """
    asked = _asked(wish, config)
    # what is wrong is said before the folder is this run's: the mended command may use it
    check_folder(out, config=asked, seed=config.seed, may_differ=MAY_TAKE_UP)
    read = read_attempts(wish.experts, "places to begin") if wish.experts else NOTHING_READ
    torch.set_num_threads(config.threads)
    language, model = load_language(wish.policy), begin(wish.policy, wish.tuned, config.seed)
    seen = _dreamland(wish)
    gate = _gate(wish, config, seen) if ranks.rank == 0 else ""
    real, left = list(read.attempts), Counter(read.dropped)
    opens = bool(config.gspo.live.share and config.gspo.live.tasks and config.data.openings)
    if not opens:
        _starts(real, language, config, context_length(model), Counter())
    name = wish.policy.name
    with (
        joined(ranks, cpu=wish.cpu) as device,
        policy_sampler(wish.sampler, model, language.tokenizer, name, out) as sampler,
        _held(out, asked, config, argv, ranks) as folder,
    ):
        if ranks.world > 1:
            torch.nn.Module.to(model, device)
        run = Run(folder=folder, config=config, progress=progress) if folder is not None else None
        opened = _opened(run, ranks, device) if opens else []
        points = _starts([*real, *opened], language, config, context_length(model), left)
        audit = _audit(run, points) if seen is not None and run is not None else None
        trained = sum(p.numel() for p in trained_weights(model).values())
        parts = Parts(
            policy=model,
            name=name,
            sampler=sampler,
            language=language,
            world=seen.world if seen is not None else None,
            judge=seen.judge if seen is not None else None,
            starts=points,
            demonstrations=demonstrations_of(config, model, language, real),
            audit=audit,
            live=live_attempts(config, sampler, language, out / LIVE),
            served=wish.sampler is not None,
        )
        result = train_gspo(parts, dreaming_in(seen, config.gspo), out / TRAINING, progress, ranks)
        lines = read_prefix(out / TRAINING / METRICS).lines
        done = GspoTrained(
            result=result,
            starts=len(points),
            left_out=dict(+left),
            bars=seen.bars if seen is not None else None,
            gate=gate,
            audited=audit is not None,
            opening_steps=sum(len(t.steps) for t in opened),
            rows=tuple(json.loads(line) for line in lines),
            ranks=ranks.world,
            trained_parameters=trained,
        )
        if ranks.rank == 0:
            write(model, language, wish.policy, wish.tuned, out / TRAINING, out, ranks)
            write_json(out / RESULT, _kept(done))
    return done


def _asked(wish: GspoWish, config: RecipeConfig) -> object:
    """What makes two runs the same: the configuration, and adapters where there are some."""
    if not wish.tuned.adapters.rank:
        return config
    settings = plain(config)
    assert isinstance(settings, dict)
    return {**settings, "tuned": wish.tuned}


@contextmanager
def _held(
    out: Path, asked: object, config: RecipeConfig, argv: tuple[str, ...], ranks: Ranks
) -> Iterator[RunFolder | None]:
    """The folder, held by the first rank."""
    if ranks.rank:
        yield None
        return
    with RunFolder(
        out, config=asked, seed=config.seed, argv=argv, may_differ=MAY_TAKE_UP
    ) as folder:
        yield folder


def _opened(run: Run | None, ranks: Ranks, device: torch.device) -> list[Trajectory]:
    """First pages, that the first rank looks at for all."""
    found = openings(run) if run is not None else []
    if ranks.world == 1:
        return found
    said = exchanged("\n".join(map(dump, found)), ranks, device)[0]
    return [t for line in said.split("\n") if line and isinstance(t := load(line), Trajectory)]


def _dreamland(wish: GspoWish) -> Dreamland | None:
    if wish.world is None:
        return None
    return open_dreamland(wish.world, wish.judge, chat=wish.chat, answers_count=wish.answers_count)


def _gate(wish: GspoWish, config: RecipeConfig, seen: Dreamland | None) -> str:
    if seen is None:
        return ""
    unseen = read_attempts(wish.held_out, "the gate").attempts if wish.held_out else ()
    gate = config.gspo.gate
    gain = gain_over_copy(
        seen.folder, seen.world, unseen, gate.confidence, show_goal=seen.shows_goal
    )
    require_knowledge(gain, gate, LONGER_WORLD if gain.n else HELD_OUT)
    return str(gain)


def _starts(
    real: Sequence[Trajectory],
    language: Language,
    config: RecipeConfig,
    context: int,
    left: Counter[str],
) -> tuple[StartPoint, ...]:
    """Places to begin for this policy; `left` is told what is no such place, and why."""
    gspo = config.gspo
    found = collect_starts(real, gspo.starts)
    left.update(found.dropped)
    points, unread = readable(found.points, language, context=context, room=gspo.max_new_tokens)
    left.update(unread)
    if gspo.live.share == 1.0:
        allowed = tuple(p for p in points if gspo.live.allows(p.start.task))
        left["not_a_live_task"] += len(points) - len(allowed)
        points = allowed
    if not points:
        why = ", ".join(f"{n} {reason}" for reason, n in (+left).items()) or "none was given"
        raise UserError(
            f"no place to begin ({why}): give --experts FILE with real attempts, or --live TASKS"
        )
    return points


def _audit(run: Run, points: Sequence[StartPoint]) -> Audit | None:
    """Replays in the real browser, where the dreams are of pages that it can open."""
    real = set(miniwob_tasks())
    if not run.config.gspo.audit.every or any(p.start.task not in real for p in points):
        return None
    return lambda iteration, dreams: audited(replayed(run, dreams)[0])


def _kept(trained: GspoTrained) -> dict[str, object]:
    last = trained.rows[-1] if trained.rows else {}
    return {
        "kind": "gspo",
        **asdict(trained.result),
        "ranks": trained.ranks,
        "trained_parameters": trained.trained_parameters,
        "starts": trained.starts,
        "left_out": dict(trained.left_out),
        "bars": str(trained.bars) if trained.bars is not None else None,
        "gate": trained.gate,
        "audited": trained.audited,
        "real_steps": trained.real_steps,
        "audit_steps": trained.audit_steps,
        "opening_steps": trained.opening_steps,
        "last": {f"{s.value}/reward": last.get(f"{s.value}/reward") for s in Source},
    }
