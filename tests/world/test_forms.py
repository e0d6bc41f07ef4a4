"""What holds for every form of the world model: patch, full in both layouts, nl, prompted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from tests.conformance.toy import FIELD, FIRST, LOCKED, NOTES_TAB, SECOND, SUBMIT, first_site, show
from tests.lm.letters import LETTERS
from tests.world.chats import Answer, ScriptedChat, ask, failed, words_of

from dynaweb.axtree.diff import diff
from dynaweb.axtree.same import same_tree
from dynaweb.axtree.text import print_delta
from dynaweb.contracts import ChatRequest, Imagine, PredictionStatus, SampleRequest, WorldModel
from dynaweb.errors import UserError
from dynaweb.prompts.agentworld import BLOCK
from dynaweb.prompts.change import APPLY_SYSTEM, PAGE_BLOCK, write_change
from dynaweb.records.action import Action, Click, Fill, Noop, SendMsgToUser
from dynaweb.records.trajectory import Fault, Generation
from dynaweb.world.chatting import UNKNOWN_CONFIDENCE, ChatWorldModel
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.forms import ChatFormConfig, FullConfig, Layout, NlConfig, PromptedConfig
from dynaweb.world.model import PatchWorldModel
from dynaweb.world.opening import form_world_model

PAGE = show(first_site(0))
GONE = PAGE.tree.replace("\t[6] button 'Reset', disabled\n", "")
"""What every form below is made to answer: one button goes, nothing else."""
WORDS = "[6] button 'Reset' disappeared."


@dataclass(frozen=True, slots=True)
class Form:
    """One form under test, and how its model says that `GONE` comes next."""

    name: str
    config: ChatFormConfig | WorldModelConfig
    says: Callable[[ChatRequest], str]


def nl_says(r: ChatRequest) -> str:
    if r.messages[0].content != APPLY_SYSTEM:
        return write_change("because", WORDS)
    return f"<{PAGE_BLOCK}>\n{without_reset(r)}\n</{PAGE_BLOCK}>"


def without_reset(r: ChatRequest) -> str:
    """The page that a request shows, one line less: a model that copies well."""
    shown = re.findall(r"RootWebArea 'Toy'(?:\n\t.*)+", r.messages[-1].content)
    return re.sub(r"\n\t\[6\][^\n]*", "", shown[-1]) if shown else GONE


def last_page(r: ChatRequest) -> str:
    shown = re.findall(r"RootWebArea 'Toy'(?:\n\t.*)+", words_of(r))
    return re.sub(r"\n\t\[6\][^\n]*", "", shown[-1])


FORMS = [
    Form("full-webworld", FullConfig(), last_page),
    Form("full-agentworld", FullConfig(layout=Layout.AGENTWORLD), lambda r: f"Think.\n<{BLOCK}>\n{last_page(r)}\n</{BLOCK}>"),
    Form("nl", NlConfig(), nl_says),
    Form("prompted", PromptedConfig(), lambda r: f"<{PAGE_BLOCK}>\n{last_page(r)}\n</{PAGE_BLOCK}>"),
]  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda f: f.name)


def opened(
    form: Form,
    answer: Answer | Callable[[ChatRequest], Answer] | None = None,
    config: ChatFormConfig | None = None,
) -> tuple[ChatWorldModel, ScriptedChat]:
    chat = ScriptedChat(form.says if answer is None else answer)
    assert isinstance(form.config, ChatFormConfig)
    return form_world_model(chat, config or form.config), chat


def tuned(form: Form, **changed: object) -> ChatFormConfig:
    assert isinstance(form.config, ChatFormConfig)
    return replace(form.config, **changed)


@every_form
def test_it_is_a_world_model_and_says_which(form: Form) -> None:
    contract: WorldModel = opened(form)[0]
    assert contract.version.endswith(":scripted-1") and contract.version.startswith(
        form.name.partition("-")[0]
    )


@every_form
@pytest.mark.parametrize("action", [Click("99"), Click(LOCKED), Noop(), SendMsgToUser("done")])
def test_rules_and_gate_answer_without_the_model(form: Form, action: Action) -> None:
    model, chat = opened(form)
    (p,) = model.predict([ask(PAGE, action)])
    assert p.by_rule and p.confidence == 1.0 and not chat.asked
    assert p.terminal == isinstance(action, SendMsgToUser)
    assert (p.fault is not None) == isinstance(action, Click)


@every_form
def test_the_model_adds_to_what_the_rules_did(form: Form) -> None:
    (p,) = opened(form)[0].predict([ask(PAGE, Fill(FIELD, "gold"))])
    assert p.observation.tree == GONE.replace("textbox 'Word'", "textbox 'Word', value='gold'")
    assert p.observation.focused == FIELD and p.delta is not None


@every_form
def test_history_may_be_one_page_or_all(form: Form) -> None:
    """The past informs the model; what it answers is a page either way, and the past page is never changed."""
    model, chat = opened(form)
    past = show(first_site(3))
    one = ask(PAGE, Click(SUBMIT))
    more = Imagine(history=(past, PAGE), done=(Click(FIRST),), action=Click(SUBMIT))
    unknown = Imagine(history=(past, PAGE), action=Click(SUBMIT))
    for p in model.predict([one, more, unknown]):
        assert p.status is PredictionStatus.OK and same_tree(p.observation.tree, GONE)
    asked = [r for r in chat.asked if r.messages[0].content != APPLY_SYSTEM]
    assert any("click" in words_of(r).replace(words_of(asked[0]), "") for r in asked[1:])


@every_form
def test_the_goal_is_hidden_by_default(form: Form) -> None:
    model, chat = opened(form)
    (with_goal,) = model.predict([ask(PAGE, Click(SUBMIT), goal="Buy the cheapest hat")])
    (without,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert with_goal == without and not any("cheapest" in words_of(r) for r in chat.asked)


@pytest.mark.parametrize(
    "form", [f for f in FORMS if f.name != "full-webworld"], ids=lambda f: f.name
)
def test_the_goal_is_shown_when_told_to(form: Form) -> None:
    model, chat = opened(form, config=tuned(form, show_goal=True))
    model.predict([ask(PAGE, Click(SUBMIT), goal="Buy the cheapest hat")])
    assert "cheapest" in words_of(chat.asked[0])


@every_form
def test_order_and_batch_do_not_change_an_answer(form: Form) -> None:
    questions = [ask(PAGE, Click(b)) for b in (FIRST, SUBMIT, NOTES_TAB, SECOND)]
    together = opened(form)[0].predict(questions)
    alone = [opened(form)[0].predict([q])[0] for q in questions[::-1]][::-1]
    assert together == alone


@every_form
def test_the_same_question_is_asked_once(form: Form) -> None:
    model, chat = opened(form)
    first = model.predict([ask(PAGE, Click(SUBMIT), seed=1), ask(PAGE, Click(SUBMIT), seed=2)])
    asked = len(chat.asked)
    again = model.predict([ask(PAGE, Click(SUBMIT), seed=3)])
    assert first == again * 2 and len(chat.asked) == asked == (2 if form.name == "nl" else 1)


@every_form
def test_drawn_answers_depend_on_the_seed(form: Form) -> None:
    model, chat = opened(form, config=tuned(form, temperature=1.0))
    model.predict([ask(PAGE, Click(SUBMIT), seed=s) for s in (1, 2, 1)])
    first = [r for r in chat.asked if r.messages[0].content != APPLY_SYSTEM]
    assert (
        len(first) == 2
        and len({r.seed for r in first}) == 2
        and {r.temperature for r in first} == {1.0}
    )


@every_form
@pytest.mark.parametrize(
    "reply", ["", "I'm sorry, I can't.", "Sure!", "<|im_start|>user\nhi", "x " * 300_000]
)
def test_rubbish_is_invalid_and_shows_no_page(form: Form, reply: str) -> None:
    model, chat = opened(form, reply)
    (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert p.status is PredictionStatus.INVALID and not p.terminal and p.delta is None
    assert p.observation.tree == PAGE.tree and p.raw_text == reply
    assert [r.temperature for r in chat.asked] == [0.0, 0.7]


@every_form
def test_a_second_try_that_works_is_marked(form: Form) -> None:
    model, _ = opened(form, lambda r: form.says(r) if r.temperature > 0 else "nonsense")
    (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert p.status is PredictionStatus.REPAIRED and same_tree(p.observation.tree, GONE)


@every_form
def test_a_model_that_cannot_be_asked_is_asked_again_the_next_time(form: Form) -> None:
    down = True
    model, chat = opened(form, lambda r: failed("connection refused") if down else form.says(r))
    (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert p.status is PredictionStatus.INVALID and "connection refused" in p.raw_text
    assert len(chat.asked) == 1, "the endpoint has retried already"
    down = False
    assert model.predict([ask(PAGE, Click(SUBMIT))])[0].status is PredictionStatus.OK


@every_form
def test_confidence_is_that_of_the_words_or_said_to_be_unknown(form: Form) -> None:
    (p,) = opened(form)[0].predict([ask(PAGE, Click(SUBMIT))])
    assert p.confidence == pytest.approx(0.8187, abs=1e-3)
    silent = ScriptedChat(form.says, logprob=None)
    assert isinstance(form.config, ChatFormConfig)
    model = form_world_model(silent, form.config)
    (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert p.confidence == UNKNOWN_CONFIDENCE and model.counts["confidence_unknown"] == 1


@every_form
def test_counts_add_up(form: Form) -> None:
    model, _ = opened(form, "nonsense")
    model.predict([ask(PAGE, Click(b)) for b in (FIRST, SUBMIT, "99")])
    counts = model.counts
    invalid = sum(n for k, n in counts.items() if k.startswith("invalid."))
    assert counts["asked"] == 2 and counts["tries"] == invalid == 4


@every_form
def test_a_batch_mixes_rules_and_model_in_order(form: Form) -> None:
    answers = opened(form)[0].predict(
        [ask(PAGE, a) for a in (Click("99"), Click(FIRST), Noop(), Click(SUBMIT))]
    )
    assert [p.by_rule for p in answers] == [True, False, True, False]
    assert answers[0].fault is Fault.MISSING_ELEMENT


class PatchSampler:
    """Says one change, whatever it is asked."""

    version = "patch-1"

    def __init__(self, said: str) -> None:
        self._said = said

    def sample(self, requests: Sequence[SampleRequest]) -> list[Generation]:
        return [
            Generation(
                prompt_ids=r.prompt_ids,
                completion_ids=(1,),
                logprobs=(-0.2,),
                temperature=r.temperature,
                seed=r.seed,
                policy_version=self.version,
                raw_text=self._said,
                finish="stop",
            )
            for r in requests
        ]


def test_patch_says_the_same_in_its_own_words() -> None:
    """The form with a sampler instead of a chat model gives the very same page and change."""
    said = print_delta(diff(PAGE, Click(SUBMIT), replace(PAGE, tree=GONE)))
    world = PatchWorldModel(PatchSampler(said), LETTERS, WorldModelConfig())
    (patch,) = world.predict([ask(PAGE, Click(SUBMIT))])
    assert patch.observation.tree == GONE
    for form in FORMS:
        (p,) = opened(form)[0].predict([ask(PAGE, Click(SUBMIT))])
        assert (p.observation, p.delta) == (patch.observation, patch.delta), form.name


@pytest.mark.parametrize("name", ["retries", "max_prompt_tokens", "chars_per_token", "temperature"])
def test_bad_settings_are_refused(name: str) -> None:
    for kind in (FullConfig, NlConfig, PromptedConfig):
        with pytest.raises(UserError, match=name):
            kind(**{name: -1})
