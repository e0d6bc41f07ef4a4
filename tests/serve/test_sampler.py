"""`dynaweb serve sampler` and `lm.remote` against each other, and both against the policy in this process."""

import dataclasses
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import torch
from tests.lm.faulty import Act, Answer, Faulty
from tests.lm.tinypolicy import policy_folder, requests, restless
from tests.serve.running import running
from tests.serve.test_chat import served, stop
from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.errors import MissingDependencyError, SamplerError, StorageError, UserError
from dynaweb.lm.adapters import add_adapters
from dynaweb.lm.config import AdapterConfig, EndpointConfig
from dynaweb.lm.gather import answer_each
from dynaweb.lm.localpolicy import LocalPolicy
from dynaweb.lm.model import build_model, load_model
from dynaweb.lm.publish import AdapterFolders, Way, WeightFolders, open_publisher
from dynaweb.lm.remote import RemoteSampler, served_models
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.records.trajectory import Generation
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.sampler import sampler_app

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return policy_folder(tmp_path_factory.mktemp("policy") / "tiny")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running(sampler_app(LocalPolicy(folder, "tiny"), ServeConfig())) as address:
        yield address


def at(url: str, **more: object) -> EndpointConfig:
    config = EndpointConfig(url=url, model="tiny", in_flight=32, tries=3, backoff_sec=0.01)
    return dataclasses.replace(config, **more)  # type: ignore[arg-type]


def remote(url: str, folder: Path, **more: object) -> RemoteSampler:
    return RemoteSampler(at(url, **more), load_language(folder).tokenizer, "tiny")


def local(folder: Path, model: PreTrainedModel | None = None) -> TorchSampler:
    return TorchSampler(model or load_model(folder), load_language(folder).tokenizer, "tiny")


def assert_same(far: list[Generation], near: list[Generation]) -> None:
    for f, n in zip(far, near, strict=True):
        assert dataclasses.replace(f, logprobs=()) == dataclasses.replace(n, logprobs=())
        assert f.logprobs == pytest.approx(n.logprobs, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 0.7])
def test_an_address_samples_what_this_process_does(
    url: str, folder: Path, temperature: float
) -> None:
    asked = requests(20, temperature=temperature)
    with remote(url, folder) as sampler:
        far = sampler.sample(asked)
        assert sampler.tally.answered == len(set(asked)) and not sampler.tally.failed
    near = local(folder).sample(asked)
    assert_same(far, near)
    assert {g.finish for g in near} == {"length"} or temperature > 0.0


def test_the_servers_numbers_are_the_models(url: str, folder: Path) -> None:
    """Log-probabilities computed anew in one pass over the whole sequence."""
    model = load_model(folder)
    with remote(url, folder) as sampler:
        for g in sampler.sample(requests(6, temperature=1.0)):
            ids = torch.tensor([[*g.prompt_ids, *g.completion_ids]])
            with torch.inference_mode():
                logp = torch.log_softmax(model(input_ids=ids).logits[0], dim=-1)
            at = range(len(g.prompt_ids) - 1, ids.shape[1] - 1)
            again = [float(logp[t, ids[0, t + 1]]) for t in at]
            assert list(g.logprobs) == pytest.approx(again, abs=1e-4)


def test_what_waits_is_one_batch(folder: Path) -> None:
    policy = LocalPolicy(folder, "tiny")
    with running(sampler_app(policy, ServeConfig(max_batch=64))) as address:
        with remote(address, folder) as sampler:
            sampler.sample(requests(32, temperature=1.0))
        health = httpx2.get(f"{address}/health").json()
    assert health["answered"] == 32 and health["batches"] < 16


def edited(**change: object) -> Act:
    def edit(answer: Answer) -> None:
        choices = answer["choices"]
        assert isinstance(choices, list)
        for name, value in change.items():
            if name == "model":
                answer[name] = value
            elif value is None:
                choices[0].pop(name)
            else:
                choices[0][name] = value

    return edit


@pytest.mark.parametrize("acts", [["500"], ["cut"], ["500", "cut"], ["slow"]])
def test_what_passes_is_tried_again(folder: Path, acts: list[Act]) -> None:
    asked = requests(1)
    faulty = Faulty(sampler_app(LocalPolicy(folder, "tiny"), ServeConfig()), iter(acts))
    with running(faulty) as address:
        with remote(address, folder, attempt_sec=1.0) as sampler:
            assert_same(sampler.sample(asked), local(folder).sample(asked))
            assert sum(sampler.tally.retried.values()) == len(acts)
        assert faulty.asked == len(acts) + 1


