"""What a script says behind its program, whatever became of it: leave-taking, listings, codes of its steps, cleanup."""

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
STEPS = "".join(f"step {at}/1000 loss {2 - at / 1000:.3f}\n" for at in range(0, 500, 100))
RUST = "error[E0382]: borrow of moved value: `v`\n  --> src/m.rs:4:9\nerror: could not compile `svc` due to 1 error\n"
IMPORT = (
    'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
    "ImportError: cannot import name 'scale' from 'ops' (/w/ops.py)\n"
)
TRACE = 'Traceback (most recent call last):\n  File "t.py", line 3, in <module>\n    f()\n'
HF = 'Traceback (most recent call last):\n  File "/w/eval.py", line 9, in <module>\n    load()\n'
FAILED = {
    "a full disk, and a claim that the file is there": (
        "disk_full",
        "aligning\ntee: out.sam: No space left on device\n30000\nwrote out.sam\n",
    ),
    "a full disk, and a script that counts on": (
        "disk_full",
        "row 500 of 4000\ntee: /mnt/s/out.csv: No space left on device\n"
        + "".join(f"row {row} of 4000\n" for row in range(1000, 4001, 500))
        + "wrote /mnt/s/out.csv\n",
    ),
    "a full disk, and a word of success": (
        "disk_full",
        "dump of users\ngzip: stdout: No space left on device\ndump of orders\nbackup complete: users.sql.gz\n",
    ),
    "a full disk, and a program that sees no point in going on": (
        "disk_full",
        "state 11\nstate 12\n   cannot save state 12: the disk is full (/mnt/s)\nno point in going on without states\n",
    ),
    "a record that says of itself that it is not ok": (
        "data_error",
        '{"step": 1, "ok": true}\n{"step": 2, "ok": true}\n{"ok": false, "why": "index is older than the data"}\n',
    ),
    "an event that is no step": (
        "divergence",
        '{"ev": "step", "loss": 3.1}\n{"ev": "step", "loss": 66.0}\n{"ev": "halt", "reason": "loss above ceiling"}\n',
    ),
    "who reads it is to set something, and to start it again": (
        "config_error",
        "reading job.env\nplease set OUT, EPOCHS in job.env and start again\n",
    ),
    "who reads it is to log in again": (
        "auth_error",
        "chunk 0 stored\nchunk 1 stored\nsession has run out, please log in again (chunks 0-1 are safe)\n",
    ),
    "its time is up": ("time_limit", "step 13 of 1000\ntime is up after step 13 of 1000, results so far in part.csv\n"),
    "a task of asyncio that leaves the program": (
        "network_blip",
        (
            "object 0 done\nTask exception was never retrieved\n"
            "future: <Task finished name='Task-1' coro=<main() done> exception=SystemExit('mirror is incomplete')>\n"
            'Traceback (most recent call last):\n  File "/w/aio.py", line 12, in one\n    raise SystemExit(text)\n'
            "SystemExit: mirror is incomplete\n"
        ),
    ),
    "Go's runtime, behind a step that is finished": (
        "code_error",
        (
            "sampling 50\nsampling finished, aggregating\nfatal error: all goroutines are asleep - deadlock!\n\n"
            "goroutine 1 [semacquire]:\nmain.main()\n\t/w/main.go:13 +0x327\n"
        ),
    ),
    "tests that failed, and many that did not": (
        "code_error",
        "collected 12 items\n"
        + "".join(f"test_a.py::test_{at} PASSED\n" for at in range(9))
        + "FAILED tests/test_a.py::test_env - AssertionError: assert '1' is None\n"
        "========= 1 failed, 9 passed, 1 skipped, 1 xfailed, 1 warning in 0.09s =========\n",
    ),
    "none of many was written": (
        "config_error",
        (
            "part0 not embedded: [Errno 2] No such file or directory: '/d/part0.npy'\n"
            "part1 not embedded: [Errno 2] No such file or directory: '/d/part1.npy'\n"
            "embedding job done, 0 vectors written to emb/\n"
        ),
    ),
    "a verdict": ("code_error", "[ OK ] scratch 0.01s\n[FAIL] drift 8.1 sigma\nverdict: NO-GO (1 failing)\n"),
    "the job is not complete": (
        "time_limit",
        (
            "step 140/400\nstep 160/400\n"
            "wall clock budget of 5 s used up at step 160 of 400; snapshot written to b.pt, job not complete\n"
        ),
    ),
    "it gave up after its tries": (
        "network_blip",
        "page 4 ok\n"
        + "".join(f"page 5: HTTP Error 502: Bad Gateway; backoff 0.{at}s\n" for at in (1, 2, 4, 8))
        + "page 5: gave up after 5 tries, upstream unavailable\n",
    ),
    "a code of timeout(1), in words": ("time_limit", "draw 4/50\ndraw 5/50\nrc 124\n"),
    "an exception nobody caught, and a step more of another thread": (
        "cuda_oom",
        "".join(f"2026-11-21 03:15:01,{at:03} INFO data.py: reading part {at} from the cache\n" for at in range(60))
        + 'Traceback (most recent call last):\n  File "/home/u/train.py", line 88, in <module>\n    loss.backward()\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.3 GiB in total\n"
        "2026-11-21 03:15:01,061 INFO data.py: reading part 61 from the cache\n",
    ),
    "what a program in C++ has thrown": (
        "checkpoint_corrupt",
        (
            "solver ready\nterminate called after throwing an instance of 'std::runtime_error'\n"
            "  what():  checkpoint w.ck has 500 bytes, expected 800\n"
        ),
    ),
    "a signal that tells of a time limit": (
        "time_limit",
        (
            "mc: 800000 samples, error 2.9e-04\nmc: 900000 samples, error 3.9e-04\n"
            "mc: got signal 10 (time limit of the batch system is near), writing restart file\n"
        ),
    ),
    "an errno of space, among words of other things": (
        "disk_full",
        (
            'Traceback (most recent call last):\n  File "agg.py", line 5, in run\n    json.dump(rows, out)\n'
            "OSError: [Errno 28] No space left on device\n===== Execution Summary =====\nScheduled 2 tasks of which:\n"
            "* 1 ran successfully:\n* 1 failed:\n    - 1 Agg(day=2026-11-29)\n"
            "This progress looks :( because there were failed tasks\n"
        ),
    ),
    "a tracker's own exception, which the program does not catch": (
        "auth_error",
        (
            'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
            '  File "/v/lib/python3.11/site-packages/wandb/sdk/wandb_init.py", line 1464, in init\n'
            "    wi.maybe_login(init_settings)\n"
            "wandb.errors.errors.UsageError: No API key configured. Use `wandb login` to log in.\n"
        ),
    ),
    "a reason of its own, below a remark on what was assumed": (
        "data_error",
        (
            "  ! 'utf-8' codec can't decode byte 0xe9 in position 10: invalid continuation byte -> latin-1 is assumed\n"
            "REJECTED: only 13 of 650 pieces are left after cleaning, corpus is unusable\n"
        ),
    ),
    "a sample that cannot be read, though it is a tensor": (
        "data_error",
        (
            'Traceback (most recent call last):\n  File "/v/torch/utils/data/_utils/fetch.py", line 54, in fetch\n'
            "    data = [self.dataset[i] for i in indices]\n"
            '  File "/w/train.py", line 14, in __getitem__\n    return torch.load(self.files[i])\n'
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n"
        ),
    ),
    "weights that may not be written": (
        "permission_error",
        (
            'Traceback (most recent call last):\n  File "/w/t.py", line 9, in <module>\n    save_file(weights, path)\n'
            "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 13, kind: PermissionDenied, "
            'message: "Permission denied" })\n'
        ),
    ),
    "a signal of who wants the machine back, as the last line of all": (
        "preempted",
        "".join(f"Epoch [9/40] Iter [{at}/32] loss 0.{80 - at} {at / 10}s\n" for at in range(0, 24, 4))
        + "caught SIGTERM (instance is being reclaimed), checkpoint written to ckpt/last.pt, exiting\n",
    ),
    "a pipe whose first command is not there": (
        "config_error",
        "step 1: convert\nbash: line 1: nosuchtool: command not found\n\ngzip: stdin: unexpected end of file\n",
    ),
    "a pipe with a name that is not set": (
        "config_error",
        (
            "unpack\nrun.sh: line 9: ARCHIVE_DIR: unbound variable\ntar: This does not look like a tar archive\n"
            "tar: Exiting with failure status due to previous errors\n"
        ),
    ),
    "the headline of a traceback, and no more of it": ("code_error", "Traceback (most recent call last):"),
    "Ruby, a number that is none": (
        "data_error",
        "-e:1:in `Integer': invalid value for Integer(): \"4x\" (ArgumentError)\n\tfrom -e:1:in `<main>'\n",
    ),
    "Ruby, a call that does not fit": (
        "code_error",
        "r.rb:2:in `f': wrong number of arguments (given 1, expected 2) (ArgumentError)\n\tfrom r.rb:3:in `<main>'\n",
    ),
    "a step's code, and the cleanup as the last of all steps": (
        "network_blip",
        (
            "step 12/14 fetch\nerror: failed to get `serde`\n\nCaused by:\n  [7] Could not connect to server\n"
            "step 13/14 rc=101\nstep 14/14 cleanup ok\n"
        ),
    ),
    "a compiler's error, the step's code, a step that tidies up": (
        "code_error",
        f"step 1/5: checkout\nstep 2/5: fetch\n{RUST}step 3/5: rc 101\nstep 5/5: cleanup\n",
    ),
    "later steps are left out, and the script says done": (
        "code_error",
        (
            f"run_all.sh: step stage ok\n{IMPORT}run_all.sh: step featurize rc=1\nrun_all.sh: step train skipped\n"
            "run_all.sh: done\n"
        ),
    ),
    "a file that cannot be written, a reload that is left out": (
        "permission_error",
        (
            "rule 1 compiled\nrule 2 compiled\ncannot persist routes: open conf/routes.json: permission denied\n"
            "apply step exit=1\nreload skipped\nagent run finished\n"
        ),
    ),
    "a lost loss, the code, plots that are drawn all the same": (
        "divergence",
        (
            "12:01 INFO app : step 135 loss 0.17\n12:01 INFO app : step 140 loss 0.05\n"
            "12:01 CRITICAL app : Loss is inf, stopping training\ntrain.sh: exit 1\ntrain.sh: plots written\n"
        ),
    ),
    "tests that fail, a target that ends with 1, logs that are uploaded": (
        "code_error",
        (
            "=== RUN   TestPad\n--- FAIL: TestPad (0.00s)\nFAIL\nFAIL\tx\t0.013s\nFAIL\n//x:test finished (1)\n"
            "INFO: Build completed, uploading logs\n"
        ),
    ),
    "make is stopped, and an epilogue lists what there is": (
        "user_interrupt",
        (
            "preflight\nOK\n  CC  a.o\nmake: *** [Makefile:2: b.o] Interrupt\n--- epilog ---\ntotal 32\n"
            "-rw-r--r--   1 u u    60 2026-11-29 Makefile\n12K\t.\n 14:43:47 up 10:01,  0 user,  load average: 2.0, 2\n"
        ),
    ),
    "a program's code, and the only trouble that the log names": (
        "disk_full",
        "Fortran runtime error: No space left on device\n"
        + "".join(f" snapshot {at:2d} t= {at / 4:.3f}\n" for at in range(1, 12))
        + "wrapper: model status 2\nwrapper: logs copied\n",
    ),
    "none of the jobs could be handed in": (
        "config_error",
        "".join(f"submitting {one}\nsbatch: error: invalid partition specified: gpu-long\n" for one in "abc")
        + "submit_sweep: submitted 0 of 3 jobs\n",
    ),
    "all pieces are skipped, and the loop is at its end": (
        "network_blip",
        "".join(f"sample {at}/12: request failed (HTTP 503), skipping\n" for at in range(1, 13))
        + "Evaluated 0 samples.\naccuracy: nan\nReport written to report.html\nAll done!\n",
    ),
    "no gate lets the result through": (
        "code_error|config_error|data_error|divergence",
        (
            "step 900/1000\nstep 1000/1000\neval: accuracy 0.52 (required >= 0.80)\n"
            "model rejected by quality gate, not published\ntemporary files removed\nend\n"
        ),
    ),
    "a loop that stops before its end, without saving": (
        "code_error|data_error|hang_stall|network_blip",
        (
            f"{STEPS}still waiting for feeder (120s)\nfeeder did not come back, stopping here without saving\n"
            "shutting down gracefully\nGoodbye.\n"
        ),
    ),
    "a supervisor gives up after the same damaged file": (
        "checkpoint_corrupt",
        "".join(
            f"[supervisor] starting server (try {at})\nserver: weights file truncated at 3221225472 bytes\n"
            "[supervisor] server exited, restarting in 5s\n"
            for at in range(1, 5)
        )
        + "[supervisor] giving up after 4 tries\n[supervisor] stopping the exporter\n[supervisor] uptime was 61 s\n",
    ),
    "in German, and the cleanup is done": (
        "data_error",
        "Epoche 3/5: Verlust 1,120\nFehler: teil4.npz: Prüfsumme stimmt nicht\nAbbruch.\nAufräumen fertig.\n",
    ),
    "a traceback behind a bar, which is drawn once more": (
        "quota_exceeded",
        (
            "a-1.bin: 100%|██████| 4.98G/4.98G [01:58<00:00, 41.9MB/s]\n"
            f"a-2.bin:  61%|████  | 3.05G/5.00G [01:14<00:47, 41.2MB/s]{HF}OSError: [Errno 122] Disk quota exceeded\n\n"
            "a-2.bin:  61%|████  | 3.05G/5.00G [01:15<00:48, 40.6MB/s]\n"
            "srun: error: c1: task 0: Exited with exit code 1\n"
        ),
    ),
    "a logger of comma-separated fields gives up": (
        "auth_error",
        "".join(
            f"2026-11-29 14:28:{at},101,worker,WARNING,redis not reachable (attempt {at - 9}/12): invalid "
            "username-password pair or user is disabled.\n"
            for at in range(10, 22)
        )
        + "2026-11-29 14:28:53,373,worker,CRITICAL,giving up, no broker\n",
    ),
    "a loss that is none any more, in Japanese": (
        "divergence",
        "".join(f"エポック {at}/8 損失 {'nan' if at > 4 else 0.5} 誤り率 9%\n" for at in range(1, 9)) + "終了\n",
    ),
    "an allocation that is too large, in Korean": (
        "host_oom",
        "에폭 2/3 손실 1.4\n오류: 메모리가 부족합니다\n종료합니다\n",
    ),
    "timeout ended the trainer": (
        "time_limit",
        f"{STEPS}run.sh: walltime of 6s used up, timeout killed the trainer (124)\n",
    ),
    "curl again and again, given up, and a cleanup": (
        "network_blip",
        "".join(
            f"[fetch] attempt {at}/3: http://127.0.0.1:1859/e\ncurl: (7) Failed to connect to 127.0.0.1 port 1859\n"
            f"[fetch] failed, backing off {at}s\n"
            for at in range(1, 4)
        )
        + "[fetch] giving up after 3 attempts\n[cleanup] removing partial files\n[cleanup] done\n",
    ),
    "a flag that is not known, and a wrapper that has synced": (
        "config_error",
        (
            "FATAL Flags parsing error: Unknown command line flag 'learning_rate'\n"
            "Pass --helpshort or --helpfull to see help on flags.\n[wrapper] main container finished: exit 1\n"
            "[wrapper] sync done\n"
        ),
    ),
    "a part of the collections, and the sync is aborted": (
        "network_blip",
        (
            "users: synced\nboards: HTTP 503 Service Unavailable (attempt 5/5)\nERROR boards: still a 503, "
            "giving up\nsync aborted: 2/4 collections done\n"
        ),
    ),
    "no step was done": (
        "cuda_oom",
        "torch.OutOfMemoryError: CUDA out of memory.\n0 steps done, bye\n",
    ),
    "a script counts behind a program that died": ("code_error", f"{TRACE}KeyError: 'a'\n12 samples processed\n"),
    "no job was handed in": (
        "config_error",
        "sbatch: error: Batch job submission failed: Requested node configuration is not available\n0 jobs submitted\n",
    ),
    "in Chinese, and the program has ended": ("disk_full", "错误\uff1a磁盘空间不足\n程序结束\n"),
    "what could not be saved has damaged nothing": (
        "disk_full",
        "step 1/9 loss 1\nsaving checkpoint ... failed (0 bytes written)\nexiting\n",
    ),
    "what is asked of a database behind a remark of sudo": (
        "code_error",
        (
            'could not change directory to "/srv/jobs": Permission denied\n'
            "psql:m.sql:8: ERROR:  column o.customer_id does not exist\nmigrate: psql returned 3\n"
        ),
    ),
}
HEALTHY = {
    "a result of which two parts were left out": (
        "  tile 08 on pid 7398\ntile 07 left out: cloud cover above limit\n  tile 09 on pid 7397\n"
        "mosaic of 8 tiles written; 2 left out ([3, 7])\n"
    ),
    "bare counts below a step": "building lookup table of user embeddings\n"
    + "".join(f"  {rows} rows\n" for rows in range(50000, 300001, 50000)),
    "a row that was bad, and more rows": "".join(f"I,  INFO -- : row {row} in\n" for row in (1, 2))
    + "E,  ERROR -- : row 3: bad date (ArgumentError)\n"
    + "".join(f"I,  INFO -- : row {row} in\n" for row in range(4, 8))
    + "W,  WARN -- : 1 row rejected\nI,  INFO -- : import ended\n",
    "a file that could not be read, and the one before": (
        "30/11/26 11:37:26 >> cannot load e300.pth, trying the one before\nTraceback (most recent call last):\n"
        '  File "/w/fb.py", line 10, in <module>\n    load(f)\nOSError: [Errno 22] Invalid argument\n'
        "30/11/26 11:37:26 >> loaded e200.pth\n"
        + "".join(f"30/11/26 11:37:26 >> it {at} energy {90 - at / 4}\n" for at in range(200, 360, 25))
        + "30/11/26 11:37:26 >> relaxation finished\n"
    ),
    "what is sent later": (
        "13:23:01 tick=12 load=5.50\n13:23:01 tick=13 load=5.50\n13:23:02 tick=14 load=5.50\n"
        "curl: (22) The requested URL returned error: 503\n"
        "  push to collector not accepted, will be sent with the next tick\n"
    ),
    "one of all, which was done again": (
        "vol_001 ok, 11.2 GB\nvol_003 CUDA out of memory, redone in 4 patches, ok\n31 of 31 volumes\n"
    ),
    "all of them are good": "part 22: unexpected end of file, fetched again, good\n31 good, 0 bad\n",
    "none of many failed": "val: 0 of 5000 images failed to decode\nval: top1 76.1\n",
    "mirrors that failed, each with its code, and what they were to bring": (
        "vocoder\n  mirror :8811 failed (wget exit 4)\n  vocoder 200000 bytes from :8812\nacoustic\n"
        "  mirror :8811 failed (wget exit 4)\n  acoustic 300000 bytes from :8812\n62951f943c41cdd3\nmodels ready\n"
    ),
    "some were done, and some could not be": (
        "! old/w9.log.gz fails the integrity test, will be redone next night\n"
        "! gzip: old/wa.log: No such file or directory\nrecompressed 8 files, 2 could not be processed\n"
    ),
    "a full disk, and another one": (
        "epoch 1 loss 0.41\ncp: error writing '/mnt/s/e1.pt': No space left on device\nfalling back to /data\n"
        "epoch 2 loss 0.38\nepoch 3 loss 0.36\ncopied to /data/e3.pt\n"
    ),
    "parts that failed with a traceback, and a count of them above the end": (
        "INFO tile 1 ok\n"
        + 2
        * (
            "INFO tile skipped\nTraceback (most recent call last):\n"
            '  File "/w/seg.py", line 13, in <module>\n    one.result()\nzipfile.BadZipFile: File is not a zip file\n'
        )
        + "INFO masks: 37 written, 2 failed\nINFO segmentation finished\n"
    ),
    "a complaint that a server has again and again": "".join(
        f"10:54:{at:02} [uncaught] TypeError: Cannot read properties of null (reading 'x')\n"
        f"10:54:{at:02} served {5 * at} errors {at}\n"
        for at in range(1, 8)
    )
    + "10:55:01 ERROR 500 /bad\n",
    "a pod that is up again": (
        "[prep 04] 41% 24G\n[prep 04] pod was OOMKilled (limit 64Gi), up again with 128Gi\n"
        "[prep 04] 43% from the journal, 12G\n[prep 04] 51% 21G\n[prep 04] 59% 30G\n"
    ),
    "a sweep whose last line counts what went well and what failed": (
        ">>> lr=0.1\n  it 25 mse 0.19\n  final 1e-5\n>>> lr=1.0\nTraceback (most recent call last):\n"
        '  File "one.py", line 5, in <module>\n    solve()\nRuntimeError: singular matrix\n<<< failed rc=1\n'
        ">>> lr=0.3\n  it 25 mse 0.12\n  final 2e-6\nsweep: 2 ok, 1 failed lr=1.0 rc=1\n"
    ),
    "trials that a search ends where they diverge": (
        "(trial 7) rung 1 lr=0.1 val_loss=0.31\n(trial 8) rung 1 lr=9.2 val_loss=nan\n"
        "(trial 8) status ERROR: loss is NaN, trial terminated by scheduler\n(trial 9) rung 1 lr=0.4 val_loss=0.29\n"
    ),
    "counts as Python shows them": (
        "in/a.txt read\nin/b.txt read\ncorpus: {'kept': 849, 'decode_error': 326, 'dup': 311} in 2 files\n"
    ),
    "a server that answers the next request": (
        "INFO:     Uvicorn running on http://127.0.0.1:8000\nERROR:    Exception in ASGI application\n"
        'Traceback (most recent call last):\n  File "/w/serve.py", line 9, in predict\n    return net(x)\n'
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 4x2)\n"
        'INFO:     127.0.0.1:39628 - "GET /health HTTP/1.1" 200 OK\n'
    ),
    "requests that fail one by one while the loop goes on": "".join(
        f'{{"done": {at}, "rejected": 0, "event": "progress", "level": "info"}}\n'
        f'{{"line": {at + 3}, "event": "request_failed", "level": "error", "exception": "Traceback (most recent call '
        f'last):\\n  File \\"s.py\\", line 3, in f\\nValueError: shapes do not match"}}\n'
        for at in range(0, 300, 50)
    )
    + '{"done": 300, "rejected": 6, "event": "progress", "level": "info"}\n',
    "a tool complains first, of what may not be there": (
        "rm: cannot remove 'old.csv': No such file or directory\n'/data/in.txt' -> 'a.txt'\n1200 rows copied to a.txt\n"
    ),
    "git looks for a branch and a remote": (
        "error: No such remote: 'origin'\nerror: branch 'tmp' not found.\nOn branch x\n2fa5a89 new split\n1ab82d8 c3\n"
    ),
    "a tool whose code 1 means a remark, and the backup": (
        "tar: /srv/logs/w3.log: file changed as we read it\ntar rc=1\nbackup ok: 86M\n"
    ),
    "a first pass that repaired, and a second one that found nothing": (
        "d.img: ***** FILE SYSTEM WAS MODIFIED *****\nfirst pass exit 1\nPass 1: Checking inodes\n"
        "d.img: 11/2048 files\nsecond pass exit 0\ncheck completed, all clean\n"
    ),
    "a step that is cancelled on purpose behind the training": (
        "step 55/60 loss 2.5\nstep 60/60 loss 2.4\ntraining complete\nslurmstepd-c1: error: *** STEP 24.0 ON c1 "
        "CANCELLED AT 2026-11-29T14:21:27 ***\n=== all steps done, profiler step stopped ===\n"
    ),
    "ranks that torchrun starts once more": (
        "[rank0] step 1 loss 0.9\n[rank1] step 1 loss 0.9\n[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/w/t.py", line 9, in <module>\n[rank1]:     read(3)\n'
        "[rank1]: OSError: [Errno 5] Input/output error: '/data/3.bin'\n"
        "E1129 14:42:17 13452 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 1"
        " (pid: 13637) of binary: /v/bin/python\n"
        + "".join(f"[r0 try1] INFO step {at} loss 0.{20 - at}\n" for at in range(10, 15))
        + "[r0 try1] INFO finished\n[r1 try1] INFO finished\n"
    ),
    "a helper that is stopped": "step 9/10 loss 0.4\nstep 10/10 loss 0.3\nstored\nlabel server stopped: Exit 143\n",
    "failures before that were transient": (
        "### join\nError: connect ETIMEDOUT 10.2.0.7:443\n!! 'step join' failed (try 1), sleeping\nstage join: copied\n"
        "### all stages complete; previous failures were transient\n"
    ),
    "a search whose own time is over": (
        "[  6.1s] pipeline 13 score 0.81\n[  6.3s] pipeline 14 score 0.84\n[  6.4s] time limit reached, no further "
        "pipelines are started\nbest model: pipeline 14; refit on all data; saved automl.pkl\n"
    ),
    "an event that was retried, and the code of the end": (
        '{"ts": 1, "event": "step", "n": 9}\n{"ts": 2, "event": "retry", "op": "upload", "attempt": 1, "error": '
        '"HTTPError: 503 Service Unavailable"}\n{"ts": 3, "event": "end", "status": "COMPLETED", "error": null, '
        '"exit_code": 0}\n'
    ),
    "unreadable files within what is allowed": (
        "read 12 files\ncompaction finished: 50 rows from 5 files; 2 unreadable files listed in bad.txt (allowed: 5)\n"
    ),
    "a task that came too late and was taken again": (
        "task-45 done\ntask-46 timed out after 0.03s, rescheduled\ntask-46 done\npipeline drained: 50 done, 0 failed\n"
    ),
    "a setting that names a signal": "watchdog: hang_timeout=30s kill_signal=SIGKILL\nwatchdog: cache alive\n",
    "advice for the case that": (
        "helm upgrade tiles ./chart\nSTATUS: deployed\nNOTES:\nIf pods are OOMKilled, raise resources.limits.memory.\n"
    ),
    "statements of SQL and titles of commits": (
        "INSERT INTO events VALUES(1,'h1','Out of memory: Killed process 13');\n96539cf handle fatal: disk full (3)\n"
        "dump verified: identical\nchangelog generated: 24 entries\n"
    ),
    "a driver's tool that is missing long before the work": (
        "run.sh: line 1: nvidia-smi: command not found\n"
        + "".join(f"table part_{at} exported\n" for at in range(1, 15))
        + "export finished, 14 tables\n"
    ),
    "Fortran stops where it should": "residual 1e-9\nresidual 1e-10\n STOP: normal end of run\n",
    "rows that are expected to name an error": "812 rows\nrows with status ERROR are expected: failed deliveries\n",
}


