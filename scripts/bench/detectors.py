"""Whether the detectors find what goes wrong in real trainings, how soon, and whether they are silent on healthy ones.

    python scripts/bench/detectors.py [--at-once 3] [NAME ...]

Each row is one run by `onbox chain` of scripts/bench/training.py, sampled each half second instead of each half minute.
`after` counts readings from the fault to the moment it is told: of the loss, or (checkpoints) the run's own intervals.
Needs numpy and scikit-learn. Then: what series and detectors cost the runner.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from onbox.series.file import read_points
from onbox.system.clock import parse_utc
from onbox.system.process import look_up

TRAINING = Path(__file__).with_name("training.py")
CADENCE_SECONDS = 0.5
WITHIN = 10
DEFAULT_CADENCE_SECONDS, COST_SECONDS = 30.0, 40.0
PRINTS = """\
import time, zipfile
for step in range(1, 100000):
    print(f'step {step}/100000 | loss {2 / step ** 0.3:.4f} | lr 1e-3 | grad_norm 0.5', flush=True)
    time.sleep(0.01)
    if step % 100 == 0:
        zipfile.ZipFile(f'ckpt/step_{step}.npz', 'w').writestr('a', 'b')
"""
CONFIG = """\
[run]
name = "bench"
sample_every = "{cadence}s"
grace = "1s"
[stages.train]
cmd = {cmd}
artifacts = [{{ glob = "ckpt/step_*.npz" }}]
stall_after = "4s"
retry = {{ max = 1, backoff = "10ms", classes = ["network_blip"] }}
{env}
[detect]
rollback_depth = 3
buffered_after = "3s"
"""


class Case(NamedTuple):
    """words: of the training. wanted: detectors of which one must find it; () for a healthy run. unit: how soon is
    counted: in readings, or in the run's own checkpoint intervals.
    """

    name: str
    words: str
    wanted: tuple[str, ...] = ()
    unit: str = "readings"
    env: str = ""


DIVERGES = ("loss-risen", "loss-not-finite", "grad-norm-risen")
LATE = ("checkpoints-late",)
FAULTS = (
    Case("sleep in the loader, 1.5 x", "--model mlp --fault slow --at 400", ("slow",)),
    Case("sleep in the loader, 1.4 x", "--model softmax --form iter --fault slow --slower 1.43 --at 400", ("slow",)),
    Case("rate x 100, mlp", "--model mlp --fault rate --at 500 --steps 900", DIVERGES),
    Case("rate x 100, autoencoder", "--model autoencoder --form iter --fault rate --at 500 --steps 900", DIVERGES),
    Case("other labels, scikit-learn", "--model sklearn-mlp --form bare --fault labels --at 600 --steps 900", DIVERGES),
    Case("nan in the data", "--model deep --form dict --fault nan-data --at 400", ("loss-not-finite",)),
    Case("data overflow", "--model regression --fault inf-data --at 400", ("loss-not-finite",)),
    Case("a shard with other labels", "--model deep --fault labels --at 500 --steps 900", DIVERGES),
    Case("wild inputs", "--model autoencoder --fault wild-data --at 500 --steps 800", DIVERGES),
    Case("checkpoint writer killed", "--model mlp --fault writer --at 400 --steps 900", LATE, "intervals"),
    Case("checkpoints cut off", "--model sgd --form bare --fault cut --at 400 --steps 900", LATE, "intervals"),
    Case("a clean-up that deletes too much", "--model mlp --fault cleanup --at 400", ("checkpoints-few",), "intervals"),
    Case("resumed with another seed", "--model mlp --die-at 430 --fault seed --at 401", ("resume-mismatch",)),
    Case("resumed without its weights", "--model deep --die-at 430 --fault weights --at 401", ("resume-mismatch",)),
    Case("accuracy that is always 0", "--model softmax --fault metric --at 300", ("all-zero",)),
    Case("no gradient arrives", "--model mlp --fault no-gradient --at 300 --form iter", ("all-zero",)),
    Case("output through a full buffer", "--model mlp --print-every 5 --fault buffer --at 1 --steps 900",
         ("output-buffered",), env='env = { PYTHONUNBUFFERED = "" }'),
)  # fmt: skip
HEALTHY = (
    Case("softmax", "--model softmax"),
    Case("mlp", "--model mlp --form dict"),
    Case("deep, few lines", "--model deep --print-every 30 --steps 800"),
    Case("regression, noisy", "--model regression --form iter"),
    Case("autoencoder", "--model autoencoder --seed 11"),
    Case("scikit-learn's SGD", "--model sgd --form bare --seed 5"),
    Case("scikit-learn's MLP", "--model sklearn-mlp --form bare --seed 3"),
    Case("warm-up", "--model deep --schedule warm-up"),
    Case("rate drops", "--model mlp --schedule drops --steps 800"),
    Case("evaluation pauses of several readings", "--model mlp --evaluate-every 120 --evaluate-seconds 2.5"),
    Case("evaluation pauses of half a reading", "--model softmax --evaluate-every 40 --evaluate-seconds 0.25"),
    Case("restart with all its state", "--model mlp --die-at 430"),
    Case("restart, another model", "--model autoencoder --form dict --die-at 380 --steps 800"),
    Case("long enough to converge", "--model deep --steps 1200 --seed 2"),
)


class Outcome(NamedTuple):
    """found: what was told, by detector, in seconds since the fault (since the start of a healthy run)."""

    case: Case
    exit_code: int
    found: dict[str, float]
    readings: dict[str, float]
    proof: str


def run_case(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        project = Path(folder)
        cmd = json.dumps([sys.executable, str(TRAINING), *case.words.split()])
        text = CONFIG.format(cadence=CADENCE_SECONDS, cmd=cmd, env=case.env)
        (project / "onbox.toml").write_text(text)
        words = [sys.executable, "-m", "onbox", "chain"]
        ended = subprocess.run(words, cwd=project, env=_environ(), capture_output=True, check=False, timeout=300)
        state = project / ".onbox" / "bench"
        events = [json.loads(line) for line in (state / "events.jsonl").read_text().splitlines()]
        told = [event for event in events if event["event"] == "detected"]
        began = _fault_at(project, events)
        points = [one for one in read_points(str(state / "series.jsonl")) if one.at > began]
        found = {event["detector"]: (parse_utc(event["at"]) or 0.0) - began for event in reversed(told)}
        readings: dict[str, float] = {}
        for name, seconds in found.items():
            if case.unit == "intervals":
                readings[name] = seconds / _interval(case)
            else:
                readings[name] = sum(one.loss is not None for one in points if one.at <= began + seconds + 0.2)
        wanted = next((event["reason"] for event in told if event["detector"] in case.wanted), "")
        return Outcome(case, ended.returncode, found, readings, wanted or "; ".join(event["reason"] for event in told))


def _environ() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _fault_at(project: Path, events: list[dict[str, str]]) -> float:
    """When the fault began: as the training says; for a resume, when the second attempt did."""
    starts = [parse_utc(event["at"]) or 0.0 for event in events if event["event"] == "attempt_started"]
    if len(starts) > 1:
        return starts[-1]
    path = project / "fault.at"
    return float(path.read_text()) if path.exists() else starts[0]


def _interval(case: Case) -> float:
    del case
    return 50 * 0.025


def show(outcomes: list[Outcome]) -> bool:
    """The table; whether it holds what is wanted."""
    missed = false = 0
    print(f"{'run':<42} {'result':<8} {'by':<18} {'after':>14}  proof")
    for one in outcomes:
        wanted = [name for name in one.found if name in one.case.wanted]
        first = min(wanted, key=lambda name: one.found[name], default="")
        others = sorted(set(one.found) - set(one.case.wanted))
        in_time = bool(first) and one.readings[first] <= WITHIN
        if one.case.wanted:
            missed += not in_time
            word = "found" if in_time else "late" if first else "MISSED"
        else:
            false += bool(others)
            word = "FALSE" if others else "silent"
        after = f"{one.readings[first]:.0f} {one.case.unit}" if first else ""
        by = first or ", ".join(others)
        print(f"{one.case.name:<42} {word:<8} {by:<18} {after:>14}  {one.proof[:150]}")
    faults = sum(bool(one.case.wanted) for one in outcomes)
    healthy = len(outcomes) - faults
    found = f"{faults - missed} of {faults} faults found within {WITHIN} readings"
    print(f"\n{found}; {false} of {healthy} healthy runs disturbed")
    return missed <= 0.05 * faults and not false


def show_cost() -> None:
    """What a runner costs that samples ten times a second a training which prints each step and saves each second."""
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        project = Path(folder)
        (project / "ckpt").mkdir()
        (project / "train.py").write_text(PRINTS)
        cmd = json.dumps([sys.executable, "train.py"])
        (project / "onbox.toml").write_text(CONFIG.format(cadence=0.1, cmd=cmd, env=""))
        onbox = [sys.executable, "-m", "onbox"]
        subprocess.run([*onbox, "chain", "-d"], cwd=project, env=_environ(), check=True, stdout=subprocess.DEVNULL)
        state = project / ".onbox" / "bench"
        pid = int((state / "lock").read_text().split('"pid": ')[1].split(",")[0])
        time.sleep(COST_SECONDS / 4)
        before, known = _cpu_seconds(pid), len(read_points(str(state / "series.jsonl")))
        time.sleep(COST_SECONDS)
        taken = len(read_points(str(state / "series.jsonl"))) - known
        each = (_cpu_seconds(pid) - before) / max(1, taken)
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        subprocess.run([*onbox, "stop", "--now"], cwd=project, env=_environ(), check=False, stdout=subprocess.DEVNULL)
    share = 100 * each / DEFAULT_CADENCE_SECONDS
    print(f"\nthe runner: {taken} samples, {1000 * each:.1f} ms CPU each")
    print(f"at the default cadence of {DEFAULT_CADENCE_SECONDS:g} s: {share:.3f} % of a core")
    print(f"its memory: {resident / 1e6:.1f} MB")


def _cpu_seconds(pid: int) -> float:
    entry = look_up(pid)
    return 0.0 if entry is None else entry.cpu_ticks / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="only rows whose name holds one of these words")
    parser.add_argument("--at-once", type=int, default=3)
    args = parser.parse_args()
    cases = [case for case in (*FAULTS, *HEALTHY) if not args.names or any(word in case.name for word in args.names)]
    began = time.monotonic()
    with ThreadPoolExecutor(args.at_once) as pool:
        outcomes = list(pool.map(run_case, cases))
    good = show(outcomes)
    print(f"{len(cases)} trainings in {time.monotonic() - began:.0f} s")
    if not args.names:
        show_cost()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
