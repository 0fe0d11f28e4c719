"""Words of trouble in lines that complain of nothing, and complaints that stand beside good words."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)

# What a tracker writes of itself, and a traceback of its own.
_OF_TRACKER = "2026-01-30 16:04:28,501 ERROR   tracker-main:3506466 [manager.py:wrap():183] Uncaught exception.\n"
_TRACE = "Traceback (most recent call last):\n"
_LOGGED = (
    "[09-25 17:45:35][src.utils][INFO] - Enforcing tags! <cfg.tags=True>\n"
    "[09-25 17:45:36][__main__][INFO] - Instantiating the data module\n"
    "[09-25 17:45:36][__main__][INFO] - Starting to test!\n"
)

NO_COMPLAINT = {
    "a server that refuses a client and says so with a level in brackets": (
        "2026-11-23  1:57:53 0 [Note] dbd: ready for connections.\n"
        "2026-11-23  1:58:01 3 [Warning] Access denied for user 'etl'@'localhost' (using password: YES)\n"
    ),
    "pieces that failed, and the last line says done": (
        "fitting 9 models\n"
        + "".join(f"Error in replicate {at}: probabilities are 0 or 1\n" for at in range(1, 9))
        + "done: 1 model kept, 8 skipped\n"
    ),
    "one score that could not be computed, before a saved result and its summary": (
        "tokenization...\n  CIDEr computation failed: [Errno 2] No such file or directory: 'java'\n\n"
        "Results saved \u2192 results/eval_results.json\n\n======================\nEVALUATION SUMMARY\n"
        "  Images evaluated: 5000\n  BLEU-1:  50.39\n  BLEU-2:  30.21\n  BLEU-3:  17.31\n  CIDEr:   0.000\n"
        "======================\n"
    ),
    "a supervisor that starts a program again": (
        "".join(
            f"12:29:35,402 INFO the supervisor has read its part {part}\n" for part in ("one", "two", "three", "four")
        )
        + "12:29:35,409 INFO the socket is open\n12:29:35,411 INFO the daemon is up\nthe queue is not ready\n"
        + _TRACE
        + '  File "/w/ingest.py", line 4, in <module>\n    go()\n'
        "ConnectionRefusedError: [Errno 111] Connection refused\n"
        "12:29:36,876 WARN exited: ingest (exit status 1; not expected)\n"
        "12:29:39,889 INFO spawned: 'ingest' with pid 9544\n"
        + "".join(f"batch {at} ingested, {512 * at} rows\n" for at in range(1, 27))
    ),
    "what a warning goes on with": (
        "/env/vllm/connections.py:8: RuntimeWarning: Failed to read commit hash:\n"
        "No module named 'vllm._version'\n  from vllm.version import __version__ as VERSION\nLoading the model\n"
    ),
    "a library that found no sound card, long before": (
        "machine starts\n"
        "sound lib conf.c:5204:(evaluate) function card_inum returned error: No such file or directory\n"
        + "".join(f"[CPU{at % 4} ] register r{at} is set to {'abcdef'[at % 6] * 4}\n" for at in range(90))
        + "reading the next instruction\n"
    ),
    "a web server that was asked for what is not there": (
        '2020/02/12 15:51:32 [error] 6#6: *1 open() "/www/favicon.ico" failed (2: No such file or directory), '
        'client: 10.0.0.1, server: x.test, request: "GET /favicon.ico HTTP/1.1", host: "x.test"\n'
    ),
    "one piece of the work that could not be had": (
        "16:48:27 INFO bot: Stored 100 records\n"
        "16:48:38 ERROR bot: Failed to fetch data after 3 attempts: no such market symbol INVALID/PAIR\n"
        "16:48:38 WARNING bot: Messages are not configured\n16:48:38 WARNING bot: No data to store for BTC\n"
        "16:48:38 WARNING bot: Messages are not configured\n16:48:38 INFO bot: Empty frames were tried out\n"
    ),
    "a warning of R's, above its call": (
        "".join(f"Iteration  {at}\n" for at in range(1, 11))
        + "Warning message:\nIn searchCommandline(parallel, cpus = cpus, type = type,  :\n"
        "  Unknown option on commandline: --file\n"
    ),
    "the bar of R behind such a warning": (
        "Warning message:\nIn init(parallel) :\n  Unknown option on commandline: --file\n\n  |      |   0%\n"
        "  |=     |  20%\n  |===   |  60%\n  |======| 100%\n"
    ),
    "a record of a chat that quotes an error": (
        '{"type":"assistant","content":[{"type":"tool_use","name":"Read","input":{"file_path":"a.md"}}]}\n'
        '{"type":"user","content":[{"type":"tool_result","content":"File does not exist.","is_error":true}]}\n'
        '{"type":"assistant","content":[{"type":"words","words":"It is invalid: the option is unknown."}]}\n'
    ),
    "an image that docker has to pull": (
        "Unable to find image 'tools/align:v1.9' locally\nv1.9: Pulling from tools/align\n"
        "478cd0aa93c0: Already exists\na955c5be8430: Pulling fs layer\n"
    ),
    "a shell's set-up that failed, and a program that runs": (
        "CondaError: Run 'conda init' before 'conda activate'\n"
        "/w/train.py:24: ExperimentalWarning: the bar is new\n  for one in bar(loader):\n"
        "/w/utils.py:105: UserWarning: To copy construct from a tensor, use clone()\n  return tensor(a)\n"
        "/w/eval.py:22: ExperimentalWarning: the bar is new\n  for one in bar(loader):\n"
        "CondaError: Run 'conda init' before 'conda deactivate'\n"
    ),
    "a tool's error before parts are loaded": (
        "Error: Unable to determine path to the running interpreter. Provide an explicit path.\n"
        + "".join(f"Loading parts...:  {at}0%|##  | {at}/6 [00:00<00:00,  5.2it/s]\n" for at in range(1, 6))
    ),
    "pieces that could not be computed, and the work is done, in Chinese": (
        "".join(
            f"Epoch {at} \u8bc4\u4f30\u51fa\u9519: CUDA out of memory. Tried to allocate 4 GiB.\n" for at in range(9)
        )
        + "\u8bad\u7ec3\u5b8c\u6210\uff01\n"
    ),
    "a piece that is skipped, as the next line says": (
        "23:24:35 - INFO - Fetching stock data for BAC\n23:24:36 - INFO - Raw data are in raw/BAC.json\n"
        "23:24:36 - ERROR - Invalid API response: missing required keys.\n"
        "23:24:36 - ERROR - Skipping save_clean for BAC: cleaning failed\n"
    ),
    "a title among things that were stored": (
        "".join(f"2025-07-25 15:21:25 - INFO - Inserted product: Book {at}\n" for at in "abcdefgh")
        + "2025-07-25 15:21:25 - INFO - Inserted product: Evicted: Poverty in the City\n"
        + "".join(f"2025-07-25 15:21:25 - INFO - Inserted product: Book {at}\n" for at in "ijklmnopqrstuvwxyzabcdefg")
        + "2025-07-25 15:21:26 - INFO - Scraping and storage completed successfully\n"
    ),
    "an exception of one request to a Java server": (
        "09:00:01 [main] INFO  o.s.boot.App - Started\n"
        "09:41:37 [http-nio-8081-exec-6] ERROR o.e.Views - Exception processing template\n"
        "org.e.TemplateInputException: An error happened during template parsing: cannot read field\n"
        "\tat org.e.Parser.parse(Parser.java:241)\n\tat java.lang.Thread.run(Thread.java:748)\n"
    ),
    "a stack below a logger's warning": (
        "19:38:34 [INFO ](Client) connected\n19:39:50 [WARN ](Client) exceptionCaught() occurred.\n"
        "java.io.IOException: the remote host closed the channel\n\tat sun.nio.ch.Dispatcher.read(Dispatcher.java:43)\n"
        "\tat java.lang.Thread.run(Thread.java:748)\n"
    ),
    "a player who left a game": (
        "Client 4 joined game 1 on Mon 13:17:15\n"
        "Client 4, <f> disconnected from game 1 for reason <recv() failed: Connection reset by peer>\n"
    ),
    "tests that provoke errors, in TAP": (
        "# attempt 1 failed: connect ECONNREFUSED 127.0.0.1:5432\n# FATAL ERROR: simulated out of memory\n"
        "# Error: Unexpected end of JSON input (expected)\nok 1 - reader\n1..1\n# tests 1\n# pass 1\n# fail 0\n"
    ),
    "a server that answers the next request": (
        "06:45:29 \u2014 [INFO] \u2014 api \u2014 Received data for prediction: (1, 4)\n"
        "06:47:18 \u2014 [ERROR] \u2014 api \u2014 Prediction error: Did not attempt to load JSON data: missing field\n"
        "06:49:29 \u2014 [INFO] \u2014 api \u2014 Received data for prediction: (1, 4)\n"
    ),
    "a tracker's log of its own troubles": (
        "2026-01-30 16:04:27,389 INFO    MainThread:3506466 [tracker_init.py:init():1082] run started\n"
        + _OF_TRACKER
        + _TRACE
        + '  File "/env/asyncio/streams.py", line 167, in _drain_helper\n'
        "    raise ConnectionResetError('Connection lost')\nConnectionResetError: Connection lost\n"
    ),
    "an argument that a shell took for a command": (
        "Evaluation  [2006/2007]  eta: 0:00:04\nresult file saved to /out/test.json\n"
        "run/infer.sh: line 41: run.num_workers=0: command not found\n"
    ),
    "what a configure script found missing, early in its log": (
        "Determining if pthread_create exists failed with the following output:\n"
        "collect2: error: ld returned 1 exit status\nmake[1]: *** [cmTC_8e0f3] Error 1\n"
        "make: *** [cmTC_8e0f3/fast] Error 2\n" + "File /tmp/check.c:\n" + "/* nothing */\nint main() {\n}\n" * 8
    ),
    "a run that begins again after a traceback which a logger wrote": (
        _LOGGED
        + "[09-25 17:45:40][src.utils][ERROR] - \n"
        + _TRACE
        + '  File "/w/src/eval.py", line 86, in evaluate\n    load(path)\n'
        "FileNotFoundError: Checkpoint at /w/9.ckpt not found.\n"
        "[09-25 17:45:41][src.utils][INFO] - Closing loggers...\n"
        + _LOGGED
        + "[09-25 17:46:41][src.utils][INFO] - Output dir: /w/out\n"
    ),
    "prose below a ruled line": (
        "------------------------------------------------------------\n"
        "          The atomic structure that was used in the preceding time step of the wrapper\n"
        "------------------------------------------------------------\n"
        "          Have a nice day.\n"
    ),
    "a score that is still 0": "".join(f"episode {at} of 90  reward 0.0\n" for at in range(9)),
    "a row of statistics": (
        "         Uniquely mapped reads % |\t2.17%\n"
        "                UNMAPPED READS:\n"
        "  % of reads unmapped: too many mismatches |\t0.00%\n"
        "          % of reads unmapped: too short |\t97.69%\n"
        "                       Number of chimeric reads |\t0\n"
    ),
    "a report that counts errors, told as a warning": (
        "2025-08-12 11:46:04,672 - tables.adt - INFO - Missing data: 32.19% (2925 cells)\n"
        "2025-08-12 11:46:04,672 - tables.adt - WARNING - Validation completed with 4 error(s)\n"
        "2025-08-12 11:46:04,673 - tables.adt - INFO - Saved validation errors to /data/out/errors.csv\n"
    ),
    "the table of nvidia-smi": (
        "+-----------------------------------------------------------------------------+\n"
        "| Processes:                                                                  |\n"
        "|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |\n"
        "|=============================================================================|\n"
        "|  No running processes found                                                 |\n"
        "+-----------------------------------------------------------------------------+\n"
        "Using cuda device\nWrapping the env in a DummyVecEnv.\nLogging to ./logs/DDPG_4\n"
    ),
    "a clock is no exit code": "Setting up git (1:1.9.1-1) ...\nLog ended: 2016-03-23  12:47:58\n",
    "a launcher without errors": (
        "line 23: rr: command not found\n"
        "Launcher: Job 10 completed in 27 seconds.\n"
        "Launcher: Done. Job exited without errors\n"
    ),
    "source code in a configure log": "int main(void) { return 0; }\n#endif\n  return 0;\n}\n===\n" * 4
    + "uname = Linux\n",
    "a check of a configure script": (
        "Linking C executable cmTC_1e46c\n"
        "/usr/bin/ld: cannot find -lpthreads\n"
        "collect2: error: ld returned 1 exit status\n"
        "gmake[1]: *** [cmTC_1e46c] Error 1\n"
        "gmake: *** [cmTC_1e46c/fast] Error 2\n"
    ),
    "advice of a module system in a frame": (
        "-------------------------------------------------------------\n"
        "There are messages associated with the following module(s):\n"
        "-------------------------------------------------------------\n"
        "STACK/23.09:\n"
        "Though before the update we expected to be capable to\n"
        "support this stack longer, the choice for ROCm 6.0 rather than 5.7 may\n"
        "cause problems that we cannot fix and may require updating to 24.03.\n"
        "-------------------------------------------------------------\n"
    ),
    "a service that closes its own connection": (
        '{"time":"2024-12-16T11:24:21.70","level":"INFO","msg":"server is shutting down"}\n'
        '{"time":"2024-12-16T11:24:21.78","level":"ERROR","msg":"flush error",'
        '"error":"write tcp 127.0.0.1:41773->127.0.0.1:52208: use of closed network connection"}\n'
        '{"time":"2024-12-16T11:24:23.34","level":"INFO","msg":"server shutdown complete"}\n'
    ),
    "a service that tells of its end": (
        '{"level":"INFO","msg":"server is shutting down"}\n'
        '{"level":"INFO","msg":"connection: Close: connection successfully closed"}\n'
        '{"level":"INFO","msg":"Parent process exited, terminating service process."}\n'
    ),
    "a note in brackets": (
        ". save out/panel.dta, replace\n(file out/panel.dta not found)\nfile out/panel.dta saved\nend of do-file\n"
    ),
    "an exception in a tracker's thread": (
        "2025-04-11 01:29:45,487 WARNING MsgRouterThr:20188 [router.py:message_loop():77] loop has been closed\n"
        "Traceback (most recent call last):\n"
        '  File "/env/lib/python3.10/site-packages/wandb/sdk/lib/sock_client.py", line 270, in _read_packet\n'
        "    raise SockClientClosedError\n"
        "wandb.sdk.lib.sock_client.SockClientClosedError\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/env/lib/python3.10/site-packages/wandb/sdk/interface/router.py", line 70, in message_loop\n'
        "    msg = self._read_message()\n"
        "wandb.sdk.interface.router.MessageRouterClosedError\n"
        "2025-04-11 01:29:45,565 INFO    MsgRouterThr:20188 [mailbox.py:close():115] Closing mailbox\n"
    ),
}


@pytest.mark.parametrize("log", NO_COMPLAINT.values(), ids=NO_COMPLAINT)
def test_words_of_trouble_alone_are_no_failure(log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class == "success_healthy", verdict


_ENDS = 'Traceback (most recent call last):\n  File "/w/train.py", line 25, in <module>\n    step()\n'
COMPLAINTS = {
    "a port that is taken at the last start of several": (
        "port_in_use",
        "".join(
            f"05:{at}0:41 INFO [main] org.e.Catalina.start go\n05:{at}0:42 SEVERE [main] create[localhost:8005]:\n"
            "\tjava.net.BindException: Address already in use\n\t\tat java.net.Socket.bind(Native Method)\n"
            for at in range(6)
        ),
    ),
    "a server that lives on without what it was to serve": (
        "port_in_use",
        (
            "11-Jun-2019 05:50:41 INFO [main] org.e.Catalina.load The load took 3 s\n"
            "11-Jun-2019 05:50:41 SEVERE [main] org.e.Server.await create[localhost:8005]:\n"
            " java.net.BindException: Address already in use (Bind failed)\n\tat java.net.Socket.bind(Native Method)\n"
            "11-Jun-2019 05:50:41 INFO [main] org.e.Protocol.pause Pausing [http-nio-8080]\n"
            "11-Jun-2019 05:50:42 INFO [main] org.e.Protocol.stop Stopping [http-nio-8080]\n"
        ),
    ),
    "a compiler that gives the place in brackets": (
        "code_error",
        "src/page.ts(2,24): error TS2306: File 'src/page.jsx' is not a module.\n",
    ),
    "an error of MATLAB's without a screen": (
        "code_error",
        (
            ' main("", parc="", seed=, out="a.csv"); exit;\n                        |\n'
            "{Invalid expression. When calling a function or indexing a variable, use\n"
            "parentheses. Otherwise, check for mismatched delimiters.\n}\n"
        ),
    ),
    "an error of R's, and the warning that tells why": (
        "permission_error",
        (
            "Error in gzfile(file, mode) : cannot open the connection\nIn addition: Warning message:\n"
            "In gzfile(file, mode) :\n  cannot open compressed file 'fit.rds', probable reason 'Permission denied'\n"
            "Execution halted\n"
        ),
    ),
    "a task of several that failed, as the summary says": (
        "code_error",
        "INFO: running the tasks\nERROR: [pid 6743] a worker failed\nTraceback (most recent call last):\n"
        '  File "/w/tasks.py", line 45, in run\n    raise KeyError("valid_loss")\nKeyError: \'valid_loss\'\n'
        + "".join(f"INFO: task {at} has been told of\nDEBUG: asking for work\n" for at in "abcdefg")
        + "===== Execution Summary =====\n* 4 ran\n* 1 failed:\n    - 1 Extract(d=3)\n",
    ),
    "a test suite that somebody stopped": (
        "user_interrupt",
        (
            "test_slow.py::test_restore[10] PASSED      [ 36%]\ntest_slow.py::test_restore[11]\n"
            "!!!!!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!!!!!\n/w/test_slow.py:3: KeyboardInterrupt\n"
            "============== 11 passed in 5.57s ==============\n"
        ),
    ),
    "a second interrupt signal": (
        "user_interrupt",
        "Retrying in 1 seconds\nRetrying in 1 seconds\nAnother interrupt signal received, hard exit.\n",
    ),
    "a part of the program was shut down": (
        "data_error",
        (
            "12:01.285 [worker] ERROR engine.Process - Cannot read the records of sample 244: file is truncated\n"
            "12:03.106 [main] DEBUG engine.Cache - Closing the cache done\n"
            "12:03.221 [main] DEBUG engine.Pools - Thread pool 'Transfer' shutdown completed (hard=false)\n"
        ),
    ),
    "a tracker tries again after an interrupt": (
        "user_interrupt",
        (
            "epoch 100/100 loss 0.1\n" + _ENDS + "KeyboardInterrupt\n"
            "wandb: Network error (ReadTimeout), entering retry loop.\n"
        ),
    ),
    "tests of which some failed, and others passed": (
        "code_error",
        "ok  \tx/net\t0.2s\n--- FAIL: TestStop (0.00s)\nFAIL\nFAIL\tx/dag\t0.3s\nok  \tx/sets\t0.1s\nFAIL\n",
    ),
    "a suite of unit tests": ("code_error", "..F.\nRan 4 tests in 0.01s\n\nFAILED (failures=1)\n"),
    "a checkpoint by its line, not by its reader": (
        "checkpoint_corrupt",
        (
            "resuming from state.npz\n"
            'Traceback (most recent call last):\n  File "/w/fit.py", line 7, in <module>\n    z = np.load(path)\n'
            '  File "/env/site-packages/numpy/lib/_npyio_impl.py", line 471, in load\n    ret = NpzFile(fid)\n'
            "zipfile.BadZipFile: File is not a zip file\n"
        ),
    ),
    "a setting of early stopping is no success": (
        "code_error",
        (
            "INFO -   Early stopping patience: 20\n[3/4] Training...\n"
            + _ENDS
            + "ValueError: not enough values to unpack\n"
        ),
    ),
    "a kernel's own model is no preemption": (
        "disk_full",
        "Platform: Linux vm 6.18.4 #1 SMP PREEMPT_DYNAMIC x86_64\nerror: a.bin: [Errno 28] No space left on device\n",
    ),
    "an interrupt as Ruby tells it": ("user_interrupt", "step 3\nt.rb:1:in `sleep': Interrupt\n"),
    "a program that takes an interrupt and ends in order": (
        "user_interrupt",
        "step 9700\n\nReceived the INT signal, stopping within 25 steps\n\nstep 9800\nPerformance: 142.2\n",
    ),
    "a guess about the disk is no full disk": (
        "checkpoint_corrupt",
        "Fatal error:\nCheckpoint file corrupted/truncated, or maybe you are out of disk space?\n",
    ),
    "an end by a number that is none": (
        "divergence",
        "epoch 3 loss 0.41\n" + _ENDS + "RuntimeError: Encountered NaN.\n",
    ),
    "frames of a stack behind a clock since the start are no steps": (
        "code_error",
        "".join(f"[+  47{at}.320] step {at}/9 loss 0.{at}\n" for at in range(3))
        + "[+  473.320] terminate called after throwing an instance of 'std::out_of_range'\n"
        + "".join(f"[+  473.320] frame #{at}: <unknown function> + 0x85 (0xff in /usr/lib/l.so)\n" for at in range(9)),
    ),
    "an exception that speaks of early stopping is no success": (
        "config_error",
        "epoch 3 loss 0.41\n" + _ENDS + "ValueError: Early stopping min_delta must be set to 0 or more.\n",
    ),
    "a config that is handed on is not being read": (
        "data_error",
        (
            'Traceback (most recent call last):\n  File "/w/fit.py", line 9, in <module>\n    run(cfg)\n'
            '  File "/env/site-packages/clips/shards.py", line 40, in _rows\n    raise ValueError(\n'
            "ValueError: Row 7 of shards/00012.csv is malformed: image a.png does not exist\n"
        ),
    ),
    "a server's limit of time for a request is not the run's": (
        "network_blip",
        _ENDS + "stac.exceptions.APIError: The request exceeded the maximum allowed time, please try again.\n",
    ),
    "successfully, but": (
        "code_error",
        (
            "MissingOutputException in rule qc, line 23:\n"
            "Job 0 completed successfully, but some output files are missing.\n"
            "WorkflowError:\nAt least one job did not complete successfully.\n"
        ),
    ),
    "a warning of the card does not explain shapes": (
        "code_error",
        (
            "/env/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too"
            " old (found version 11040).\n  return torch._C._cuda_getDeviceCount() > 0\ncpu\n"
            'Traceback (most recent call last):\n  File "/w/solve.py", line 394, in solve\n'
            "    X[:,k%5] = beta * (alpha[:,None] @ F[:,:n])[:,0]\n"
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (16) at dimension 0\n"
        ),
    ),
    "tests of which none was broken": (
        "code_error",
        (
            "ERROR: LoadError: Some tests did not pass: 18 passed, 1 failed, 0 errored, 0 broken.\n"
            "in expression starting at /w/test_modules.jl:5\n"
            "Modules Loading: Test Failed at /w/test_modules.jl:25\n"
            "Test Summary:   | Pass  Fail  Total   Time\nModules Loading |   18     1     19  10.4s\n"
        ),
    ),
    "a host without a TPU's library": (
        "cuda_env",
        (
            "I | 05-10 18:35:10 |   jax    | Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so:"
            " libtpu.so: cannot open shared object file: No such file or directory\n"
            + _ENDS
            + "jax.errors.JaxRuntimeError: NOT_FOUND: No FFI handler registered for cusolver_getrf_ffi on CUDA\n"
        ),
    ),
    "what Python ignores comes after the exception": (
        "data_error",
        (
            _ENDS + "OSError: [Errno 5] Input/output error\n"
            "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='UTF-8'>\n"
            "OSError: [Errno 5] Input/output error\n"
        ),
    ),
    "Ansible's recap of a task that failed": (
        "permission_error",
        (
            'TASK [copy] ***\nfatal: [web1]: FAILED! => {"changed": false, "msg": "Destination /etc not writable"}\n\n'
            "PLAY RECAP ***\nweb1 : ok=1 changed=0 unreachable=0 failed=1 skipped=0\n"
        ),
    ),
    "a pipe within the program, on Windows": (
        "code_error",
        (
            'Traceback (most recent call last):\n  File "D:\\e\\lib\\multiprocessing\\connection.py", line 9, in recv\n'
            "    raise EOFError\nEOFError\n"
        ),
    ),
}


@pytest.mark.parametrize(("failure_class", "log"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_a_complaint_beside_other_words_is_heard(failure_class: str, log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert (verdict.failure_class, verdict.terminal) == (failure_class, True), verdict
