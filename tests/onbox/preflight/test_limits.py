"""Memory, thread pools and processes against the limits that bind here."""

from __future__ import annotations

import pytest

from onbox.contract.readings import Absent, Unseen
from onbox.model.manifest import Stage
from onbox.preflight.limits import check_memory, check_pids, check_threads
from tests.onbox.preflight.facts import CPU, GB, MEMORY, facts


def test_the_limit_is_shown_beside_what_free_would_say() -> None:
    (result,) = check_memory(facts())
    assert (result.verdict.value, result.seen) == ("PASS", "limit 8.0 GB; `free` shows the machine's 512.0 GB")


def test_memory_in_use_before_the_start_is_warned_of() -> None:
    (result,) = check_memory(facts(memory=MEMORY._replace(held_bytes=7 * GB)))
    assert (result.verdict.value, bool(result.remedy)) == ("WARN", True)


def test_earlier_oom_kills_are_told() -> None:
    results = list(check_memory(facts(memory=MEMORY._replace(oom_kills_total=2))))
    assert [result.verdict.value for result in results] == ["PASS", "WARN"]
    assert "2 processes" in results[1].seen


def test_a_limit_that_could_not_be_read_is_not_called_none() -> None:
    (result,) = check_memory(facts(memory=MEMORY._replace(limit_bytes=Unseen("permission"))))
    assert (result.looked, result.seen) == (False, "could not look: permission")


HOST_64 = CPU._replace(host_cores=64, quota_cores=4.0, allowed_cores=64)


@pytest.mark.parametrize(
    ("expected", "cpu", "environ"),
    [
        ("PASS", CPU, {}),
        ("WARN", HOST_64, {}),
        ("PASS", HOST_64, {"OMP_NUM_THREADS": "4"}),
        ("WARN", HOST_64, {"OMP_NUM_THREADS": "64"}),
        ("WARN", HOST_64, {"OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "8"}),
        ("PASS", HOST_64._replace(quota_cores=Absent("no quota"), usable_cores=64.0), {}),
        ("PASS", HOST_64._replace(quota_cores=Absent("no quota"), allowed_cores=4), {}),
        ("WARN", HOST_64._replace(quota_cores=0.5, usable_cores=0.5), {}),
    ],
)
def test_thread_pools_are_compared_with_the_quota(expected: str, cpu: object, environ: dict[str, str]) -> None:
    (result,) = check_threads(facts(cpu=cpu, environ=environ))
    assert result.verdict.value == expected


def test_the_environment_of_each_stage_counts() -> None:
    stages = (Stage("a", "true", env=(("OMP_NUM_THREADS", "99"),)), Stage("b", "true", env=(("OMP_NUM_THREADS", "2"),)))
    found = [(result.verdict.value, result.seen.split(":")[0]) for result in check_threads(facts(stages=stages))]
    assert found == [("WARN", "stage a"), ("PASS", "stage b")]


def test_used_up_processes_are_warned_of() -> None:
    from onbox.collectors.cpu import PidsReading

    (result,) = check_pids(facts(pids=PidsReading(4000, 4096)))
    assert (result.verdict.value, result.seen) == ("WARN", "4000 of 4096 processes and threads are in use")
