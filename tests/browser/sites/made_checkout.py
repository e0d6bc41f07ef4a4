"""A checkout of one app, made by the test: a server, pages and verifiers in the layout of webarena-infinity."""

import json
from pathlib import Path

# The protocol: the page pushes its whole state, the first push is the seed, a reset gives it back.
SERVER = """
import http.server, json, sys
seed = state = None

class Handler(http.server.SimpleHTTPRequestHandler):
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        global seed, state
        state = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seed = seed or state
        self.answer(200, {})

    def do_POST(self):
        global state
        state = seed
        self.answer(200, {"status": "ok"})

    def do_GET(self):
        if self.path == "/api/state":
            self.answer(200 if state else 404, state)
        else:
            super().do_GET()

port = int(sys.argv[sys.argv.index("--port") + 1])
print("serving", flush=True)
http.server.ThreadingHTTPServer(("", port), Handler).serve_forever()
"""

PAGE = """<!DOCTYPE html><title>Lists</title><h1>Lists</h1>
<button id="star">Star</button><p id="said">plain</p><a href="https://elsewhere.example/">Elsewhere</a>
<script>
const state = {starred: false};
const push = () => fetch('/api/state', {method: 'PUT', body: JSON.stringify(state)});
document.getElementById('star').onclick = () => {
  state.starred = true; document.getElementById('said').textContent = 'starred'; push();
};
push();
</script>"""

STARRED = '''
"""Task: star the list."""
import json
from urllib.request import urlopen


def verify(server_url: str) -> tuple[bool, str]:
    print("the verifier may print")
    state = json.load(urlopen(server_url + "/api/state"))
    return state["starred"], f"starred is {state['starred']}"
'''
CRASHES = "def verify(server_url):\n    raise KeyError('no such field')\n"


def make_checkout(root: Path) -> Path:
    app = root / "apps" / "lists"
    (app / "real-tasks").mkdir(parents=True)
    (app / "function-tasks").mkdir()
    (app / "server.py").write_text(SERVER)
    (app / "index.html").write_text(PAGE)
    (app / "real-tasks/task_e1.py").write_text(STARRED)
    (app / "function-tasks/task_1.py").write_text(CRASHES)
    real = [{"id": "task_e1", "difficulty": "easy", "instruction": "Star the  list.", "verify": "real-tasks/task_e1.py"}]  # fmt: skip
    function = [{"id": "task_1", "instruction": "Break.", "verify": "function-tasks/task_1.py"}]
    (app / "real-tasks.json").write_text(json.dumps(real))
    (app / "function-tasks.json").write_text(json.dumps(function))
    return root
