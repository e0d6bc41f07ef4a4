"""How a script tells its parent how far it is: one line of JSON on standard output."""

import json

STAGES = 5
"""Parts of seeding, the same number for every site."""


def tell(done: int, total: int, note: str) -> None:
    """`done` of `total` parts are made; `note` names what comes."""
    print(json.dumps({"done": done, "total": total, "note": note}), flush=True)
