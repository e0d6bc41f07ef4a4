"""Real transitions as questions to a patch model, and its replies graded by what the browser did: no judge is needed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dynaweb.axtree.measure import delta_f1
from dynaweb.contracts import PredictionStatus
from dynaweb.lm.language import EncodedPrompt, Language
from dynaweb.recipes.verifiable import Reward
from dynaweb.records.trajectory import Generation, Trajectory
from dynaweb.world.examples import ExamplesConfig, Said, change_after_rules, say
from dynaweb.world.model import read_prediction
from dynaweb.world.rules import Ruled, apply_rules
from dynaweb.world.shown import equal_as_shown
from dynaweb.world.steps import Known, known_steps
from dynaweb.world.trained import asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A real transition that no rule settles."""

    known: Known
    ruled: Ruled
    prompt: EncodedPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A reply and what it is worth."""

    reply: Generation
    reward: float
    exact: bool
    invalid: bool


def questions_of(
    attempts: Sequence[Trajectory], language: Language, folder: Path, room: int
) -> tuple[list[Question], Counter[str]]:
    """Transitions that the model is to be asked about, as it was trained; and why others are not."""
    ask = asking(folder)
    how = ExamplesConfig(show_goal=ask.show_goal, past_actions=ask.past_actions)
    found: list[Question] = []
    dropped: Counter[str] = Counter()
    for known in (k for t in attempts for k in known_steps(t)):
        said = say(known, how)
        if not isinstance(said, Said):
            dropped[said] += 1
            continue
        prompt = language.encode(said.prompt)
        if len(prompt.ids) > room:
            dropped["prompt_too_long"] += 1
            continue
        ruled = apply_rules(known.history, known.action)
        found.append(Question(known=known, ruled=ruled, prompt=prompt))
    return found, dropped


def grade(question: Question, reply: Generation, reward: Reward) -> Answered:
    """Compare what a reply says with what happened."""
    known, ruled = question.known, question.ruled
    said = read_prediction(ruled.page, known.asked, question.prompt.read(reply))
    if said.status is PredictionStatus.INVALID:
        return Answered(reply=reply, reward=0.0, exact=False, invalid=True)
    page = said.observation
    exact = said.terminal == known.terminal and (
        said.terminal or equal_as_shown(page, known.next_page, ruled.page)
    )
    if exact or reward is Reward.EXACT:
        return Answered(reply=reply, reward=float(exact), exact=exact, invalid=False)
    guessed = change_after_rules(ruled, replace(known, next_page=page, terminal=said.terminal))
    worth = delta_f1(guessed, change_after_rules(ruled, known))
    return Answered(reply=reply, reward=worth, exact=False, invalid=False)
