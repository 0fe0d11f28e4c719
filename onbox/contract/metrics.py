"""The text format of Prometheus, which node_exporter and every scraper reads. Pure.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def metric_head(name: str, help_text: str, kind: str) -> str:
    """The two lines before a metric's samples. kind: "gauge" or "counter"."""
    return f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"


def metric_line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    """One sample, as a line."""
    inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{inner}}} {value!r}\n" if inner else f"{name} {value!r}\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
