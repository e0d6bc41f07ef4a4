"""Training configurations for LlamaFactory with WebWorld's published numbers; each line says where its number is from.

`T9` is WebWorld's appendix table 9. LlamaFactory is reached by files alone: it does not install beside this package.
"""

from dataclasses import dataclass

STAGE1, STAGE2, DEEPSPEED = "webworld-stage1.yaml", "webworld-stage2.yaml", "ds_z2.json"
CUTOFF = 20_000
"""Tokens (T9)."""

ZERO2: dict[str, object] = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 2, "overlap_comm": True, "contiguous_gradients": True},
}
"""DeepSpeed ZeRO stage 2 (T9; the 32B model used stage 3). The trainer fills `auto` in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What differs between the two stages."""

    datasets: tuple[str, ...]
    """Names in `dataset_info.json`."""
    model: str
    output: str
    learning_rate: str
    epochs: str
    gpus: int
    batch: int
    """Rows in all in a step."""
    last_turn: bool
    """Loss on the last turn only."""


def stage_one(datasets: tuple[str, ...]) -> Stage:
    """Dynamics."""
    return Stage(
        datasets=datasets, model="Qwen/Qwen3-8B", output="saves/webworld-stage1", learning_rate="2.0e-5", epochs="1.0",
        gpus=16, batch=64, last_turn=False,
    )  # fmt: skip


def stage_two(datasets: tuple[str, ...]) -> Stage:
    """Chain of thought."""
    return Stage(
        datasets=datasets, model="saves/webworld-stage1", output="saves/webworld-stage2", learning_rate="8.0e-6", epochs="5.0",
        gpus=8, batch=32, last_turn=True,
    )  # fmt: skip


def llamafactory_yaml(stage: Stage, longer: int | None) -> str:
    """A configuration for `llamafactory-cli train`.

    Args:
        stage: which.
        longer: rows that are longer than the cutoff by the tokenizer that made the data; None when only an estimate is known.
    """
    each = 2
    accumulated = stage.batch // (each * stage.gpus)
    cut = (
        f"{longer} rows of this data set are longer by the tokenizer that it was made with"
        if longer is not None
        else "lengths here are estimates: make the data with --tokenizer to know"
    )
    return f"""# WebWorld (arXiv 2602.14721), {"stage 2: chain of thought" if stage.last_turn else "stage 1: dynamics"}.
# Run in this folder: FORCE_TORCHRUN=1 NNODES=2 llamafactory-cli train THIS_FILE   ({stage.gpus} GPUs in all; NNODES as you have them)
# T9 = the paper's appendix table 9. Where a line says "ours", the paper says nothing.

### model
model_name_or_path: {stage.model}  # {"Qwen3 8B, 14B, 32B (section 1); 14B and 32B by their own names" if not stage.last_turn else "the model that stage 1 wrote"}
trust_remote_code: false  # ours

### method
stage: sft
do_train: true
finetuning_type: full  # T9
deepspeed: {DEEPSPEED}  # T9: ZeRO-2; ZeRO-3 for 32B
enable_liger_kernel: true  # T9
use_unsloth_gc: true  # T9: Unsloth gradient checkpointing

### data
dataset_dir: .
dataset: {",".join(stage.datasets)}
template: qwen3_nothink  # unverified: the paper does not name its template
cutoff_len: {CUTOFF}  # T9. LlamaFactory cuts longer rows in silence: {cut}
packing: true  # T9
{"mask_history: true  # T9: loss on the last turn only" if stage.last_turn else "mask_history: false  # every turn is learnt (W1: multi-turn)"}
train_on_prompt: false  # ours: loss on answers
preprocessing_num_workers: 16  # ours

### train
per_device_train_batch_size: {each}  # {"T9" if not stage.last_turn else "unverified: T9 gives the product"}
gradient_accumulation_steps: {accumulated}  # {each} x {accumulated} x {stage.gpus} GPUs = {each * accumulated * stage.gpus} (T9: {stage.batch})
learning_rate: {stage.learning_rate}  # T9
num_train_epochs: {stage.epochs}  # T9
lr_scheduler_type: cosine  # T9
warmup_ratio: 0.1  # T9
bf16: true  # T9

### output
output_dir: {stage.output}
logging_steps: 10  # ours
save_steps: 500  # ours
save_only_model: false  # ours: training can be taken up
plot_loss: false
report_to: none
"""
