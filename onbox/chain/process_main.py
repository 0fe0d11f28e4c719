"""The runner's former place: keepers that an older version started continue a run by this name."""

from __future__ import annotations

from onbox.chain.runner.runner_process import serve, stay_out, take_over

__all__ = ["serve", "stay_out", "take_over"]
