"""Whether a log's lines are alike but for their digits: of such lines a few tell all, of others each costs a closer
look. Pure."""

from __future__ import annotations

PROBE_BYTES = 1 << 13
FORMS_MAX = 60  # of lines in so many bytes; with more, each costs a look, and less is read


def hardly_alike(data: bytes) -> bool:
    """Whether hardly two lines of the first `PROBE_BYTES` are alike but for their digits."""
    lines = data[:PROBE_BYTES].split(b"\n")
    return len({line.translate(None, b"0123456789") for line in lines}) > FORMS_MAX