WRONG = [
    ({"token_ids": [5, 6]}, "2 tokens and 12 log-probabilities"),
    ({"token_ids": [5] * 13}, "13 tokens"),
    ({"token_ids": [100_000] * 12}, "vocabulary"),
    ({"prompt_token_ids": [1, 2, 3]}, "another prompt"),
    ({"token_ids": None}, "no token ids"),
    ({"logprobs": {"token_logprobs": [0.5] * 12}}, "0 log-probabilities"),
    ({"logprobs": {"token_logprobs": [None] * 12}}, "0 log-probabilities"),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
def test_other_tokens_are_never_taken(folder: Path, change: dict[str, object], said: str) -> None:
    """The other request of the batch is answered, and neither is asked again."""
    asked = requests(2)
    app = sampler_app(LocalPolicy(folder, "tiny"), ServeConfig())
    faulty = Faulty(app, iter([edited(**change)]))
    with running(faulty) as address, remote(address, folder, in_flight=1) as sampler:
        answers, _ = answer_each(sampler.sample, asked)
        assert isinstance(answers[0], SamplerError) and said in str(answers[0])
        assert answers[1] == local(folder).sample(asked)[1] or isinstance(answers[1], Generation)
        assert faulty.asked == 2 and sampler.tally.failed == {"wrong_tokens": 1}
        assert len(sampler.sample(asked)) == 2, "the next time it is asked anew"


def test_another_version_ends_the_run(folder: Path) -> None:
    app = sampler_app(LocalPolicy(folder, "tiny"), ServeConfig())
    with (
        running(Faulty(app, iter([edited(model="tiny-old")]))) as address,
        remote(address, folder) as sampler,
        pytest.raises(MissingDependencyError, match="'tiny-old' answered where 'tiny' was asked"),
    ):
        sampler.sample(requests(1))


def test_a_server_that_is_gone_ends_the_run(folder: Path) -> None:
    with running(sampler_app(LocalPolicy(folder, "tiny"), ServeConfig())) as address:
        sampler = remote(address, folder)
        sampler.sample(requests(1))
    with sampler, pytest.raises(MissingDependencyError, match="start it again"):
        sampler.sample(requests(4))


def test_a_prompt_that_is_too_long_is_its_own_fault(url: str, folder: Path) -> None:
    long = SampleRequest(prompt_ids=(5,) * 200, max_new_tokens=4, temperature=0.0, seed=0)
    with remote(url, folder) as sampler:
        answers, _ = answer_each(sampler.sample, [*requests(3), long])
    assert [isinstance(a, Generation) for a in answers] == [True, True, True, False]
    assert "leaves no room" in str(answers[3])


def test_all_weights_by_folder(folder: Path, tmp_path: Path) -> None:
    updates = tmp_path / "updates"
    policy = LocalPolicy(folder, "tiny", updates=updates)
    codec = load_language(folder).tokenizer
    asked = requests(8)
    with running(sampler_app(policy, ServeConfig())) as address:
        publisher = WeightFolders(at(address), updates)
        with RemoteSampler(at(address), codec, "tiny", publisher=publisher) as sampler:
            seen = [sampler.sample(asked)]
            for k in (1, 2, 3):
                model = build_model(policy_shape(), codec.vocab_size, seed=k)
                restless(model)
                sampler.update(model, f"tiny+gspo{k}")
                seen.append(sampler.sample(asked))
                near = TorchSampler(model, codec, f"tiny+gspo{k}").sample(asked)
                assert_same(seen[-1], near)
    texts = [tuple(g.completion_ids for g in gs) for gs in seen]
    assert len(set(texts)) == 4, "each version says something of its own"
    assert len(list(updates.iterdir())) == 2, "older weights are removed"


def policy_shape():  # type: ignore[no-untyped-def]
    from tests.lm.tinypolicy import SHAPE

    return SHAPE


def adapted(folder: Path, seed: int) -> PreTrainedModel:
    model = load_model(folder)
    add_adapters(model, AdapterConfig(rank=4, alpha=8), seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_B" in name:
                p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(seed)))
    return model


def test_adapters_by_folder(folder: Path, tmp_path: Path) -> None:
    updates = tmp_path / "updates"
    policy = LocalPolicy(folder, "tiny", updates=updates)
    codec = load_language(folder).tokenizer
    asked = requests(8)
    with running(sampler_app(policy, ServeConfig())) as address:
        for _ in range(2):  # the second run finds what the first has loaded
            publisher = AdapterFolders(at(address), updates)
            with RemoteSampler(at(address), codec, "tiny", publisher=publisher) as sampler:
                for k in range(4):
                    model = adapted(folder, k)
                    sampler.update(model, f"tiny+gspo{k}")
                    near = TorchSampler(model, codec, f"tiny+gspo{k}").sample(asked)
                    assert_same(sampler.sample(asked), near)
        names = [m.name for m in served_models(at(address))]
        assert [n.rpartition("-")[0] for n in names[1:]] == ["tiny+gspo2", "tiny+gspo3"]
        policy.unload_adapters(names[-1])
        with pytest.raises(MissingDependencyError, match="no longer answers"):
            RemoteSampler(at(address, model=names[-1]), codec, "old").sample(asked)


