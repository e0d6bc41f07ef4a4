"""`dynaweb world`: the world model, from its data to its measure. Each command lives in a module of its own."""

import typer

from dynaweb.cli import world_data, world_eval, world_rlvr, world_study, world_train

world_app = typer.Typer(
    help="Make, train and measure world models: what the web would answer.", no_args_is_help=True
)


@world_app.callback()
def _world() -> None:
    # one command alone would become the app itself
    pass


world_app.command("data")(world_data.data_command)
world_app.command("eval")(world_eval.eval_command)
world_app.command("train")(world_train.train_command)
world_app.command("rlvr")(world_rlvr.rlvr_command)
world_app.command("study")(world_study.study_command)
