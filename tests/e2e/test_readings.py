"""What the chain and `onbox stats` tell of the box: samples, peaks, gates with numbers, one honest picture."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from onbox.system.clock import parse_utc
from tests.box import Box, python, wait_until

if TYPE_CHECKING:
    from pathlib import Path

WAITING = "cmd = 'until test -e go; do sleep 0.05; done'\n"
OFTEN = "[run]\nsample_every = '200ms'\n"


def configure(box: Box, text: str) -> None:
    (box.project / "onbox.toml").write_text(text)


def samples(box: Box) -> list[dict[str, Any]]:
    path = box.state / "samples.jsonl"
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_a_chain_of_short_stages_is_not_sampled_once_for_each(box: Box) -> None:
    assert box.onbox("chain", *(f"s{number}=sleep 0.3" for number in range(6))).returncode == 0
    times = [parse_utc(sample["at"]) or 0.0 for sample in samples(box)]
    assert times, "the first stage was sampled soon after it began"
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert all(gap > 0.9 for gap in gaps), "a look at all of the box, less than a second after the one before"


def test_memory_that_came_and_went_between_two_samples_is_in_the_peak(box: Box) -> None:
    hold = python("b = bytearray(200 << 20)")
    assert box.onbox("chain", f"train=sleep 1; {hold}").returncode == 0
    resources = box.marker("train_DONE")["resources"]
    assert resources["peak_tree_rss_bytes"] >= 200 << 20, resources


def test_peaks_of_a_stage_are_in_its_marker(box: Box) -> None:
    hold = python("import os, time; b = bytearray(200 << 20)\nwhile not os.path.exists('go'): time.sleep(0.05)")
    (box.project / "train.sh").write_text(f"exec {hold}\n")
    configure(box, OFTEN + "[stages.train]\ncmd = 'sh train.sh'\n")
    chain = box.start("chain")
    held = 200 << 20
    wait_until(
        lambda: len(samples(box)) >= 3 and any((one.get("tree_rss_bytes") or 0) >= held for one in samples(box)),
        "samples, one of what it holds",
    )
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    resources = box.marker("train_DONE")["resources"]
    assert resources["samples"] >= 3
    assert 200 << 20 <= resources["max_rss_bytes"] < 400 << 20
    assert 200 << 20 <= resources["peak_tree_rss_bytes"] < 500 << 20
    assert 0 < resources["cpu_seconds"] < 30
    assert all(low["min_bytes_free"] >= 0 for low in resources["disks"].values())


def test_samples_go_on_after_the_file_was_truncated(box: Box) -> None:
    configure(box, OFTEN + f"[stages.train]\n{WAITING}")
    chain = box.start("chain")
    wait_until(lambda: len(samples(box)) >= 2, "two samples")
    os.truncate(box.state / "samples.jsonl", 7)
    wait_until(lambda: len(samples(box)) >= 2, "two samples after the cut")
    (box.state / "samples.jsonl").unlink()
    wait_until(lambda: len(samples(box)) >= 2, "two samples in a new file")
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert box.marker("train_DONE")["resources"]["samples"] >= 6


def test_peaks_survive_the_death_of_the_runner(box: Box) -> None:
    configure(box, OFTEN + f"[stages.train]\n{WAITING}")
    box.onbox("chain", "-d", "--launch-check", "0")
    wait_until(lambda: len(samples(box)) >= 3, "three samples")
    box.kill_runner()
    seen = len(samples(box))
    chain = box.start("chain")
    wait_until(lambda: len(samples(box)) > seen + 1, "samples by the next runner")
    (box.project / "go").touch()
    assert chain.wait(60) == 0
    assert box.marker("train_DONE")["resources"]["samples"] >= seen + 1


def test_status_shows_the_box_while_a_stage_runs(box: Box) -> None:
    configure(box, OFTEN + f"[stages.train]\n{WAITING}")
    chain = box.start("chain")
    wait_until(lambda: len(samples(box)) >= 1 and box.status()["resources"], "resources in the status")
    assert box.status()["resources"]["memory_working_set_bytes"] > 0
    assert re.search(r"box +memory .* inodes", box.onbox("status").stdout)
    (box.project / "go").touch()
    assert chain.wait(60) == 0


# -- gates


def test_too_little_memory_starts_nothing_and_says_why(box: Box) -> None:
    configure(box, "[gates]\nmemory_free = '900TB'\n[stages.train]\ncmd = 'touch started'\n")
    result = box.onbox("chain")
    assert result.returncode == 3
    assert not (box.project / "started").exists()
    (finding,) = box.marker("CHAIN_FAILED")["findings"]
    assert (finding["gate"], finding["wanted"]) == ("memory_free", "900.0 TB")
    assert "free of" in finding["seen"]
    assert box.events("gate_refused")[0]["findings"] == [finding]


def test_a_checkpoint_budget_that_cannot_fit_is_refused(box: Box) -> None:
    gate = "checkpoints = { path = 'ckpt', size = '100TB', keep = 3, scratch = '1TB' }"
    configure(box, f"[gates]\n{gate}\n[stages.train]\ncmd = 'touch started'\n")
    assert box.onbox("chain").returncode == 3
    (finding,) = box.marker("CHAIN_FAILED")["findings"]
    assert finding["wanted"] == "301.0 TB (3 x 100.0 TB + 1.0 TB scratch)"
    assert not (box.project / "started").exists()


def test_a_gpu_gate_refuses_on_a_box_without_one(box: Box) -> None:
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a GPU")
    configure(box, "[gates]\ngpu = { count = 1 }\n[stages.train]\ncmd = 'touch started'\n")
    assert box.onbox("chain").returncode == 3
    assert box.marker("CHAIN_FAILED")["findings"][0]["gate"] == "gpu"


@pytest.mark.root
def test_gates_are_asked_again_between_retries(box: Box, tmp_path: Path) -> None:
    """The first attempt uses up the inodes: the second one is not started."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=50", "onbox-test", str(small)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mounts")
    try:
        (small / "work").mkdir()
        configure(
            box,
            f"[stages.train]\ncwd = '{small}/work'\ngates = {{ inodes_free = 20 }}\n"
            "cmd = 'for i in $(seq 40); do : >f$i; done; exit 75'\n"
            "retry = { max = 3, classes = ['network_blip'], backoff = '0s' }\n",
        )
        assert box.onbox("chain").returncode == 3
        assert len(box.events("attempt_started")) == 1
        (finding,) = box.marker("CHAIN_FAILED")["findings"]
        assert (finding["gate"], finding["wanted"]) == ("inodes_free", "20")
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