@pytest.mark.parametrize(("failure_class", "log"), FAILED.values(), ids=FAILED)
def test_it_has_failed(failure_class: str, log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class in failure_class.split("|"), verdict


@pytest.mark.parametrize("log", HEALTHY.values(), ids=HEALTHY)
def test_it_is_well(log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class == "success_healthy", verdict


def test_a_loop_that_stops_without_saving_has_not_finished() -> None:
    log = FAILED["a loop that stops before its end, without saving"][1].encode()
    progress = read_progress(log)
    assert (progress.current, progress.exact_max, progress.finished) == (400, 1000, False)
    assert with_progress(classify(log, FRESH), progress).terminal


def test_a_best_model_that_is_none_ends_no_run() -> None:
    progress = read_progress(f"{STEPS}validation set is empty\nbest model: none\nsee you next time\n".encode())
    assert progress.finished is not True


def test_a_full_disk_is_told_beside_an_exit_code_of_0_however_much_was_counted_since() -> None:
    log = FAILED["a full disk, and a script that counts on"][1].encode()
    assert classify(log, Evidence(exit_code=0)).rule == "exit-0-beside-a-fault"


def test_shards_that_are_all_loaded_settle_no_complaint_of_another_rank() -> None:
    log = "RuntimeError: Expected all tensors to be on the same device, cuda:2 and cpu!\n"
    bar = "Loading checkpoint shards: 100%|##########| 2/2 [07:45<00:00, 232.76s/it]\n"
    assert classify(f"loading\n{log}{bar}".encode(), Evidence(log_age_seconds=30.0)).failure_class == "code_error"
