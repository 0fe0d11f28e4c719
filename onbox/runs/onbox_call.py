"""How onbox is called on a box: decided once for each run, printed by all. Pure."""

from __future__ import annotations


def onbox_call(python: str, *, on_path: bool) -> tuple[str, ...]:
    """The words before a subcommand, for a login there.

    python: the interpreter that started the run, an absolute path as its records name it and as it may be shown; "" for
    none. on_path: whether such a login finds `onbox`.
    """
    return (python, "-m", "onbox") if python and not on_path else ("onbox",)
