"""TRL's half of the comparison: run by the interpreter that has TRL, which need not have dynaweb.

    python -P trl_side.py FOLDER

reads `policy/` and `before/` (weights), `job.json` (ids and settings); answers each line on stdin with one
JSON line on stdout. `check`: the loss of `policy` against log-probabilities of `before`. `update`: pi_old,
then one optimiser step, and the processor seconds it took.

Its trainer is real; the methods that score and that make the loss are private ones of the version that the extra `parity` pins.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # noqa: TID251  # TRL is untyped, and so are its private methods


@dataclass(frozen=True, kw_only=True)
class LossSettings:
    """What TRL has to be told to compute GSPO's loss as `dynaweb.gspo` does."""

    low: float
    high: float
    kl: float = 0.0
    temperature: float = 1.0
    token_level: bool = False


def grpo_trainer(weights: Path, out: Path, vocabulary: int, settings: LossSettings) -> Any:
    """A `GRPOTrainer` on a CPU in fp32, with GSPO's ratio; made for its loss, not for its sampling."""
    from datasets import Dataset  # noqa: PLC0415 - an extra
    from tokenizers import Tokenizer  # noqa: PLC0415 - with TRL
    from tokenizers.models import WordLevel  # noqa: PLC0415 - with TRL
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - with TRL
    from trl import GRPOConfig, GRPOTrainer  # noqa: PLC0415 - an extra

    words = Tokenizer(WordLevel({f"w{i}": i for i in range(vocabulary)}, unk_token="w0"))
    spoken = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="w0", eos_token="w1", unk_token="w2"
    )
    args = GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        model_init_kwargs={"dtype": "float32"},
        report_to=[],
        gradient_checkpointing=False,
        disable_tqdm=True,
        loss_type="grpo",
        importance_sampling_level="token" if settings.token_level else "sequence",
        epsilon=settings.low,
        epsilon_high=settings.high,
        beta=settings.kl,
        use_bias_correction_kl=False,
        temperature=settings.temperature,
        num_generations=2,
        per_device_train_batch_size=2,
        max_completion_length=8,
    )
    return GRPOTrainer(
        model=str(weights),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=args,
        train_dataset=Dataset.from_list([{"prompt": "w3 w4"}] * 4),
        processing_class=spoken,
    )


class Side:
    """The trainer, its batch and its optimiser."""

    def __init__(self, folder: Path) -> None:
        import torch  # noqa: PLC0415 - so that the module is light

        job = json.loads((folder / "job.json").read_text("utf-8"))
        torch.set_num_threads(job["threads"])
        self._settings = LossSettings(low=job["low"], high=job["high"])
        self._folder, self._vocabulary = folder, job["vocabulary"]
        self._trainer = self._made("policy")
        self._optimizer = torch.optim.AdamW(
            self._trainer.model.parameters(), lr=job["learning_rate"], weight_decay=0.0
        )
        prompt, reply = torch.tensor(job["prompts"]), torch.tensor(job["replies"])
        self._batch = {
            "prompt_ids": prompt,
            "prompt_mask": torch.ones_like(prompt),
            "completion_ids": reply,
            "completion_mask": torch.ones_like(reply),
            "advantages": torch.tensor(job["advantages"]),
        }

    def check(self) -> dict[str, float]:
        """The loss against other weights' log-probabilities."""
        old = self._made("before")
        loss = self._trainer._compute_loss(self._trainer.model, self._with_old(old))
        return {"loss": float(loss.detach())}

    def update(self) -> dict[str, float]:
        """One update as `GRPOTrainer` makes it when a batch serves several steps, in processor seconds."""
        import torch  # noqa: PLC0415 - so that the module is light

        began = time.process_time()
        model = self._trainer.model
        loss = self._trainer._compute_loss(model, self._with_old(self._trainer))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return {"seconds": time.process_time() - began, "loss": float(loss.detach())}

    def _made(self, name: str) -> Any:
        trainer = grpo_trainer(
            self._folder / name, self._folder / "out", self._vocabulary, self._settings
        )
        trainer.model.eval()
        return trainer

    def _with_old(self, trainer: Any) -> dict[str, Any]:
        import torch  # noqa: PLC0415 - so that the module is light

        batch = self._batch
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        with torch.no_grad():
            logps, _, _ = trainer._get_per_token_logps_and_entropies(
                trainer.model, ids, torch.ones_like(ids), batch["completion_ids"].shape[1]
            )
        return batch | {"old_per_token_logps": logps}


def main() -> None:
    """Answer until stdin ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print must not stand between the answers
    side = Side(Path(sys.argv[1]))
    work = {"check": side.check, "update": side.update}
    for line in sys.stdin:
        answers.write(json.dumps(work[line.strip()]()) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
