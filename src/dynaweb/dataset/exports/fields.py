"""A record as plain JSON fields, for formats that spread them over their own."""

from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory


def encoded(record: Trajectory | Observation | Step) -> dict[str, object]:
    """The fields as `records.codec` stores them: those that hold their default left out."""
    made = codec_for(type(record)).encode(record)
    assert isinstance(made, dict)
    return made
