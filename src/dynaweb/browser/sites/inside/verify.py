"""Ask a verifier of the user's, `verify(server_url) -> (bool, str)`, and tell its answer as one JSON line.

Called as a file, with the verifier's path and the server's address. Uses the standard library alone.
"""

import importlib.util
import json
import os
import sys


def main() -> None:
    """Load, ask, tell. What the verifier prints goes to standard error."""
    path, address = sys.argv[1:]
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    spec = importlib.util.spec_from_file_location("verifier", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    passed, why = module.verify(address)
    told.write(json.dumps({"passed": bool(passed), "why": str(why)}) + "\n")
    told.flush()


if __name__ == "__main__":
    main()
