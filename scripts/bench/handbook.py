"""How long `handbook build` takes for ten runs on ten boxes, none of which is asked. Usage: handbook.py [RUNS] [TIMES]

The memory is filled as ticks fill it, from real chains on this machine, looked at as local boxes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(words: list[str], folder: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode > 3:
        raise SystemExit(f"{words}: {done.stderr}")
    return time.perf_counter() - began


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": ROOT, "XDG_STATE_HOME": f"{folder}/state"}
        local = f"{folder}/local"
        os.mkdir(local)
        with open(f"{local}/onbox.toml", "w", encoding="utf-8") as file:
            for number in range(runs):
                project = f"{folder}/box{number}/digits"
                os.makedirs(project)
                stages = ["train=echo step 4600/5155; echo x >best.npz", "eval=exit 1" if number % 2 else "eval=true"]
                run(["-m", "onbox", "chain", *stages], project, env)
                file.write(f'[boxes.gpu{number}]\nhost = "x"\nbackend = "local"\nproject = "{project}"\n')
        for _ in range(3):
            run(["-m", "patrol", "tick", "--quiet"], local, env)
        first = run(["-m", "handbook", "build", "--from-memory"], local, env)
        took = sorted(run(["-m", "handbook", "build"], local, env) for _ in range(times))
        bare = statistics.median(run(["-c", "pass"], local, env) for _ in range(times))
        page = os.path.join(local, "HANDBOOK.md")
        with open(page, encoding="utf-8") as file:
            lines = file.read().count("\n")
        print(f"{runs} runs, page of {lines} lines")
        print(f"reading all records once: {first * 1000:.0f} ms")
        print(f"build without asking: median {statistics.median(took) * 1000:.0f} ms, worst {took[-1] * 1000:.0f} ms")
        print(f"an empty python: {bare * 1000:.0f} ms")


if __name__ == "__main__":
    main()
