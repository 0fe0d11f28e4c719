"""What is shipped in examples/ for other programs speaks of metrics that there are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from onbox.commands.show.stats_prometheus import DISK_METRICS, GPU_METRICS, METRICS
from patrol.report.textfile import HELP
from tests.box import REPOSITORY

FOLDER = REPOSITORY / "examples/prometheus"
OURS = {*HELP, *(f"onbox_{metric.name}" for metric in (*METRICS, *DISK_METRICS, *GPU_METRICS))}
KINDS = {**dict.fromkeys(HELP, "gauge"), **{f"onbox_{one.name}": one.kind for one in (*METRICS, *DISK_METRICS)}}
# https://prometheus.io/docs/practices/naming/
NOT_BASE = re.compile(r"(percent|mhz|_ms|millis|minutes|hours|_mb|_gb|kilo|mega|_kib)(_|$)")


def dashboard() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    return data


@pytest.mark.parametrize("name", ["alerts.yml", "grafana-dashboard.json"])
def test_every_metric_that_is_named_is_one_of_ours(name: str) -> None:
    named = set(re.findall(r"\b(?:patrol|onbox)_[a-z_]+\b", (FOLDER / name).read_text()))
    assert named
    assert named - OURS == set()


def test_every_metric_has_a_base_unit_and_counters_end_in_total() -> None:
    assert [name for name in OURS if NOT_BASE.search(name)] == []
    assert [name for name, kind in KINDS.items() if (kind == "counter") != name.endswith("_total")] == []


def test_the_dashboard_has_a_place_and_a_question_for_every_panel() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for one in (panel["gridPos"] for panel in panels)
        for x in range(one["x"], one["x"] + one["w"])
        for y in range(one["y"], one["y"] + one["h"])
    ]
    assert len(set(cells)) == len(cells), "two panels overlap"
    assert max(x for x, _ in cells) < 24
    assert all(target["expr"] for panel in panels for target in panel["targets"])
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in panels)
