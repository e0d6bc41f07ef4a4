"""What askers send, checked: the first thing that is wrong is named, with where it stands."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from dynaweb.serve.problems import ProblemError

B = TypeVar("B", bound=BaseModel)


def read_body(kind: type[B], raw: object) -> B:
    """A request of a kind that forbids unknown fields.

    Raises:
        ProblemError: it is none, or asks for what is not built here.
    """
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        said = first["msg"]
        if first["type"] == "extra_forbidden":
            said = "not supported here"
        elif first["type"] == "literal_error":
            said = f"{str(first['input'])[:40]!r} is not supported here: {said.lower()}"
        message = f"{where or 'the request'}: {said}"
        raise ProblemError(400, message, param=where or None) from error
