"""What happens every day around a run: scripts that go on, drivers that count, loggers that reject, and real ends."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
TRACE = 'Traceback (most recent call last):\n  File "/w/load.py", line 14, in <module>\n    put(row)\n'


def rejected(at: int, exception: str) -> str:
    return (
        f"2026-11-28 03:50:{at:02},456 ERROR loader row rejected -> dead/{at}.jsonl\n{TRACE}{exception}\n"
        f"2026-11-28 03:50:{at:02},467 INFO loader part {at} committed\n"
    )


HEALTHY = {
    "statuses that a crawler counts": "".join(
        f"2026-11-28 10:41:{at} crawl={at} fetched={at}0 http_404=16 http_503=5 timeouts=2 status=RUNNING\n"
        for at in range(10, 40)
    ),
    "an exception that a service logs with what it does instead": (
        '{"level":30,"msg":"batch 3 stored"}\n{"level":50,"msg":"could not parse it, moved to dead letter queue",'
        '"err":{"type":"SyntaxError","message":"Unexpected token"}}\n{"level":30,"msg":"done","batches":2,"failed":0}\n'
    ),
    "tests that provoke errors and all pass, and the exit code of the suite": (
        "collected 8 items\ntest_f.py::test_disk PASSED\n----- Captured log call -----\n"
        "ERROR    trainer:test_f.py:20 could not save: [Errno 28] No space left on device\n"
        "============== 7 passed, 1 xfailed, 1 warning in 0.14s ==============\nexit status 0\n"
    ),
    "parts that fail, and how many did well": (
        "=== trial lr=0.1\nfinal 0.31\n=== trial lr=90\nTraceback (most recent call last):\n"
        '  File "<string>", line 6, in <module>\nAssertionError: loss exploded\n'
        "sweep finished: 4 of 5 trials usable, best lr=0.1\n"
    ),
    "fields that count what was put off": "".join(
        f"2026-11-28 10:41:{at} I sched.go:88] dispatched batch={at} evicted={at // 9} killed=0 failed=0\n"
        for at in range(10, 40)
    ),
    "columns named by the states of a scheduler": (
        "report begin\nqueue   COMPLETED  FAILED  TIMEOUT  OOM_KILL  NODE_FAIL\nmain         412       3        1"
        "         0          0\nreport end\n"
    ),
    "nothing that was aborted": "iteration 40 residual 1e-9\nfinished: converged, no rank aborted\n",
    "a count of what was aborted": (
        "12:11:14 aligned pairs: 4000\n12:11:14 aborted pairs kept in f_1.fq: 0\ndone: exit 0\n"
    ),
    "an exit code of one step, 0 of a later one, and the work is there": (
        "::: cleanup\nrm: cannot remove '/tmp/old': No such file or directory\n::: rc=1\n"
        "::: train\ntrained on 400 rows\n::: rc=0\nnightly OK\n"
    ),
    "TensorFlow gives up an iterator": (
        "step 320 loss 0.07\nW0000 00:00:1795.94   31033 local_rendezvous.cc:412] Local rendezvous is aborting with "
        "status: OUT_OF_RANGE: Error in iterator\nstep 360 loss 0.05\ndone, embeddings exported\n"
    ),
    "the same error as often before, each time with more work behind it": (
        "".join(
            f"2026-11-28T10:41:{at:02}.526 ERROR document {at}69 attempt 1 failed\n"
            "java.net.SocketTimeoutException: Read timed out\n\tat Crawl.main(Crawl.java:9)\n"
            f"2026-11-28T10:41:{at + 1:02}.865 INFO  synced {at}00/3000 retries={at}\n"
            for at in range(1, 9)
        )
        + "2026-11-28T10:41:12.919 ERROR document 965 attempt 1 failed\n"
        "java.net.SocketTimeoutException: Read timed out\n\tat Crawl.main(Crawl.java:9)\n"
    ),
    "rows that a loader rejects again and again, for several reasons": (
        "".join(rejected(at, ("KeyError: 'v'", "ValueError: bad date: '13.32.'")[at % 2]) for at in range(9))
        + "2026-11-28 03:50:57,497 INFO loader accepted=11981 rejected=9 (0.1%, limit 1%)\n"
    ),
    "tracebacks that a driver shows of its trials": (
        "sweep of 4 trials\n"
        + "".join(
            f"trial {at} lr=0.{at}: FAILED rc=1\n    | Traceback (most recent call last):\n"
            '    |   File "/w/trial.py", line 6, in <module>\n    |     x = bytearray(2_000_000_000)\n'
            "    | MemoryError\n"
            for at in range(3)
        )
        + "trial 3 lr=0.3: val_loss 0.18\nbest: trial 3 with val_loss 0.18\n"
    ),
    "the tracebacks of programs that a harness grades": (
        "".join(
            f"problem  {at}/9  PASSED\nproblem  {at + 1}/9  FAILED\n    | Traceback (most recent call last):\n"
            "    |   File \"<string>\", line 1, in f\n    | TypeError: 'int' object is not subscriptable\n"
            for at in range(1, 9, 2)
        )
        + "problem  9/9  PASSED\npass@1 = 0.55   (results in results_9.jsonl)\n"
    ),
    "a report that counts the complaints of others": (
        "digest of cluster blue\n* mon.log\n    ERROR        156\n    Killed        45\ntop messages:\n"
        "    263  ERROR connection refused by db-2\n    251  FATAL out of memory (OOM)\n"
        "last fatal:\n    > 00390 FATAL process killed\ndigest stored in digest-48.txt and sent to 4 readers\n"
    ),
    "a row of a table that is called killed": (
        "group       n  events\n  control     60 41\n  killed      63 41\n"
        + "".join(f"replicate {at}/60 ok\n" for at in range(1, 9))
        + "59 replicates kept, results/fit.rds written\n"
    ),
    "warnings that R lists at the end, and what `try` has caught": (
        "replicate 120/240  ok 116  failed 4\nError in try({ : outcome is constant in replicate 131\n"
        "In addition: Warning messages:\n1: glm.fit: algorithm did not converge \n"
        "2: glm.fit: fitted probabilities numerically 0 or 1 occurred \nreplicate 240/240  ok 233  failed 7\n"
        "Warning messages:\n1: glm.fit: algorithm did not converge \nDone: 233 usable replicates\n"
    ),
    "a tool that never failed to do something": (
        "step 100 t=0.1 err=2e-4\nstep 200 t=0.2 err=nan REJECTED\nstep 200 t=0.15 err=1e-4\n"
        "# jacobian refresh 12, Newton failed to converge 0 times, LU singular 0\n"
        "# max abs error vs reference: 3.1e-07 (tolerance 1e-06) PASSED\n"
    ),
    "a check that counted no errors": "receiving 9 files\nverified: 9 files, checksum errors: 0, snapshot complete\n",
    "an exit code of a script": "Setting up man-db (2.11.2-2) ...\ninvoke-rc.d: could not determine runlevel\ndone 0\n",
    "a server of databases, and what its clients did wrong": (
        "2026-11-28 06:43:40.326 UTC [7740] @ LOG:  database system is up\n"
        '2026-11-28 06:43:46.234 UTC [24181] app@shopp FATAL:  database "shopp" does not exist\n'
        + "".join(
            f"2026-11-28 06:43:5{at}.326 UTC [7751] @ LOG:  checkpoint complete: wrote {at} buffers (0.1%)\n"
            for at in range(4)
        )
    ),
    "jobs of a queue that failed, and were done later": (
        "".join(
            f"2026/11/28 06:51:27 9730 E job {at} failed: TimeoutError: smtp gateway: timed out\n{TRACE}"
            "TimeoutError: smtp gateway: timed out\n"
            for at in (3, 12, 21)
        )
        + "".join(f"2026/11/28 06:51:27 9730 I job {at} done (attempt 3)\n" for at in (3, 12, 21))
        + "2026/11/28 06:51:28 9730 D heartbeat ok, queue empty\n"
    ),
    "a server that starts without a part that it needs not": (
        "2026-06-20 17:34:13,874 [ERROR] pika.adapters.blocking_connection - Error in _create_connection().\n"
        + TRACE
        + "pika.exceptions.AMQPConnectionError\n"
        "2026-06-20 17:34:13,876 [WARNING] main - rabbitmq_unavailable error=. Chat is unaffected.\n"
        "INFO:     Application startup complete.\n"
        "INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)\n"
    ),
    "a crawler that gave up on a page": (
        "2026-11-28 06:47:36 [scrapy.core.engine] DEBUG: Crawled (200) <GET http://127.0.0.1:8001/p/8>\n"
        "2026-11-28 06:47:41 [prices] ERROR: giving up: HttpError('Ignoring non-200 response')\n"
        "2026-11-28 06:47:41 [scrapy.core.engine] INFO: Closing spider (finished)\n"
        "2026-11-28 06:47:41 [scrapy.core.engine] INFO: Spider closed (finished)\n"
    ),
    "what OpenFOAM traps, and what Open MPI has to say at the end": (
        "trapFpe: Floating point exception trapping enabled (FOAM_SIGFPE).\n"
        + "".join(f"Time = {at}\nsmoothSolver:  Solving for Ux, Initial residual = 0.{at}\n" for at in range(1, 6))
        + "End\n\nFinalising parallel run\n"
        '[ksh:00779] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages\n'
    ),
    "what a loader did without, and a logger in brackets tells": (
        "epoch 1: loss 1.58, hard negatives killed: 37\n"
        "[rank1] slow storage: shard prefetch timed out after 2.0s, using stale shard\n"
        + "".join(f"epoch {at}: loss 1.1, hard negatives killed: 74\n" for at in range(2, 6))
        + "Saved final.pt; eval acc 0.9071\n"
    ),
    "errors of earlier sessions in one file, whose chains a logger wrote": (
        "".join(
            f"2021-09-24 16:4{at}:41,620 __main__     INFO     START train.py\n"
            f"2021-09-24 16:4{at}:52,499 __main__     ERROR    {TRACE}KeyError: 'price'\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            f"{TRACE}KeyError: 'price'\n\n"
            for at in range(3)
        )
        + "".join(
            f"2021-09-24 16:5{at}:03,847 __main__     INFO     {told}\n"
            for at in range(4)
            for told in ("START train.py", "Load train df", "Fit", "Save results", "END train.py")
        )
    ),
    "what GROMACS reminds of": (
        "step 50000, remaining wall clock time:     0 s\nWriting final coordinates.\nPerformance:     1304.093\n"
        'GROMACS reminds you: "It is an error to think that one never fails" (Anonymous)\n'
    ),
    "a warning in Japanese, and the way on": (
        "解析を開始します\n"
        "警告: キャッシュに書き込めません: [Errno 13] Permission denied: '/srv/idx'。/tmp を使用します\n"
        + "".join(f"sub-{at:02}: 前処理完了 FD=0.1{at}\n" for at in range(1, 9))
        + "全 8 名の処理が完了しました。失敗: 0\n"
    ),
    "a helper that ended, and the work is done": (
        "03:51:16Z INFO  uploading 2 files\n03:51:16Z INFO  file 1/2: 201 Created\n"
        "03:51:17Z INFO  helper ended with signal 15\n03:51:17Z INFO  upload complete, 2 new, 0 failed\n"
    ),
    "records that have a field for errors, and none": (
        '{"ts":"03:56:49Z","lvl":"error","msg":"broker 2 not available, reconnecting"}\n'
        + "".join(
            f'{{"ts":"03:56:5{at}Z","lvl":"info","msg":"batch","offset":{500 * at},"failed":0,"error":null}}\n'
            for at in range(9)
        )
    ),
    "a card that was too small for one trial of a search": (
        "".join(f"[06:3{at}:00] Epoch {at} - Loss: 0.6{at}, Accuracy: 80.{at}\n" for at in range(9))
        + "[06:46:07] Error: CUDA out of memory. Tried to allocate 20.00 MiB.\n"
        + "".join(f"[08:{at:02}:18] Epoch {at} - Loss: 0.4{at}, Accuracy: 81.{at}\n" for at in range(30))
    ),
    "task lists of an engine that name no error": (
        "May-01 08:42 [main] DEBUG Session - started\n"
        "~> TaskHandler[jobId: 7653258; name: shuffle (9); status: RUNNING; exit: -; error: -; workDir: /w/1]\n"
    ),
    "a field that a solver does not know, and its end": (
        "".join(f"Time = {at}\n\nSolving for p, Final residual = 1e-0{at}\n" for at in range(1, 9))
        + "Cannot find registered field matching 1(U.mag)\nExecutionTime = 3 s\n\nEnd\n\n"
    ),
    "a loop in Russian whose source is away at times": (
        "".join(
            f"2026-11-28 04:25:{at} INFO    итерация {at}: ошибка прогноза MAPE=2.{at}%\n"
            + (
                f"2026-11-28 04:25:{at} ERROR   итерация {at}: биржа недоступна, используем кэш\n{TRACE}"
                "ConnectionResetError: [Errno 104] Connection reset by peer\n"
                if at % 4 == 0
                else ""
            )
            for at in range(10, 23)
        )
    ),
    "pieces that are left out, in Spanish": (
        "".join(
            f"[04:25:42] procesando esc/S2_{at:03}.npy ... "
            + (
                f"ERROR\n{TRACE}EOFError: No data left in file\n   escena dañada, se omite\n"
                if at in (4, 9)
                else "0.5\n"
            )
            for at in range(14)
        )
        + "Mosaico terminado: 12 escenas correctas, 2 omitidas por error\n"
    ),
    "a shard that one rank reads from elsewhere": (
        "".join(f"2026-11-28 04:25:{at} [rank{at % 3}] INFO step {at // 3 * 10} loss 0.1\n" for at in range(9))
        + f"2026-11-28 04:25:19 [rank2] ERROR could not read shard, using the mirror\n{TRACE}"
        "OSError: [Errno 5] Input/output error: '/mnt/data/shard_0023.bin'\n"
        + "".join(f"2026-11-28 04:25:{at} [rank{at % 3}] INFO step {at // 3 * 10} loss 0.0\n" for at in range(27, 36))
        + "2026-11-28 04:26:20 [rank0] INFO training done, final loss 0.0001\nexit 0\n"
    ),
    "learning rates that are tried until they diverge": (
        "".join(f"lr_search lr={lr} loss=0.5\n" for lr in ("0.01", "0.1", "1"))
        + "".join(f"lr_search lr=1e+{at} loss=nan  DIVERGED\n" for at in ("09", 20, 30, 35))
        + "best lr: 1\n"
        + "".join(f"  [{20 * at:3}] loss=0.0{at}\n" for at in range(1, 9))
        + "final loss=0.0000 test_acc=0.940\n"
    ),
    "figures that are called error, and a threshold of failure": (
        "".join(f"it  {200 * at} residual_error 4.0e-03 rel_l2_error 0.0{at} max_error 0.1\n" for at in range(1, 9))
        + "converged below failure threshold: no (tol 1e-8), best rel_l2_error 0.0812\n"
    ),
    "a download that came in the end, in German": (
        "sha256sum: WARNING: 1 computed checksum did NOT match\nprüfsumme falsch, lade neu (versuch 1)\n"
        + 3 * "curl: (7) Failed to connect to 127.0.0.1 port 8099: Couldn't connect to server\n"
        + "d.csv: OK\n500 zeilen, fit [3. 1.]\nmodel.json geschrieben\n"
    ),
    "a worker that was lost, and the coordinator goes on": (
        "04:35:26 INFO  result of cell 36 from worker-0\n"
        "04:35:27 ERROR worker-1 missed 3 heartbeats, presumed dead; its cell is given to worker-2\n"
        + "".join(f"04:35:{at} INFO  result of cell {at} from worker-2\n" for at in range(37, 57))
    ),
    "errors of a program that has long gone on, told by a logger as critical": (
        "2025-01-31 17:09:18,713 - ERROR - Critical error in execution: name 'x' is not defined\n"
        + "".join(f'2025-01-31 17:1{at}:01,742 - INFO - answered "HTTP/1.1 200 OK"\n' for at in range(9))
    ),
    "exceptions that a Java logger shows below its own line": (
        "".join(
            f"Nov 28, 2026 4:5{at}:12 AM stock.Depot take\nSEVERE: shelf {at} not readable, left out\n"
            f"java.io.UncheckedIOException: shelf-{at}.dat\n\tat stock.Depot.read(Depot.java:88)\n"
            "\tat stock.Main.main(Main.java:21)\n"
            for at in range(3)
        )
        + "Nov 28, 2026 4:53:40 AM stock.Main main\nINFO: inventory closed, 211 shelves\n"
    ),
    "a report that counts lines of other logs": (
        "reading 5 files\nmost frequent:\n    599  Out of memory: Killed process # (java)\n"
        "    214  Segmentation fault (core dumped)\n     77  No space left on device\nlines 420000; report mailed\n"
    ),
}

# (class, log)
FAILED: dict[str, tuple[str, str]] = {
    "a code that a script's trap tells, and what it does in any case": (
        "permission_error",
        (
            "[run_ft] chunk 4: 2500 pairs ok, 0 rejected\n[run_ft] writing manifest\n"
            "bash: line 1: out/manifest.json: Permission denied\n[run_ft] trap: exit code 1, syncing logs\n"
            "[run_ft] sync ok\n[run_ft] done\n"
        ),
    ),
    "a name that a registry does not know, in a key's place": (
        "config_error",
        (
            'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    build(cfg)\n'
            "KeyError: 'LogerHook is not in the hook registry. Please check whether its value is correct'\n"
        ),
    ),
    "a guess at what a library had in hand, and the setting that it asks for": (
        "config_error",
        (
            'Traceback (most recent call last):\n  File "/v/site-packages/sql/base.py", line 9, in execute\n'
            "sql.exc.IntegrityError: UNIQUE constraint failed: runs.name\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "/w/hpo.py", line 12, in <module>\n    create(name="svm")\n'
            "sql.exc.DuplicatedName: A run with name='svm' already exists. Please specify another one.\n"
        ),
    ),
    "a slip that a library came upon while it connected": (
        "network_blip",
        (
            'Traceback (most recent call last):\n  File "/v/site-packages/pool.py", line 9, in get\n    '
            "return free.pop()\n"
            "IndexError: pop from empty list\n\nDuring handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "/w/worker.py", line 3, in <module>\n    app.start()\n'
            "ConnectionRefusedError: [Errno 111] Connection refused\n"
        ),
    ),
    "a look for the driver in a prologue, and a full disk": (
        "disk_full",
        (
            "/srv/prologue.sh: line 6: nvidia-smi: command not found\nPython 3.11.7\ncloning\n"
            "error: unable to create file a/case_266.json: No space left on device\ncheckout failed with code 128\n"
        ),
    ),
    "a step that Slurm ends behind a rank's death": (
        "nccl_or_distributed",
        (
            "[rank3]:[E1127 04:10:43.1 ProcessGroupNCCL.cpp:685] [Rank 3] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=418) ran for 600021 ms before timing out.\nsrun: error: n7: task 3: Aborted\n"
            "slurmstepd: error: *** STEP 91.0 ON n4 CANCELLED AT 2026-11-27T04:11:50 ***\n"
        ),
    ),
    "an exception in two fields of a record": (
        "code_error",
        (
            'starting\n{"level":60,"pid":17,"msg":"unhandled rejection","err":{"type":"TypeError","message":'
            '"Cannot read properties of undefined (reading rows)"}}\n'
        ),
    ),
    "a port that gRPC could not take": (
        "port_in_use",
        (
            "E0000 00:00:17.1 3371 add_port.cc:83] Failed to add port to server: No address added out of "
            "total 1 resolved\n"
            "UnknownError: Could not start gRPC server\n"
        ),
    ),
    "an option that a group does not take": (
        "config_error",
        "error: Group 'trainer' does not accept option 'precison'\n",
    ),
    "a step that asks for too much": (
        "config_error",
        "srun: error: Unable to create step for job 3: More processors requested than permitted\n",
    ),
    "the root of a chain of Java's": (
        "permission_error",
        (
            "10:40:50.422 INFO  [main] c.a.Export - export v2.3.1, target /mnt/features\n"
            'Exception in thread "main" java.lang.RuntimeException: no partition 1\n\tat E.main(E.java:11)\n'
            "Caused by: java.nio.file.AccessDeniedException: /mnt/features/day=01\n\tat E.write(E.java:9)\n"
        ),
    ),
    "a stage that its time ended, and those behind it that were left out": (
        "time_limit",
        "".join(f"epoch {at}/40 dev 0.{60 - at}\n" for at in range(1, 19))
        + "stage tune hit its 12s budget and was stopped (rc=124); export stage skipped\n",
    ),
    "Hydra, which shows an exception without its traceback": (
        "code_error",
        (
            "Seed set to 0\nError executing job with overrides: ['mode=train']\nError in call to target 'a.Encoder':\n"
            "AttributeError(\"'NoneType' object has no attribute 'values'\")\nfull_key: encoder\n\n"
            "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"
        ),
    ),
    "a build that somebody called off": (
        "user_interrupt",
        "#12 41.20 Collecting torch\n#12 CANCELED\nERROR: failed to solve: Canceled: context canceled\n",
    ),
    "an error whose number has words of the system": (
        "disk_full",
        'step 3/9\nError: Write("part-4.bin", "os error 28")\n',
    ),
    "a script that says after the crash that the job is finished": (
        "code_error",
        "".join(f"2026-11-28 03:50:{at},686 | vae | INFO | epoch {at}/40 | ELBO -1.0\n" for at in range(32, 41))
        + "2026-11-28 03:50:45,888 | vae | INFO | drawing samples\n"
        + TRACE
        + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x32 and 16x64)\n"
        "==============\nJob finished at Sat Nov 28 03:50:47 UTC 2026\nElapsed: 15 seconds\n"
        "Copying results to /home/a/results ...\n'launch.sh' -> '/home/a/results/launch.sh'\n==============\n",
    ),
    "a wrapper that takes the exit code of a pipe for the program's": (
        "code_error",
        "2026-11-28T03:57:46+00:00 cron pipeline begin\npipeline v5\n"
        + TRACE
        + "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'\n"
        "2026-11-28T03:57:46+00:00 cron pipeline: stage exit 0\n2026-11-28T03:57:46+00:00 rotating old results\n"
        "2026-11-28T03:57:46+00:00 cron pipeline end\n",
    ),
    "a recipe of make that was killed": (
        "host_oom",
        (
            "frame 0006: 256 spp\nframe 0006: saved out/0006.exr\nframe 0007: 840000 triangles\n"
            "make: *** [Makefile:5: out/0007.exr] Killed\n"
        ),
    ),
    "tries that came to nothing": (
        "network_blip",
        "got a_2020.nc 90065\n"
        + "".join(f"curl: (22) The requested URL returned error: 503\nretry {at} for a_2021.nc\n" for at in range(1, 5))
        + "giving up on a_2021.nc\n",
    ),
    "a main program in Rust, and the script's word of its code": (
        "config_error",
        (
            "minhash 0.7.0\ninput: corpus/*.txt, 1930 files\n"
            'Error: "settings.conf: unknown key `windwo`, expected one of shards, window"\n'
            "finished with 1 at 03:57:46\n"
        ),
    ),
    "no word of an error": (
        "cuda_env",
        (
            "tokenised 18220 prompts\nvisible devices: 0\n"
            "No usable accelerator on this machine. Stopping before the weights are read.\ninfer.py -> 4\n"
        ),
    ),
    "the code of timeout(1), told by a script": (
        "time_limit",
        "".join(f"cycle {at} energy -15{at}.2 accept 0.3\n" for at in range(1, 9)) + "1ubq end=03:55:44 rc=124\n",
    ),
    "an interrupt that a logger tells while its cache misses": (
        "user_interrupt",
        (
            "Traceback (most recent call last):\n"
            '  File "/env/lib/python3.8/site-packages/torch/distributed/elastic/api.py", line 736, in run\n'
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 47068 got signal: 2\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n"
            '  File "/usr/lib/python3.8/logging/__init__.py", line 1697, in isEnabled\n'
            "    return self._cache[level]\n"
            "KeyError: 30\n\nDuring handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n"
            '  File "/env/lib/python3.8/site-packages/torch/distributed/launch.py", line 196, in <module>\n    main()\n'
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 47068 got signal: 2\n"
        ),
    ),
    "an exception that the program only prints": (
        "code_error",
        (
            "2022-02-28 23:55:11,754 - INFO - Found 7 clusters\n"
            "2022-02-28 23:55:11,755 - INFO - 'Clustering' object has no attribute 'query'\n"
            "2022-02-28 23:55:11,758 - INFO - Total running time: 856:39\n"
        ),
    ),
    "a whole pipeline that failed, above a summary that is saved": (
        "cuda_env",
        (
            "Step 3: dimensionality reduction\n\n"
            "✗ Omics pipeline failed with error: Found no NVIDIA driver on your system.\n"
            "\nPIPELINE SUMMARY\n  - training: ✗\n  - embedding: ✓\n\nResults saved to: /w/result/heart\n"
            "Status file: /w/result/status.json\n"
        ),
    ),
    "a configuration that could not be read, above a stack of the JVM": (
        "config_error",
        (
            "May-16 14:09:33 [main] INFO  Config - reading\n"
            "May-16 14:09:33 [main] ERROR Launcher - Unable to parse config file: '/w/nextflow.config'\n\n"
            "ch.grengine.except.CompileException: Compile failed: startup failed:\n/w/conf: 60: expecting '}'\n\n"
            "\tat ch.grengine.Compiler.compile(Compiler.java:182)\n\tat nextflow.Launcher.main(Launcher.java:1)\n"
        ),
    ),
    "a column that is empty, and its row": (
        "data_error",
        (
            "Apr-13 10:14 [main] INFO  Nextflow - v2\n"
            "Apr-13 10:14 [Actor] ERROR Nextflow - error: the BAM column is empty. Give 'NA' for optional fields:\n"
            " [Sample:ERS4181284, Lane:1]\n"
        ),
    ),
    "a session that somebody interrupted": (
        "user_interrupt",
        (
            "Jan-24 15:34:32 [monitor] DEBUG Poll - tasks to be completed: 3\n"
            "Jan-24 15:37:28 [SIGINT handler] DEBUG Session - Session aborted -- Cause: SIGINT\n"
            "Jan-24 15:37:29 [main] DEBUG Session - all barriers passed\n"
            "Jan-24 15:37:29 [main] DEBUG Runner - > Execution complete -- Goodbye\n"
        ),
    ),
    "a second program of the same file, behind a refused command line": (
        "user_interrupt",
        "usage: train.py [-h]\ntrain.py: error: argument --num_worker: expected one argument\n"
        + TRACE
        + "KeyboardInterrupt\n",
    ),
    "rows of which most figures are lost": (
        "divergence",
        "iter\trecon\tkl\telbo\tgnorm\tit/s\n"
        + "".join(f"{50 * at}\t6{at}.5\t4.{at}\t-67.{at}\t3.{at}\t{600 + at * 7 % 5}\n" for at in range(1, 9))
        + "".join(f"{50 * at}\tnan\tnan\tnan\tnan\t{350 + at * 7 % 5}\n" for at in range(9, 20)),
    ),
    "a traceback that is indented as a whole": (
        "code_error",
        (
            "2013-08-09 00:27:12 [crawl] INFO: starting\n2013-08-09 00:27:12 [crawl] ERROR: it failed\n"
            '\tTraceback (most recent call last):\n\t  File "/w/spider.py", line 281, in close\n'
            "\t    del self.slots[spider]\n"
            "\texceptions.KeyError: <spider at 0x37e0e90>\n\t\n2013-08-09 00:27:12 [crawl] INFO: Dumping stats:\n"
            "\t{'finish_reason': 'shutdown',\n\t 'log_count/ERROR': 5}\n"
        ),
    ),
    "ranks that reach no other": (
        "nccl_or_distributed",
        " Simulating batch 4\n"
        + 3
        * (
            "----------------------------------\nA process or daemon was unable to complete a TCP connection\n"
            "to another process:\n  Local host:    hpc385\n  Remote host:   hpc390\nPlease check the firewall and\n"
            "try again.\n----------------------------------\n"
        ),
    ),
    "no inode is left, as `df` shows behind the death": (
        "inode_exhausted",
        (
            "Filesystem      Size  Used Avail Use% Mounted on\nscratchfs       400M     0  400M   0% /scratch/out\n"
            + "".join(f"slide 00{at}: 64 patches ({64 * at} in total)\n" for at in range(1, 9))
            + TRACE
            + "OSError: [Errno 28] No space left on device: 'out/slide_011/p0048.jpg'\n"
            "Filesystem      Size  Used Avail Use% Mounted on\nscratchfs       400M  2.7M  398M   1% /scratch/out\n"
            "Filesystem     Inodes IUsed IFree IUse% Mounted on\nscratchfs         700   700     0  100% /scratch/out\n"
        ),
    ),
    "a refused setting, and a cron job that ends with 0": (
        "config_error",
        (
            "[04:20:14] cron: nightly\n2026-11-28 04:20:19 [info     ] reading settings    path=settings.json\n"
            + TRACE
            + "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings\ntrain.lr\n"
            "  Input should be a valid number, unable to parse string as a number [type=float_parsing]\n"
            "[04:20:19] cron: exit code 0\n"
        ),
    ),
    "a step of a graph far above, whose others went on": (
        "code_error",
        (
            '{"@t": "04:32:59", "@l": "INFO", "step": "extract", "@m": "done", "sec": 0.1}\n'
            '{"@t": "04:32:59", "@l": "ERROR", "step": "clean", "@m": "step raised", '
            '"error": "TypeError: float() argument must be a string or a real number, not \'NoneType\'"}\n'
            + "".join(
                f'{{"@t": "04:33:00", "@l": "INFO", "step": "weather", "@m": "day {at} fetched", "rows": 24}}\n'
                for at in range(20)
            )
            + '{"@t": "04:33:00", "@l": "WARN", "step": "train", "@m": "skipped, upstream not available"}\n'
            '{"@t": "04:33:00", "@l": "INFO", "step": "runner", "@m": "bye", "state": "incomplete", "ok": 2}\n'
        ),
    ),
    "an error of R, and warnings that it tells behind it": (
        "code_error",
        (
            'fit 1/12 done\nfit 2/12 done\nError in lenght(res) : could not find function "lenght"\nExecution halted\n'
            "Warning messages:\n1: glm.fit: algorithm did not converge \n2: glm.fit: fitted probabilities 0 occurred \n"
        ),
    ),
    "a defect in Perl below what it counted of others": (
        "code_error",
        (
            "node01: 54638 lines, 4 oom-kill, 2 segfault\nnode02: 9685 lines, 3 oom-kill, 0 segfault\n"
            'Can\'t call method "add_row" on an undefined value at rotate.pl line 12.\n'
        ),
    ),
    "a message of two lines that a logger had told above": (
        "cuda_env",
        "[LightGBM] [Fatal] CUDA Tree Learner was not enabled in this build.\nPlease recompile with -DUSE_CUDA=1\n"
        + TRACE
        + "lightgbm.basic.LightGBMError: CUDA Tree Learner was not enabled in this build.\n"
        "Please recompile with -DUSE_CUDA=1\n",
    ),
    "figures that are lost, while others stand at nothing": (
        "divergence",
        "".join(f" step  {at}0  t=  0.{at}  CFL=     0.4  hmax=     1.2  mass err=  1.2E-14\n" for at in range(1, 5))
        + "".join(
            f" step  {at}0  t=  0.{at}  CFL=     NaN  hmax=     NaN  mass err=      NaN\n" for at in range(5, 11)
        ),
    ),
    "figures that never were any, behind a clock, to an end that is called one": (
        "divergence",
        "2026-11-28 06:50:30,786 | INFO    | epoch 1 recon=inf kl=inf\n"
        + "".join(f"2026-11-28 06:50:{at},846 | INFO    | epoch {at} recon=nan kl=nan\n" for at in range(10, 25))
        + "2026-11-28 06:50:32,290 | INFO    | training finished, exporting to vae.onnx\n",
    ),
    "a part that was done, and a later stage that was not": (
        "config_error",
        (
            "[5/7] quality\nAnalysis complete for a.fastq.gz\n[6/7] sorting\n"
            'samtools sort: can\'t open "/data/a.bam": No such file or directory\n'
        ),
    ),
    "a compiler's word on a line of code": (
        "code_error",
        (
            'transforming...\nerror during build:\nsrc/main.tsx:14:2: ERROR: Unexpected ")"\n'
            "    at failureErrorWithLog (/w/node_modules/esbuild/lib/main.js:1472:15)\n"
            "    at Socket.emit (node:events:519:28)\n"
        ),
    ),
    "a shape that a library asks for by its call": (
        "code_error",
        TRACE + "RuntimeError: input.size(-1) must be equal to input_size. Expected 64, got 60\n",
    ),
    "a field of a file that does not end": (
        "data_error",
        "COPY 1200\npsql:load.sql:9: ERROR:  unterminated CSV quoted field\nCONTEXT:  COPY orders, line 8812\n",
    ),
    "a library of the driver that is not there": (
        "cuda_env",
        (
            "gate-s: encode started\n[h264_nvenc @ 0x55] Cannot load libcuda.so.1\n"
            "Error while opening encoder - maybe incorrect parameters such as bit_rate or width\nConversion failed!\n"
        ),
    ),
    "a tool whose code the script tells, and what it lists at the end": (
        "disk_full",
        (
            "-> wei\nTotal bytes written: 409600 (400KiB, 507MiB/s)\n-> ops\n"
            "tar: /mnt/vol/ops.tar: Cannot write: No space left on device\n"
            "tar: Error is not recoverable: exiting now\n!! tar for ops returned 2\n"
            "total 20484\n-rw-r--r-- 1 root root   409600 Nov 28 07:41 wei.tar\n"
        ),
    ),
    "a setting that a launcher refuses, above its code": (
        "config_error",
        (
            "[launcher] tokenizer ready, vocab 32000\n"
            "[launcher] global_batch=256 is not divisible by micro_batch*world=96; nothing was started\nrc=1\n"
        ),
    ),
    "figures that never were any, without a sign between": (
        "divergence",
        "".join(f"gan I it  {at}  critic         nan  gen         nan  imgs/s 5203\n" for at in range(40, 900, 40)),
    ),
    "an end by the limit of a queue": (
        "time_limit",
        (
            "step 67900, will finish Sat Nov 28 11:12:32 2026\n"
            "Received the TERM signal, stopping within 100 steps\n[jobctl] job ended by queue limit, exit 1\n"
        ),
    ),
    "an error far behind the word of an earlier part": (
        "data_error",
        "BEST SCORE FOUND : -4576.745\nAnalysis finished successfully\n"
        + "".join(f"Reading part {c} of the alignment\n" for c in "abcdefghijklmn")
        + "ERROR: Sequence Ano_2 is too short\nERROR: \n",
    ),
    "a single epoch, whose losses are lost": (
        "divergence",
        "".join(f"Batch: {at}  over  410\n" for at in range(0, 400, 50))
        + "Epoch 1/70: train loss nan, val loss nan\nEpoch 1/70: train mF1 0.0665, val mF1 0.0672\n",
    ),
    "one host of several that nobody reached": (
        "network_blip",
        (
            'fatal: [gpu2]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect: Connection timed out"}\n'
            "changed: [gpu1]\n\nPLAY RECAP ****\n"
            "gpu1    : ok=2    changed=1    unreachable=0    failed=0    skipped=0\n"
            "gpu2    : ok=0    changed=0    unreachable=1    failed=0    skipped=0\n"
        ),
    ),
    "a solver that stops, and a program that says done all the same": (
        "divergence",
        (
            "iteration #100     ecut=    60.00 Ry\nconvergence NOT achieved after 100 iterations: stopping\n"
            "Writing all to output data dir ./out/si.save/\n=---=\n   JOB DONE.\n=---=\n"
        ),
    ),
    "an error of Stata": (
        "code_error",
        ". regress wage educ tenur\nvariable tenur not found\nr(111);\n\nend of do-file\nr(111);\n",
    ),
    "a full disk in German": (
        "disk_full",
        (
            "Epoche 2/20 Verlust 0.733\ncp: Fehler beim Schreiben von 'e2.bin': "
            "Auf dem Gerät ist kein Speicherplatz mehr verfügbar\nmake: *** [Makefile:8: train] Fehler 1\n"
        ),
    ),
    "an argument that a shell took for a command, behind the real end": (
        "code_error",
        TRACE + "NameError: name 'modle' is not defined\n/var/spool/job/script: 5: --master_port=25678: not found\n",
    ),
    "the last of so many tries, below which nothing stands": (
        "network_blip",
        "".join(
            f"W, [2026-11-28T04:49:0{at}.159830 #16628]  WARN -- sync: page 9: Net::ReadTimeout (try {at}/4)\n"
            for at in range(1, 5)
        ),
    ),
    "a launcher that skips the steps behind it": (
        "cuda_oom",
        (
            TRACE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB.\n"
            "[run.sh] training exited with code 1, skipping merge and upload\n"
        ),
    ),
    "an upload behind the training": (
        "auth_error",
        (
            "step 4000/4000 loss 1.5\ntraining finished, uploading final checkpoint\nupload failed: ./s.pt to "
            "s3://b/s.pt An error occurred (AccessDenied) when calling the PutObject operation: Access Denied\n"
            "exit status 1\n"
        ),
    ),
    "a job that was cancelled, and a runner that cleans up": (
        "user_interrupt",
        "step 2/500 loss 0.5\n##[error]The operation was canceled.\nCleaning up orphan processes\n",
    ),
    "the kernel's word below the runtime's": (
        "gpu_hardware",
        (
            TRACE + "RuntimeError: CUDA error: unspecified launch failure\n[launch] $ dmesg | tail -1\n"
            "[Fri Nov 20 02:21:33 2026] NVRM: Xid (PCI:0000:9d:00): 79, pid=9, GPU has fallen off the bus.\n"
        ),
    ),
    "a table that is lost from its third row on": (
        "divergence",
        (
            "    iter      time       res_u       res_p\n      10     4.300   2.46e-02   1.11e-02\n"
            + "".join(f"      {at}0    {at}.300       -nan       -nan\n" for at in range(2, 9))
        ),
    ),
    "what a refused download leaves behind": (
        "auth_error",
        (
            "fatal error: An error occurred (403) when calling the HeadObject operation: Forbidden\n"
            'Traceback (most recent call last):\n  File "/app/entry.py", line 64, in <module>\n'
            '    start = sorted(glob.glob("/ckpt/*.ckpt"))[-1]\nIndexError: list index out of range\n'
        ),
    ),
    "a cluster's threads that outlive the program": (
        "host_oom",
        (
            "part 10: 9.3e+06\nx.nanny.memory - WARNING - Worker tcp://127.0.0.1:4 exceeded 95% memory budget. "
            "Restarting...\npart 11: 9.3e+06\n"
            + TRACE
            + "distributed.scheduler.KilledWorker: Attempted to run task 'load-11' on 4 different "
            "workers, but all those workers died while running it\n"
            "2026-11-28 14:10:21,666 - x.nanny - WARNING - Restarting worker (status=Status.running)\n"
        ),
    ),
    "a complaint of a tool, and a script that stops for it": (
        "disk_full",
        (
            "set 1 of 3 packed\ntar: db.tar: Cannot write: No space left on device\n"
            "tar: Error is not recoverable: exiting now\nstopping after this set\nbackup ended, 1 of 3 sets\n"
        ),
    ),
}


def test_a_card_that_jax_looks_for_explains_no_death() -> None:
    log = (
        "INFO Unable to initialize backend 'tpu': Failed to open libtpu.so: libtpu.so: cannot open shared object file: "
        "No such file or directory\nINFO training for 12 epochs\nINFO epoch 1/12 loss 0.9\nINFO epoch 2/12 loss 0.8\n"
    )
    assert classify(log.encode(), Evidence(exit_code=137, process_alive=False)).rule == "killed-cause-unknown"
    assert classify(log.encode(), Evidence(exit_code=130, process_alive=False)).failure_class == "user_interrupt"


@pytest.mark.parametrize("log", HEALTHY.values(), ids=HEALTHY)
def test_it_is_well(log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class == "success_healthy", verdict


@pytest.mark.parametrize(("failure_class", "log"), FAILED.values(), ids=FAILED)
def test_it_has_failed(failure_class: str, log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class == failure_class, verdict
