"""What goes wrong at a server, in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`."""

import json
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse


class AsciiJson(JSONResponse):
    """JSON that carries any text of a page, lone surrogates too."""

    def render(self, content: object) -> bytes:
        """The body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class ProblemError(Exception):
    """Ends a request with an error that the asker can read."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
        self.param, self.code, self.headers = param, code, headers


def told(problem: ProblemError) -> JSONResponse:
    """The problem as an answer."""
    error = {
        "message": problem.message,
        "type": problem.kind,
        "param": problem.param,
        "code": problem.code,
    }
    return AsciiJson({"error": error}, problem.status, headers=dict(problem.headers or {}))


def busy(message: str) -> ProblemError:
    """Too much at once; a later try may go better."""
    return ProblemError(
        503, message, kind="server_error", code="server_busy", headers={"retry-after": "1"}
    )


async def on_problem(request: Request, error: Exception) -> JSONResponse:
    """Handler of `ProblemError`."""
    assert isinstance(error, ProblemError)
    return told(error)


async def on_http(request: Request, error: Exception) -> JSONResponse:
    """Handler of what the router refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path}: {error.detail}"
    return told(ProblemError(error.status_code, message, headers=error.headers))


async def on_bug(request: Request, error: Exception) -> JSONResponse:
    """Handler of everything else; what happened is in the server's log, not in the answer."""
    return told(ProblemError(500, "the server failed; its log says why", kind="server_error"))
