"""World models by one spec, for whoever dreams, measures or trains in them.

    copy                                   nothing ever happens beyond the rules
    nearest                                what happened the last time, of known transitions
    FOLDER                                 a trained world model, or a run that has trained one (`patch`)
    FORM[:OPTION=VALUE,...]@TARGET         a chat model at TARGET, asked in a form of `world.forms`

FORM is `full`, `nl` or `prompted`; an option is a field of its configuration, such as `full:layout=qwen-agentworld,view=html@DIR`.
TARGET is a folder or GGUF file with a chat model, or whatever else the caller's `chat` opens: addresses and keys are its business.
Importable without torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from dynaweb.axtree.views.convert import Form
from dynaweb.contracts import ChatModel, WorldModel
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.folder import fingerprint
from dynaweb.world.chatting import ChatWorldModel
from dynaweb.world.forms import VIEWS, ChatFormConfig, FullConfig, NlConfig, PromptedConfig
from dynaweb.world.full import full_world_model
from dynaweb.world.nl import nl_world_model
from dynaweb.world.prompted import prompted_world_model
from dynaweb.world.trained import open_trained, trajectories_digest

COPY: Final = "copy"
NEAREST: Final = "nearest"

OpenChat: TypeAlias = Callable[[str], ChatModel]
"""A chat model from the TARGET of a spec."""

FORMS: Final[Mapping[str, ChatFormConfig]] = {
    "full": FullConfig(),
    "nl": NlConfig(),
    "prompted": PromptedConfig(),
}
"""Forms that ask a chat model, with the settings they have when nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedWorld:
    """A world model, and what tells it from every other."""

    name: str
    """Short, for people."""
    model: WorldModel
    checksum: str
    """Changes whenever an answer might: weights, settings, known transitions, the chat model's version."""
    shows_goal: bool = False
    """It is told the goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSpec:
    """A spec that names a form, read."""

    form: str
    config: ChatFormConfig
    target: str


def open_world_model(
    spec: str,
    *,
    known: Sequence[Trajectory] = (),
    chat: OpenChat | None = None,
    threads: int | None = None,
) -> OpenedWorld:
    """A world model that is ready to be asked.

    Args:
        spec: see above.
        known: real attempts: what `nearest` knows, and where `prompted` takes its examples.
        chat: opens TARGET; without it only local folders and GGUF files are.
        threads: of a model on a CPU; as it is set when None.

    Raises:
        UserError: no such spec, or it needs what is not given. StorageError: a folder cannot be read.
        MissingDependencyError: a package that reads the weights is missing.
    """
    if spec == COPY:
        # retrieval needs numpy, weights need torch: whoever asks for neither loads neither
        from dynaweb.world.baselines import CopyWorldModel  # noqa: PLC0415

        return OpenedWorld(name=COPY, model=CopyWorldModel(), checksum=COPY)
    if spec == NEAREST:
        return _nearest(known)
    asked = read_chat_spec(spec)
    if asked is not None:
        return _asked(asked, known, chat, threads)
    trained = open_trained(spec, threads)
    return OpenedWorld(
        name=trained.name,
        model=trained.model,
        checksum=trained.checksum,
        shows_goal=trained.config.show_goal,
    )


def read_chat_spec(spec: str) -> ChatSpec | None:
    """Form, settings and target of a spec; None when it names no form.

    Raises:
        UserError: a form, but an option or the target is wrong.
    """
    head, at, target = spec.partition("@")
    form, _, options = head.partition(":")
    if form not in FORMS or (not at and Path(spec).exists()):
        return None
    if not target:
        raise UserError(
            f"world model {spec!r} has no target: write {head}@TARGET, a folder or an address"
        )
    return ChatSpec(form=form, config=_configured(form, options), target=target)


def _configured(form: str, options: str) -> ChatFormConfig:
    config = FORMS[form]
    given: dict[str, object] = {}
    known = {f.name: getattr(config, f.name) for f in fields(config)}
    for option in options.split(",") if options else ():
        name, _, text = option.partition("=")
        if name not in known:
            raise UserError(
                f"form {form!r} has no option {name!r}: use one of {', '.join(sorted(known))}"
            )
        given[name] = _value(name, text, known[name])
    return replace(config, **given)  # type: ignore[arg-type]  # each value was read as its field's kind


def _value(name: str, text: str, default: object) -> object:
    kind = type(default)
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise UserError(f"{name} {text!r} is neither true nor false")
        return text == "true"
    if isinstance(default, Enum):
        known = VIEWS if isinstance(default, Form) else tuple(type(default))
        choices = [str(choice.value) for choice in known]
        if text not in choices:
            raise UserError(f"{name} {text!r} is unknown: use one of {', '.join(choices)}")
    try:
        return kind(text)  # type: ignore[call-arg]  # enum of text, int or float
    except ValueError as error:
        raise UserError(f"{name} {text!r} is no number: use one such as {default!r}") from error


def _nearest(known: Sequence[Trajectory]) -> OpenedWorld:
    if not known:
        raise UserError(
            "world model 'nearest' knows nothing: give it known trajectories (--train FILES, or --hold-out a share of the tasks)"
        )
    from dynaweb.world.baselines import NearestWorldModel  # noqa: PLC0415
    from dynaweb.world.nearest import index_trajectories  # noqa: PLC0415

    model = NearestWorldModel(index_trajectories(known))
    return OpenedWorld(name=NEAREST, model=model, checksum=trajectories_digest(known))


def _asked(
    spec: ChatSpec, known: Sequence[Trajectory], chat: OpenChat | None, threads: int | None
) -> OpenedWorld:
    model = form_world_model(open_chat(spec.target, chat, threads), spec.config, known)
    parts = [model.version, fingerprint(spec.config)]
    if isinstance(spec.config, PromptedConfig) and known:
        parts.append(trajectories_digest(known))
    goal = bool(getattr(spec.config, "show_goal", False))
    return OpenedWorld(name=model.version, model=model, checksum="-".join(parts), shows_goal=goal)


def form_world_model(
    chat: ChatModel, config: ChatFormConfig, known: Sequence[Trajectory] = ()
) -> ChatWorldModel:
    """A world model over a chat model that is open already.

    Args:
        chat: who is asked.
        config: `FullConfig`, `NlConfig` or `PromptedConfig`: says the form.
        known: real attempts, where `prompted` takes its examples.
    """
    match config:
        case FullConfig():
            return full_world_model(chat, config)
        case NlConfig():
            return nl_world_model(chat, config)
        case PromptedConfig():
            if not known:
                return prompted_world_model(chat, config)
            from dynaweb.world.nearest import index_trajectories  # noqa: PLC0415

            return prompted_world_model(chat, config, index_trajectories(known).nearest)
        case _:
            raise UserError(f"{type(config).__name__} is no form: use one of {', '.join(FORMS)}")


def open_chat(target: str, chat: OpenChat | None = None, threads: int | None = None) -> ChatModel:
    """A chat model by the TARGET of a spec.

    Args:
        target: a folder or GGUF file, else what `chat` opens.
        chat: opens addresses.
        threads: of a model on a CPU; as it is set when None.

    Raises:
        UserError: neither. StorageError: it cannot be read.
    """
    place = Path(target)
    if place.is_dir() or place.suffix == ".gguf":
        import torch  # noqa: PLC0415

        from dynaweb.lm.localchat import load_chat  # noqa: PLC0415

        if threads is not None:
            torch.set_num_threads(threads)
        return load_chat(place)
    if chat is None:
        raise UserError(
            f"no chat model {target!r} here: use a folder, a GGUF file, or a command that opens addresses"
        )
    return chat(target)
