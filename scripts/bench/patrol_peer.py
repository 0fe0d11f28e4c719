"""`patrol tick` in the shape that a side-by-side benchmark of patrols asks for: boxes as JSON in, a state per box out.

usage: patrol_peer.py --ssh-config FILE --boxes FILE --state DIR

--boxes: a JSON list of {alias, run_dir, log, results, proc}. A run is only watched, as one that onbox did not start: by
its log, its process and the file DONE. The first tick that misses the process is counted as "dead", though the patrol
itself calls it soft until the next one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

# rule or state of the patrol -> word of the benchmark
BY_RULE = {"gone": "dead", "interrupted": "dead", "unreachable": "unreachable"}
BY_STATE = {"failed": "crash", "done": "done", "stalled": "stalled", "interrupted": "dead", "running": "ok"}
DISK_RULES = ("disk-", "inode-")


def configuration(boxes: list[dict[str, str]]) -> str:
    lines = []
    for box in boxes:
        folder = box["run_dir"]
        lines += [
            f"[boxes.{box['alias']}]",
            f"project = {json.dumps(folder)}",
            f"[boxes.{box['alias']}.watch]",
            f"log = {json.dumps(box['log'])}",
            f"process = {json.dumps(box['proc'])}",
            f"artifacts = [{json.dumps(box['results'] + '/*.json')}]",
            f"done_count = {box['n_total']}",
            'stall_after = "1h"',
        ]
    return "\n".join(lines) + "\n"


def word_of(run: dict[str, object]) -> str:
    rules = [str(run["rule"]), *(str(one["rule"]) for one in run.get("further", ()))]  # type: ignore[attr-defined]
    if BY_RULE.get(rules[0]):
        return BY_RULE[rules[0]]
    if "failure-survived" in rules:
        return "crash"
    if "signal-unseen" in rules or "signals-unseen" in rules:
        return "unknown"  # it lives; whether it moves could not be seen
    if run["state"] in ("running", "unknown") and any(rule.startswith(DISK_RULES) for rule in rules):
        return "disk"
    return BY_STATE.get(str(run["state"]), "unknown")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--ssh-config", "--boxes", "--state"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    text = configuration(json.loads(Path(args.boxes).read_text()))
    # The benchmark reuses its box names for other runs: each set of runs is a patrol of its own.
    folder = Path(args.state, hashlib.sha256(text.encode()).hexdigest()[:12])
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "onbox.toml"
    if not config.exists() or config.read_text() != text:
        config.write_text(text)
    environ = {**os.environ, "ONBOX_SSH_COMMAND": f"ssh -F {args.ssh_config}", "XDG_STATE_HOME": str(folder / "state")}
    words = [sys.executable, "-m", "patrol", "tick", "--json", "-c", str(config)]
    done = subprocess.run(words, env=environ, stdout=subprocess.PIPE, check=False, cwd=folder)
    for run in json.loads(done.stdout or "{}").get("runs", ()):
        print(json.dumps({"box": run["box"], "state": word_of(run), "rule": run["rule"], "say": run["say"]}))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
