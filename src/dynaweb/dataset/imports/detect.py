"""Which tool wrote a file: told by how it begins and by its first row's keys, never by its name alone."""

import re
from itertools import islice
from pathlib import Path

from dynaweb.dataset.imports.browsergym import refuse_folder
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.listed import is_list, list_values
from dynaweb.dataset.imports.rows import read_document, read_rows
from dynaweb.dataset.imports.source import first_bytes, is_parquet
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.imports.webarena_html import MARK
from dynaweb.errors import UserError

_KEYS: tuple[tuple[frozenset[str], Format], ...] = (
    (frozenset({"schema_version", "record"}), Format.DYNAWEB),
    (frozenset({"schema_version", "agent", "steps"}), Format.ATIF_LINES),
    (frozenset({"task_id", "intent_template_id", "steps"}), Format.WEBARENA_TRACES),
    (frozenset({"step_data", "traj_data"}), Format.GOBROWSE),
    (frozenset({"task_name", "messages"}), Format.NNETNAV),
    (frozenset({"task_name", "prompt", "output"}), Format.NNETNAV),
    (frozenset({"task_name", "steps"}), Format.BROWSERGYM),
    (frozenset({"obs", "action", "next_obs"}), Format.TRANSITION_LINES),
    (frozenset({"obs", "action", "reward"}), Format.BROWSERGYM),
    (frozenset({"annotation_id", "confirmed_task", "actions"}), Format.MIND2WEB),
    (frozenset({"annotation_id", "confirmed_task", "action_uid"}), Format.MIND2WEB_ACTIONS),
    (frozenset({"role", "content"}), Format.WEBVOYAGER),
)
"""Keys of a row that only one tool writes together."""

_WHOLE = {Format.ATIF_LINES: Format.ATIF, Format.TRANSITION_LINES: Format.TRANSITIONS}
"""Format of lines -> format of one such object in a file of its own, set out over several lines."""

_SUMMARY = frozenset({"n_steps", "cum_reward"})
"""BrowserGym's summary_info.json, which holds no steps."""
_LOOKED_AT = 1 << 16
_PICKLE = re.compile(rb"\x80[\x02-\x05]")


def detect(path: Path) -> Format:
    """The format of a file.

    Raises:
        UserError: no such file, no tool we know wrote it, or it is a pickle. StorageError: it cannot be read.
    """
    if path.is_dir():
        refuse_folder(path)
    if is_parquet(path):
        return Format.PARQUET
    head = first_bytes(path, _LOOKED_AT)
    if _PICKLE.match(head):
        refuse_folder(path)
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if MARK.encode() in head and begin.startswith(b"<"):
        return Format.WEBARENA_HTML
    if is_list(path) or begin.startswith(b"{\n") or begin.startswith(b"{\r\n"):
        return _of_document(path)
    tally = Tally()
    for row in islice(read_rows(path, tally, skip_damaged=True), 1):
        return _known(path, frozenset(row.fields))
    raise UserError(f"{str(path)!r} holds nothing to import: {_why(tally)}")


def _of_document(path: Path) -> Format:
    listed = is_list(path)
    first = next(list_values(path, Tally()), (None, False))[0] if listed else read_document(path)
    if not isinstance(first, dict):
        raise UserError(f"{str(path)!r} holds nothing to import: its first entry is no JSON object")
    found = _known(path, frozenset(first))
    return _WHOLE.get(found, found) if not listed else found


def _known(path: Path, keys: frozenset[str]) -> Format:
    for wanted, found in _KEYS:
        if wanted <= keys:
            return found
    if keys >= _SUMMARY:
        refuse_folder(path)
    raise UserError(
        f"{str(path)!r} has rows with {', '.join(sorted(keys)[:8])}: no format we know; if it is one ({', '.join(Format)}), `dynaweb import FILE --out FILE --format NAME` makes it ours"
    )


def _why(tally: Tally) -> str:
    return next((f"{reason} ({tally.first[reason]})" for reason in tally.dropped), "it is empty")
