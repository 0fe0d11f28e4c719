"""Adapter for a side-by-side bench of chain runners: `onbox chain` in the foreground and detached.

Named to that bench by `ONBOX_BENCH=scripts/bench/peer_adapter.py`; `BENCH_L1_ONBOX` names another `onbox`.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from bench_adapter import Adapter, first_line, tool  # type: ignore[import-not-found]


class Onbox(Adapter):  # type: ignore[misc]
    """The foreground form: the viewer ends with the chain."""

    name, kind = "onbox", "ours"

    def available(self, tools: Any) -> tuple[bool, str]:
        self.exe = tool("BENCH_L1_ONBOX", "onbox")
        return (True, first_line(self.exe, "--version")) if self.exe else (False, "onbox is not on PATH")

    def prepare(self, work: Any) -> None:
        lines = ['[run]\nname = "bench"\n']
        for index in range(1, work.n + 1):
            cmd = ", ".join(json.dumps(word) for word in work.stage_argv(index))
            lines.append(f"[stages.s{index}]\ncmd = [{cmd}]\n")
        (work.dir / "onbox.toml").write_text("".join(lines), encoding="utf-8")

    def start(self, work: Any) -> list[str]:
        return [*shlex.split(self.exe), "chain"]

    def done_count(self, work: Any) -> int:
        markers = work.dir / ".onbox" / "bench" / "markers"
        return sum(1 for index in range(1, work.n + 1) if (markers / f"s{index}_DONE").exists())


class OnboxDetached(Onbox):
    """The detached form, as people use it: start, then attach to wait."""

    name, detached = "onbox-detached", True

    def start(self, work: Any) -> list[str]:
        return [*shlex.split(self.exe), "chain", "--detach", "--launch-check", "0"]

    def wait(self, work: Any) -> list[str]:
        return [*shlex.split(self.exe), "chain"]


def adapters() -> list[Any]:
    return [Onbox(), OnboxDetached()]
