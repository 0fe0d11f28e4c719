"""What is told beside the work and did not end it, and what ended it though the log goes on about other things."""

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

URLS = "".join(f"2026-11-28 10:00:0{at} INFO fetch url {at} ok\n" for at in range(8))
WELL = {
    "a task of asyncio that nobody asked for its result": (
        f"{URLS}2026-11-28 10:00:08 ERROR asyncio Task exception was never retrieved\n"
        "future: <Task finished name='Task-2' coro=<get() done, defined at /w/m.py:3> exception=OSError('closed')>\n"
        'Traceback (most recent call last):\n  File "/w/m.py", line 5, in get\n    raise OSError("closed")\n'
        "OSError: closed\n2026-11-28 10:00:09 INFO fetch fetched 8/8\n2026-11-28 10:00:09 INFO fetch done\n"
    ),
    "a pipe whose reader had read enough": (
        "candidate 1 score 0.50\ncandidate 2 score 0.33\ncandidate 3 score 0.25\nTraceback (most recent call last):\n"
        '  File "/w/rank.py", line 1, in <module>\n    print(one)\nBrokenPipeError: [Errno 32] Broken pipe\n'
        "top-3 list written\npipeline status ok\n"
    ),
    "a part that may fail, by the next line": (
        "run-parts: executing d/10-rotate\n10-rotate: 0 failed\nrun-parts: executing d/40-optional\n"
        "run-parts: d/40-optional exited with return code 1\nrun-parts: an optional part returned 1, ignored\n"
        "cron.daily finished 2026-11-28\n"
    ),
    "a metric that is called an error": (
        "".join(f"[{at}]\ttrain-error:0.0{9 - at}\ttrain-logloss:0.2\n" for at in range(9))
        + "saved out/m.ubj; final train-error [0]\teval-error:0.0066\teval-logloss:0.05\n"
    ),
    "a guard that killed nothing": (
        "guard watches 412\n"
        + "".join(f"mem avail: {5400 - at} of 23900 MiB, swap free: 0 MiB -- no process killed\n" for at in range(9))
        + "guard stopped with the job: 0 kills\n"
    ),
}
KNOWN = {
    "a dump that was refused, behind whose script all is well": (
        "auth_error",
        (
            'pg_dump: error: connection to server at "db" failed: FATAL:  password authentication failed for user "b"\n'
            "compressing dump.sql -> dump.sql.gz (20 bytes)\nBackup completed successfully\n"
        ),
    ),
}
FAILED = {
    "an account without money": (
        "quota_exceeded",
        (
            "item 40 of 400 judged\nopenai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your "
            "current quota, please check your plan and billing details.', 'code': 'insufficient_quota'}}\n"
        ),
    ),
    "a full disk, in Turkish": (
        "disk_full",
        "Dönem 1/5 kayıp 0.9\nDönem 2/5 kayıp 0.8\nHata: disk dolu, dosya yazılamadı\n",  # noqa: RUF001 - Turkish
    ),
    "a full disk, in Arabic": ("disk_full", "epoch 1/5\nخطأ: لا توجد مساحة كافية على القرص\n"),
    "a refused file above the word of an end, in German": (
        "permission_error",
        (
            "[03:20:01] 800 von 1200 Dateien verarbeitet\n"
            "[03:24:11] Fehler: Datei /daten/931.xml konnte nicht gelesen werden: Zugriff verweigert\n"
            "[03:24:11] Abbruch.\n"
        ),
    ),
    "HTCondor's word of an end with a code": (
        "divergence",
        (
            "lr 0.1 loss 2.31\nlr 2.9 loss 9.14\nTraceback (most recent call last):\n"
            '  File "/w/hpo.py", line 9, in <module>\n    search()\nRuntimeError: solver diverged for lr=2.916\n'
            "005 (21833.000.000) 11/29 18:41:26 Job terminated.\n\t(1) Normal termination (return value 1)\n"
            "\t\tUsr 0 00:00:06, Sys 0 00:00:01  -  Run Remote Usage\n\t18844  -  Run Bytes Sent By Job\n"
        ),
    ),
    "Jenkins' last word behind a builder's": (
        "code_error|config_error",
        (
            'docs/usage.rst:8: ERROR: Unknown target name: "link". [docutils]\n'
            "writing additional pages... search done\nbuild finished with problems, 3 warnings.\n"
            "Build step 'Execute shell' marked build as failure\nArchiving artifacts\nFinished: FAILURE\n"
        ),
    ),
    "a file that was cut short by the quota": (
        "quota_exceeded",
        (
            "+ tar -xf env.tar.zst\ntar: lib/libcudnn.so.9: Cannot write: Disk quota exceeded\n"
            "tar: Exiting with failure status due to previous errors\n+ python train.py\n"
            'Traceback (most recent call last):\n  File "/w/train.py", line 3, in <module>\n    import torch\n'
            "ImportError: libcudnn.so.9: file too short\n+ echo 'job end'\njob end\n"
        ),
    ),
    "a trainer that sums up its time, and a C++ library that dies of the same": (
        "cuda_assert",
        (
            "[10:03:10 d2.utils]: eta: 11:20:31  iter: 19  total_loss: 4.211\n"
            "[10:03:19 d2.utils]: eta: 11:18:02  iter: 39  total_loss: 3.102\n"
            "ERROR [10:03:27 d2.train]: Exception during training:\nTraceback (most recent call last):\n"
            '  File "/w/nms.py", line 33, in forward\n    keep = nms(boxes)\n'
            "RuntimeError: CUDA error: an illegal memory access was encountered\n"
            "[10:03:27 d2.hooks]: Overall training speed: 51 iterations in 0:00:23 (0.4520 s / it)\n"
            "[10:03:27 d2.hooks]: Total training time: 0:00:24 (0:00:01 on hooks)\n"
            "terminate called after throwing an instance of 'c10::Error'\n"
        ),
    ),
    "a job that somebody ended in the web interface": (
        "user_interrupt",
        (
            "step 120/4000 loss 2.1\nstep 140/4000 loss 2.0\n"
            "Error: The operation was canceled by a.user in the web interface.\n"
        ),
    ),
}


@pytest.mark.parametrize(("failure_class", "log"), KNOWN.values(), ids=KNOWN)
def test_the_fault_is_named_of_a_run_that_is_known_to_have_failed(failure_class: str, log: str) -> None:
    assert classify(log.encode(), Evidence(exit_code=1)).failure_class == failure_class


@pytest.mark.parametrize("log", WELL.values(), ids=WELL)
def test_it_is_well(log: str) -> None:
    assert with_progress(classify(log.encode()), read_progress(log.encode())).failure_class == "success_healthy"


@pytest.mark.parametrize(("failure_class", "log"), FAILED.values(), ids=FAILED)
def test_it_has_failed(failure_class: str, log: str) -> None:
    assert classify(log.encode()).failure_class in failure_class.split("|")
