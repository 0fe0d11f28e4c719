"""What a run's first lines complain of, and what its last ones claim, is not taken for more than it is."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
STEPS = "".join(f"epoch {at}/9 loss 0.{90 - 7 * at}\n" for at in range(1, 8))
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    run()\n{}\n'
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
FAILURES.update(
    {
        "Slurm's epilogue tells of a limit, with exit code 0": (
            "time_limit",
            STEPS
            + "slurmstepd: error: *** STEP 21.0 ON uc2n414 CANCELLED AT 2023-03-11T01:38:10 DUE TO TIME LIMIT ***\n"
            "Job ID: 21\nState: TIMEOUT (exit code 0)\nNodes: 1\nCPU Efficiency: 47.63% of 00:20:22 core-walltime\n"
            "Memory Utilized: 355.30 MB\nMemory Efficiency: 15.79% of 2.20 GB\n",
        ),
        "who closed the window": (
            "user_interrupt",
            "forrtl: error (200): program aborting due to window-CLOSE event\n",
        ),
        "the newest of two runs in one file": (
            "disk_full",
            TRACE.format("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.70 GiB.")
            + "".join(f"INFO loading part {at} of the policy\n" for at in range(60))
            + TRACE.format("OSError: [Errno 28] No space left on device: '/data/40000/model.safetensors'"),
        ),
        "the same complaint at each start, below an older traceback": (
            "permission_error",
            TRACE.format("socket.gaierror: [Errno 8] nodename nor servname provided")
            + "/srv/job/update.sh:4: operation not permitted: /home/a/log\n" * 90,
        ),
        "all the time that it had": (
            "time_limit",
            STEPS + "iter 148: the 3 h this allocation had are spent, 4852 iterations short\n",
        ),
        "a writer that is not permitted to open its file": (
            "permission_error",
            TRACE.format(
                "RuntimeError: [enforce fail at inline_container.cc:747] . open file failed with strerror: Operation "
                "not permitted"
            ),
        ),
        "no snapshot is left to go on from": (
            "checkpoint_corrupt",
            "INFO looking for a round to go on from\nERROR ck/0001.pkl does not open, looking at the one before\n"
            + TRACE.format("zlib.error: Error -5 while decompressing data: incomplete or truncated stream")
            + "CRITICAL no usable snapshot among 8 files; starting over would overwrite the ledger, so I stop\n",
        ),
        "a logger ends with its only error": (
            "data_error",
            "".join(f"10:14:2{at} [main] DEBUG loaded plugin {at}\n" for at in range(9))
            + "10:14:30 [main] ERROR the BAM column is empty. Ensure all cells are filled\n [Sample:ERS41, Lane:1]\n",
        ),
    }
)
FAILURES.update(
    {
        "a fault that names its step is no step": ("data_error", STEPS + "error at epoch 8: label out of range\n"),
        "a level of death, and then only the time": (
            "code_error",
            "step 10 loss 0.3\nstep 20 loss 0.2\nFATAL: worker table is gone at step 27\ncleaning up\nelapsed 3 s\n",
        ),
        "somebody stopped it, and a part is kept": (
            "user_interrupt",
            "sweep 44/100\ninterrupted by user\npartial sweep kept in partial.npy\n",
        ),
        "somebody stopped it, at INFO": (
            "user_interrupt",
            (
                "2026-03-02 10:12:00 INFO train: epoch 12/30 loss=0.5\n2026-03-02 10:13:00 INFO train: user hit Ctrl-C "
                "in epoch 13\n2026-03-02 10:13:01 INFO train: saved partial model to m.npz\n"
            ),
        ),
        "a step failed, and the next one was skipped": (
            "unknown",
            "step 1: clean [ok]\nstep 2: features [ok]\nstep 3: train [FAIL]\nstep 4: report [skipped]\n",
        ),
        "it grows and grows": (
            "divergence",
            "iter 100/1000 f=12.1\niter 300/1000 f=4.1e9\ncost keeps rising, stopping\n",
        ),
        "Kerberos": (
            "auth_error",
            (
                "+ hdfs dfs -get /p .\nget: Call From n4 to nn1:8020 failed on local exception: org.apache.hadoop."
                "security.AccessControlException: Client cannot authenticate via:[TOKEN, KERBEROS]\n+ exit 1\n"
            ),
        ),
    }
)
HEALTHY = {
    "tasks whose exceptions nobody asked for, more often than each is read": STEPS + TASKS + ANSWERS,
    "none of what it would be bad to have": STEPS + "export complete, 0 bad rows\n",
    "batches of which the loss is infinite are thrown out": "".join(
        f"asr> it {at}0 ctc 4.0{at} WER 0.6\nasr> it {at}7: loss inf (transcript longer than audio), batch thrown out\n"
        for at in range(1, 9)
    ),
    "an episode was truncated": "".join(
        f"ep={at}0 return= {at * 7 % 19} td_error= 16.97 terminated=True truncated=False frames={at * 90}\n"
        for at in range(1, 7)
    ),
    "HTCondor's own word": STEPS
    + "005 Job terminated.\n\t(1) Normal termination (return value 0)\n\t606  -  Run Bytes Sent "
    "By Job\n\tPartitionable Resources :    Usage  Request\n\t   Gpus (Average)       :     0.59        1\n\n\tJob "
    "terminated of its own accord at 2022-03-07T11:48:36Z.\n...\n",
    "rsync wrote what was missing at its second try": 'rsync: [receiver] write failed on "/t/23.npy": No space left on '
    "device (28)\nrsync exit 11 on train (try 1/3)\nresized scratch\n\nNumber of files: 31\n\nsent 220.73K bytes\n"
    "total size is 220.00K  speedup is 1.00\nmirror complete: 1.1M at /t\n",
    "looked for, and not found": "scanning 24 shards for damaged records\nshard 24/24\nno damaged records found\n",
    "looked for, and nothing to repair": "checking 12 checkpoints for corruption\n0 corrupt, 0 missing, 12 fine\n"
    "nothing to repair\n",
    "fatal crashes are data": "dataset: traffic crashes (812011 crashes, 9102 fatal)\nfold 1/3 fatal recall 0.62\n"
    "fold 2/3 fatal recall 0.60\nfold 3/3 fatal recall 0.63\nfatal crash model exported\n",
    "one was left out": "$ ./convert.sh\nconverting 1/4 a.wav\nconverting 2/4 b.wav\nconverting 3/4 c.wav\nERROR c.wav"
    ": not a RIFF file, skipped\nconverting 4/4 d.wav\n3 converted, 1 skipped\n",
    "a helper is stopped behind the work": "starting embedding server for the export\nexporting vectors: 112040 done\n"
    "export complete, stopping server\nserver received SIGTERM, shutting down\nserver stopped\n",
    "classes are counted": "classifying 51000 lines\n class oom-kill: 812\n class segfault: 90\n class fine: 50095\n"
    "table saved to classes.tsv\n",
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


def test_a_good_end_in_the_words_of_another_scheduler_than_slurm_is_one() -> None:
    log = STEPS + "application_17_0042 (state: FINISHED), exit code 0\n"
    assert classify(log.encode(), FRESH).state == "done"
