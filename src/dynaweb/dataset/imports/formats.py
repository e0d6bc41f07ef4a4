"""The tools whose files we read. Light to import: the command line lists them."""

from enum import StrEnum


class Format(StrEnum):
    """Whose file it is."""

    DYNAWEB = "dynaweb"
    WEBARENA_TRACES = "webarena-traces"