# -- stats


def test_stats_shows_the_stage_and_not_the_session(box: Box) -> None:
    configure(box, OFTEN + f"[stages.train]\n{WAITING}")
    chain = box.start("chain")
    box.wait_for_event("attempt_started")
    wait_until(lambda: box.status()["stage_alive"], "a live stage")
    data = json.loads(box.onbox("stats", "--json").stdout)
    assert (data["run"], data["stage"]) == ("digits", "train")
    assert data["tree"].get("processes", 0) >= 2, data["tree"]
    assert data["pid"] in [member["pid"] for member in data["tree"]["biggest"]]
    assert {took["collector"] for took in data["took"]} >= {"memory", "cpu", "disks", "tree"}
    text = box.onbox("stats").stdout
    for name in ("memory", "oom", "cpu", "pressure", "disk", "gpu", "tree", "(the whole machine)"):
        assert name in text
    (box.project / "go").touch()
    assert chain.wait(60) == 0


def test_stats_needs_neither_run_nor_configuration(box: Box) -> None:
    result = box.onbox("stats")
    assert (result.returncode, result.stderr) == (0, "")
    assert "this session" in result.stdout


def test_stats_of_a_run_that_is_not_there_is_an_error(box: Box) -> None:
    result = box.onbox("stats", "other")
    assert result.returncode == 64
    assert len(result.stderr.splitlines()) == 1


METRIC = re.compile(r'onbox_[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? -?[0-9.e+]+')


def test_prometheus_metrics_are_well_formed_and_only_seen_ones(box: Box) -> None:
    text = box.onbox("stats", "--prometheus").stdout
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not METRIC.fullmatch(line)] == []
    assert any(line.startswith('onbox_disk_inodes_free{mount="/') for line in lines)
    types = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(types) == len(set(types))


def test_stats_watch_ends_with_ctrl_c_and_no_traceback(box: Box) -> None:
    watching = box.start("stats", "--watch", "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["schema"] == 1
    watching.send_signal(2)
    rest, _ = watching.communicate(timeout=60)
    assert "Traceback" not in rest


def test_an_edited_sample_costs_only_itself(box: Box) -> None:
    assert box.onbox("chain", "a=true").returncode == 0
    for odd in (
        '"disks":{"/":null}',
        '"disks":{"/":["x",1,1,1]}',
        '"disks":7',
        '"cpu_seconds_total":"x"',
        '"cpu_seconds_total":NaN',
        '"oom_kills_total":null',
        '"gpus":[1]',
    ):
        (box.state / "samples.jsonl").write_text(f'{{"schema":1,"at":"2026-01-01T00:00:00.000Z",{odd}}}\n')
        assert box.onbox("stats").returncode == 0, odd