def test_weights_come_from_one_folder_only(folder: Path, tmp_path: Path) -> None:
    codec = load_language(folder).tokenizer
    closed = LocalPolicy(folder, "tiny")
    inside = LocalPolicy(folder, "tiny", updates=tmp_path / "here")
    for policy, said in ((closed, "takes no new weights"), (inside, "not inside")):
        with running(sampler_app(policy, ServeConfig())) as address:
            publisher = WeightFolders(at(address), tmp_path / "elsewhere")
            sampler = RemoteSampler(at(address), codec, "tiny", publisher=publisher)
            with sampler, pytest.raises(MissingDependencyError, match=said):
                sampler.update(load_model(folder), "tiny+gspo1")
    with pytest.raises(StorageError, match="another shape"):
        wide = policy_folder_of_another_shape(tmp_path / "here" / "wide")
        inside.reload(str(wide))


def policy_folder_of_another_shape(folder: Path) -> Path:
    from dynaweb.lm.model import save_model

    save_model(build_model(dataclasses.replace(policy_shape(), ffn=48), 300, 0), folder)
    return folder


def test_what_cannot_be_given_is_said(folder: Path, tmp_path: Path, url: str) -> None:
    codec = load_language(folder).tokenizer
    plain, beside = load_model(folder), adapted(folder, 1)
    with pytest.raises(UserError, match="cannot take new weights"):
        remote(url, folder).update(plain, "tiny+gspo1")
    for way, model, said in (
        (Way.ADAPTERS, plain, "has no adapters"),
        (Way.WEIGHTS, beside, "has adapters"),
    ):
        publisher = open_publisher(way, at(url), tmp_path)
        with (
            RemoteSampler(at(url), codec, "tiny", publisher=publisher) as sampler,
            pytest.raises(UserError, match=said),
        ):
            sampler.update(model, "tiny+gspo1")
    with pytest.raises(MissingDependencyError, match="need trl and vLLM"):
        open_publisher(Way.NCCL, at(url), tmp_path)


REFUSED = [
    ({"stream": True}, "stream"),
    ({"n": 2}, "n"),
    ({"top_p": 0.9}, "top_p"),
    ({"logprobs": 5}, "logprobs"),
    ({"stop": ["x"]}, "stop"),
    ({"prompt": [-1]}, "prompt.list[constrained-int].0"),
    ({"prompt": []}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"min_tokens": 3}, "min_tokens"),
    ({"prompt": [299_999]}, "prompt"),
]


@pytest.mark.parametrize(("body", "where"), REFUSED)
def test_what_is_not_built_is_refused_by_name(
    url: str, body: dict[str, object], where: str
) -> None:
    said = {"model": "tiny", "prompt": [5, 6], **body}
    answer = httpx2.post(f"{url}/v1/completions", json=said)
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error["param"].split(".")[0] == where.split(".")[0] and error["message"]


def test_words_are_a_prompt_too(url: str, folder: Path) -> None:
    codec = load_language(folder).tokenizer
    said = {
        "model": "tiny",
        "prompt": "click the button",
        "temperature": 0,
        "return_token_ids": True,
    }
    answer = httpx2.post(f"{url}/v1/completions", json=said).json()
    (choice,) = answer["choices"]
    assert choice["prompt_token_ids"] == codec.encode("click the button")
    assert choice["text"] == codec.decode(choice["token_ids"])
    assert answer["usage"]["completion_tokens"] == 16 and answer["object"] == "text_completion"
    assert httpx2.post(f"{url}/v1/completions", json=said | {"model": "x"}).status_code == 404


def test_trls_client_reads_it_as_vllm(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another speaker of the protocol than ours: TRL's own client, which GRPOTrainer generates with."""
    client_of = pytest.importorskip(
        "trl.generation.vllm_client", reason="pip install 'dynaweb[parity]'"
    )
    monkeypatch.setattr(client_of, "is_vllm_available", lambda: True)
    client = client_of.VLLMClient(base_url=url)
    assert client.model == "tiny"
    asked = requests(3)
    got = client.generate([list(r.prompt_ids) for r in asked], temperature=0.0, max_tokens=12)
    near = local(folder).sample(asked)
    assert got["prompt_ids"] == [list(r.prompt_ids) for r in asked]
    assert got["completion_ids"] == [list(g.completion_ids) for g in near]
    assert got["logprob_token_ids"] == [[[i] for i in g.completion_ids] for g in near]
    far = [x for reply in got["logprobs"] for (x,) in reply]
    assert far == pytest.approx([x for g in near for x in g.logprobs], abs=1e-4)


def test_the_command_serves_until_it_is_stopped(folder: Path) -> None:
    process = served("sampler", "--model", str(folder), "--name", "mine", "--threads", "1")
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        (model,) = served_models(EndpointConfig(url=address, model="mine"))
        assert (model.name, model.context) == ("mine", 128)
        stop(process, signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
