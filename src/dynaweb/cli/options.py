"""Options that many commands have, said once."""

from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Browser = Annotated[str, typer.Option(help="Path of a Chromium; empty takes the first one found.")]
Threads = Annotated[int, typer.Option(min=0, help="Threads of torch; 0 leaves them as they are.")]
