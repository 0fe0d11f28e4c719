"""What a run's first lines complain of, and what its last ones claim, is not taken for more than it is."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
STEPS = "".join(f"epoch {at}/9 loss 0.{90 - 7 * at}\n" for at in range(1, 8))
CANCELLED = "slurmstepd: error: *** JOB 4711 ON n12 CANCELLED AT 2026-03-02T10:11:12 ***\n"
BARS = "".join(f"\n\r  {at}%|#   | {at * 7}/900 [00:{at:02d}<02:00,  3.64s/it]\x1b[A" for at in range(1, 9))
TASKS = "".join(
    f"[2026-08-03 09:31:5{at % 9},039 | asyncio | ERROR]: Task exception was never retrieved\n"
    f"future: <Task finished name='Task-{at}' coro=<ask() done> exception=TypeError(\"ask() got 'i'\")>\n"
    'Traceback (most recent call last):\n  File "/srv/retry.py", line 151, in retry\n    ret = await target(*args)\n'
    "TypeError: ask() got an unexpected keyword argument 'i'\n"
    for at in range(150)
)
ANSWERS = "".join(f'[2026-08-03 09:40:0{at} | http | INFO]: "POST /v1/chat HTTP/1.1" 200 OK\n' for at in range(9))
FAILURES = {
    "a job was cancelled long after its script had missed a command": (
        "user_interrupt",
        "/var/spool/slurmd/job4711/slurm_script: line 23: modul: command not found\nloading gcc 8.5\n"
        "loading python 3.10\nreading weights\n" + CANCELLED,
    ),
    "killed, behind a bar that is drawn one line up": ("host_oom", BARS + "Killed\n"),
    "killed, and then what a library says at any end": (
        "host_oom",
        STEPS + "Killed\n/opt/py/multiprocessing/resource_tracker.py:216: UserWarning: resource_tracker: There appear "
        "to be 6 leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear')\n",
    ),
    "a shape, below a remark on the driver": (
        "code_error",
        (
            "/opt/py/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is "
            "too old (found version 11040).\n  return torch._C._cuda_getDeviceCount() > 0\nusing the cpu\n"
            'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x = torch.linalg.solve(h, y)\n'
            "RuntimeError: linalg.solve: Expected A and B to have the same dtype, but found A of type Float\n"
        ),
    ),
    "the very file that a full disk has cost is claimed": (
        "disk_full",
        STEPS + "Error closing file out_34.mp4: No space left on device\n" + "[x264] kb/s:58.44\n" * 5 + "encoded: 80 "
        "out_28.mp4 40 out_34.mp4\n",
    ),
    "a limit of its own, by name": ("unknown", STEPS + "corpus rejected: 2 broken conversions > MAX_BAD=1\n"),
    "no way back is taken": (
        "checkpoint_corrupt",
        (
            "!! out/step000200.npz is unusable: BadZipFile: File is not a zip file\n!! --strict given: not falling "
            "back to an older one, stop.\n"
        ),
    ),
    "psql tells the time of what failed, too": (
        "data_error",
        (
            "BEGIN\nTime: 0.089 ms\nALTER TABLE\nTime: 1.866 ms\npsql:b.sql:4: ERROR:  invalid input syntax for type "
            'integer: "x"\nTime: 0.965 ms\n'
        ),
    ),
    "the first cause, above many lines that only wait": (
        "data_error",
        STEPS
        + "ERROR [prefetch] shard 0017 checksum mismatch: expected 9ab1 got 77f0, worker exits\n"
        + "".join(f"WARN [trainer] queue empty, waiting ({at}s)\n" for at in range(5, 300, 5))
        + 'Traceback (most recent call last):\n  File "t.py", line 9, in <module>\n    b = q.get(timeout=300)\n'
        '  File "/usr/lib/python3.11/queue.py", line 179, in get\n    raise Empty\n_queue.Empty\n',
    ),
    "nothing came of it": ("data_error", STEPS + "export complete, 0 rows, regions without data: eu, us\n"),
    "all answers are empty": ("data_error", STEPS + "task arith: empty answers 25/25\nresults written to r.json\n"),
    "a setting is no number": (
        "config_error",
        'params: key "beta": strconv.ParseFloat: parsing "0,31": invalid syntax\n',
    ),
}
HEALTHY = {
    "tasks whose exceptions nobody asked for, more often than each is read": STEPS + TASKS + ANSWERS,
    "none of what it would be bad to have": STEPS + "export complete, 0 bad rows\n",
    "pip's user is nobody who stops it": STEPS + "The user requested torch==9.9.9\nusing 2.13 instead, ok\n" + STEPS,
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_read(name: str) -> None:
    expected, log = FAILURES[name]
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class == expected or (expected == "unknown" and verdict.failure_class != "success_healthy")


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_stays_one(name: str) -> None:
    assert classify(HEALTHY[name].encode(), FRESH).failure_class == "success_healthy"
