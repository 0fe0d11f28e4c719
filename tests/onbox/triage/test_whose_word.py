"""What a driver, a runtime or a scheduler says itself is not read otherwise, whatever is told around it."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
STEPS = "".join(f"[epoch:{at}/1200] [loss:0.00{90 - at}] [lr:0.0{90 - at}] [total time:0:02:26]\n" for at in range(12))
BARS = "".join(f"Iteration:  {at}%|# | {at * 10}/1000 [07:3{at}<29:35,  1.42s/it]\r" for at in range(1, 9))
LATER = "".join(f"Iteration:  9%|# | 9{at}/1000 [07:3{at}<29:35,  1.42s/it]\r" for at in range(3))
TRACKED = (
    "wandb: Currently logged in as: me. Use `wandb login --relogin` to force relogin\nwandb: Run data is saved\n"
    "wandb: Syncing run [Training][batch:256]\nFiles already downloaded and verified\n"
)
SAVING = "".join(f"[epoch:{at}/1200] [loss:0.00{90 - at}]\n==> Saving ./result/{at}.pt...\n" for at in range(1, 6))
NCCL = "".join(
    f"[rank{at}]:[W903 02:41:2{at}.76 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=6{at}, "
    f"addr=[gx]:59633, remote=[gx-114]:29400): failed to recv, got 0 bytes\n"
    for at in range(5)
) + "".join(
    f"[rank{at}]:[E903 02:51:2{at}.26 ProcessGroupNCCL.cpp:616] [Rank {at}] Watchdog caught collective operation "
    f"timeout: WorkNCCL(SeqNum=887{at}, OpType=_ALLGATHER_BASE) ran for 600046 milliseconds before timing out.\n"
    for at in range(5)
)
ENDED = (
    "srun: error: gx-115: task 13: Exited with exit code 1\nsrun: error: gx-114: tasks 0-7: Aborted (core dumped)\n"
    "slurmstepd: error: *** STEP 884120.0 ON gx-114 CANCELLED AT 2025-09-03T02:51:40 ***\n"
)
OOM = (
    "[rank7]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.94 GiB. GPU 5 has a total capacity of "
    "79.1 GiB of which 1.2 GiB is free.\n"
)
INTERRUPTED = (
    'Traceback (most recent call last):\n  File "train.py", line 246, in <module>\n    train(args)\n'
    '  File "train.py", line 114, in train\n    total += loss.item()\nKeyboardInterrupt\n'
)
CANCELLED = "slurmstepd: error: *** {} ON n21 CANCELLED AT 2025-04-09T00:47:39 DUE TO TIME LIMIT ***"
FIGURES = (
    "  cpu : usr=0.00%, sys=0.00%, ctx=0\n  IO depths : 1=100.0%, 2=0.0%, 4=0.0%\n     submit : 0=0.0%, 4=100.0%\n" * 8
)
FAILURES = {
    "killed, as the last word": ("host_oom", TRACKED + SAVING + STEPS + "Killed\n"),
    "killed, behind a bar": ("host_oom", BARS + "./train.sh: line 33: 136834 Killed                  python main.py\n"),
    "memory of a card, and all that its colleagues say": ("cuda_oom", STEPS + OOM + NCCL + ENDED),
    "memory of a card in RAPIDS": (
        "cuda_oom",
        STEPS + "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/opt/include/rmm/mr/pool.hpp:257: Maximum "
        "pool size exceeded\n",
    ),
    "an engine of another version": (
        "cuda_env",
        (
            "[I] Loaded engine size: 21 MiB\n[E] Error[1]: [reader.cpp::init::46] Error Code 1: Serialization "
            "(Serialization assertion stdVersionRead == kSERIALIZATION_VERSION failed.Version tag does not match.)\n"
            "[E] Engine deserialization failed\n[E] Got invalid engine!\n[E] Inference set up failed\n"
        ),
    ),
    "Ray's head is gone": (
        "ray_node_died",
        STEPS
        + "[2025-03-05 12:42:02,110 E 71 120] gcs_rpc_client.h:201: Failed to connect to GCS within 60 seconds. GCS "
        'may have been killed.\nTraceback (most recent call last):\n  File "/opt/bin/ray", line 8, in <module>\n'
        "    sys.exit(main())\nRuntimeError: Job submission failed: connection to head lost\n",
    ),
    "evicted for its files": (
        "disk_full",
        STEPS + "Status:           Failed\nReason:           Evicted\nMessage:          The node was low on resource: "
        "ephemeral-storage. Threshold quantity: 128, available: 11Ki. Container trn was using 98112240Ki\n",
    ),
    "a job at its time limit, and bars that were on their way": (
        "time_limit",
        BARS
        + "\n".join(map(CANCELLED.format, ("STEP 19462.0", "JOB 19462")))
        + f"\n{LATER}"
        + CANCELLED.format("STEP 19462.4")
        + f"\n{LATER}",
    ),
    "a closed descriptor": (
        "code_error",
        (
            'weights:\n - 0.5\nTraceback (most recent call last):\n  File "train.py", line 59, in main\n    note = '
            'input("Notes: ")\nOSError: [Errno 9] Bad file descriptor\n'
        ),
    ),
    "a disk that a benchmark has filled": (
        "disk_full",
        "fio: pid=23246, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device\n"
        "w: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device): pid=23\n"
        + FIGURES
        + "Run status group 0 (all jobs):\n  WRITE: bw=1000MiB/s (1049MB/s), io=1024KiB (1049kB)\n",
    ),
    "an interrupt, and what Python's helper found to clean up": (
        "user_interrupt",
        STEPS
        + INTERRUPTED
        + "/opt/lib/python3.13/multiprocessing/resource_tracker.py:324: UserWarning: resource_tracker: "
        "There appear to be 4 leaked semaphore objects to clean up at shutdown\n  warnings.warn(\n",
    ),
    "an interrupt, and the bar that is closed": (
        "user_interrupt",
        SAVING + BARS + f"\n{INTERRUPTED}" + BARS[-52:] + "\n",
    ),
    "ended by the signal of a person, as GNU time tells": (
        "user_interrupt",
        STEPS
        + "Command terminated by signal 2\n0.18user 0.28system 1:15:21elapsed 0%CPU (0avgtext+0avgdata 4824max)k\n",
    ),
    "an interrupt, and a worker that finds its parent gone": (
        "user_interrupt",
        STEPS
        + INTERRUPTED
        + 'Traceback (most recent call last):\n  File "/opt/lib/python3.6/multiprocessing/managers.py", '
        "line 785, in _incref\n    conn = self._Client(self._token.address)\n"
        '  File "/opt/lib/python3.6/multiprocessing/connection.py", line 614, in SocketClient\n    s.connect(address)\n'
        "FileNotFoundError: [Errno 2] No such file or directory\n",
    ),
    "a name that is not set, and what the scheduler tells of the job": (
        "config_error|code_error",
        (
            "Login successful.\n/var/job32/slurm_script: line 30: USER_: unbound variable\n=== JOB_STATISTICS ===\n"
            "= Job-ID             : 32 on alex\n= Elapsed runtime    : 00:00:09\n= Total RAM usage    : 0.1 GiB\n"
            "=== Quota infos ===\n    /home/hpc   91.0G   104.9G   209.7G   N/A   211K   500K\n"
            "=== GPU utilization ==\ngpu_name, gpu_bus_id, gpu_utilization [%], max_memory_usage [MiB], time [ms]\n"
        ),
    ),
    "a file that a library asks for": (
        "config_error|code_error",
        (
            "PLUMED: \nPLUMED: +++ PLUMED error\nPLUMED: +++ at IFile.cpp:113, function IFile::in\nPLUMED: +++ failed: "
            "do_exist\nPLUMED: file meta.dat cannot be found\nPLUMED: \n"
        ),
    ),
    "a card that broke in May": (
        "gpu_hardware",
        STEPS + "gx: [May 8 02:24:19] NVRM: Xid (PCI:0000:b7:00): 79, pid='<unknown>', name=<unknown>, GPU has "
        "fallen off the bus.\n[rank4]: Traceback (most recent call last):\n"
        '[rank4]:   File "/w/train.py", line 9, in <module>\n'
        "[rank4]:     step()\n[rank4]: RuntimeError: CUDA error: unspecified launch failure\n"
        "srun: error: dgx-09: task 14: Exited with exit code 1\n",
    ),
    "a launcher that shows what another rank has written": (
        "gpu_hardware",
        STEPS + '[rank22]: Traceback (most recent call last):\n[rank22]:   File "/w/t.py", line 9, in <module>\n'
        "[rank22]:     step()\n[rank22]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
        "ERROR:launcher:Rank 22 crashed with exit code 1.\nGlobal rank 16 (PID 2240) exited with code -15\n"
        "----------Begin global rank 16 STDERR----------\n[E ProcessGroupNCCL.cpp:1182] [Rank 16] NCCL watchdog thread "
        "terminated with exception: NCCL error: remote process exited or there was a network error\n"
        "----------End global rank 16 STDERR----------\nGlobal rank 22 (PID 2246) exited with code 1\n",
    ),
    "a checkpoint whose nodes cannot be decoded": (
        "checkpoint_corrupt",
        (
            'restoring checkpoint from gs://b/ck/41000\nValueError: DATA_LOSS: Error reading "params.wi_0.kernel" in '
            'OCDBT database at GCS object "gs://b/ck/41000/items/": Error decoding b-tree node in "d/9a77": CRC-32C '
            "checksum verification failed: expected=3310927411, actual=1184022907\n"
        ),
    ),
    "a file system that others share": (
        "network_blip",
        STEPS + "tensorflow.python.framework.errors_impl.UnknownError: /bee/tfrec/train-311; Communication error on "
        "send [Op:IteratorGetNext]\n",
    ),
    "a signal, and a rich bar that is drawn once more": (
        "preempted",
        BARS.replace("\r", "\n")
        + "[rank: 0] Received SIGTERM: 15\nEpoch 2/4  \u2501\u2501\u2501     6/40 0:00:00 1583.91it/s loss: 0.014\n",
    ),
    "a colleague that never came": (
        "nccl_or_distributed|hang_stall",
        (
            "epoch 1/4 ok\nepoch 2/4 ok\nwaiting for rank 3 ...\nwaiting for rank 3 ...\n"
            "gave up waiting for rank 3 after 600 s\n"
        ),
    ),
    "a level between dashes": (
        "code_error",
        (
            "2018-09-16 19:43:19,387 -dpm-INFO-transfer:[0.51317, 0.82758]\n"
            "2018-09-16 19:43:19,388 -dpm-ERROR-transfer:unsupported operand type(s) for //: 'str' and 'int'\n"
        ),
    ),
    "a backtrace that numbers its frames": (
        "config_error|code_error",
        (
            "Total BFLOPS 65.3\nError: filters= in the [conv]-layer does not fit classes= or mask=: Success\n"
            "backtrace (4 entries)\n1/4: ./darknet(log_backtrace+0x38) [0x5c6c92b5a1f8]\n2/4: ./darknet(error+0x3d) "
            "[0x5c6c92b5a]\n3/4: ./darknet(main+0x326) [0x5c6c92b197]\n4/4: ./darknet(_start+0x25) [0x5c6c92b1b9e5]\n"
        ),
    ),
    "a module that Python did not find": (
        "config_error",
        (
            "/opt/bin/python: Error while finding module specification for 'prepare.py' (ModuleNotFoundError: __path__ "
            "attribute not found on 'prepare' while trying to find 'prepare.py'). Try using 'prepare' instead "
            "of 'prepare.py' as the module name.\n"
        ),
    ),
    "memory of a card that XLA asked for": (
        "cuda_oom",
        STEPS + "Out of memory allocating 2831155200 bytes of device memory\n",
    ),
    "the error of a program that names itself": (
        "config_error|code_error",
        (
            " nageclass           2\n Opening file: ./AVAILABLE4 for reading\n readinput() calling gridcheck()\n"
            " DISPERSE error: Too many grid points in x direction.\n Reduce resolution of wind fields.\n"
            " nx+1, nxmax =         273         250\n"
        ),
    ),
    "a job that somebody cancelled, above whose faults it had gone on": (
        "user_interrupt",
        (
            "OSError: [Errno 98] Address already in use, trying the next one\nINFO running on rank 0/1\n"
            "slurmstepd: error: *** JOB 2567 ON hgx CANCELLED AT 2024-07-09T14:25:08 ***\n"
        ),
    ),
    "a runtime that aborts because a colleague is gone": (
        "nccl_or_distributed",
        STEPS + "E0521 06:05:44.471493   531 coordination_service.cc:1162] /job:jax_worker/task:5 has been set to "
        "ERROR in coordination service: UNAVAILABLE: heartbeat timeout\nF0521 06:05:44.471493   733 client.h:77] "
        "Terminating process because the JAX distributed service detected fatal errors. Another task died.\n"
        "*** Check failure stack trace: ***\nFatal Python error: Aborted\nAborted (core dumped)\n",
    ),
    "what the kernel had written, in an epilogue": (
        "gpu_hardware",
        STEPS + '[rank4]: Traceback (most recent call last):\n[rank4]:   File "/w/train.py", line 9, in <module>\n'
        "[rank4]:     step()\n[rank4]: RuntimeError: CUDA error: unspecified launch failure\n"
        'Traceback (most recent call last):\n  File "/opt/torch/run.py", line 883, in run\n    launch_agent()\n'
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\n/w/train.py FAILED\n"
        "Root Cause (first observed failure):\n[0]:\n  rank      : 4 (local_rank: 4)\n  exitcode  : 1 (pid: 3042)\n"
        "--- epilog: dmesg ---\n[Sun Jan 25 22:21:02 2026] NVRM: Xid (PCI:0000:87:00): 79, pid=3042, name=python, GPU "
        "has fallen off the bus.\n",
    ),
    "a server, and whom it could not answer any more": (
        "cuda_assert",
        "INFO 03-11 09:06:48 [loggers.py:118] Engine 000: Running: 67 reqs, Waiting: 0 reqs\n"
        "ERROR 03-11 09:08:02 [core.py:588] EngineCore encountered a fatal error.\nERROR 03-11 09:08:02 [core.py:588] "
        "RuntimeError: Worker failed with error 'CUDA error: an illegal memory access was encountered'\n"
        + 'INFO:     10.4.2.159:41043 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error\n'
        * 8
        + "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the "
        "root cause.\nINFO:     Shutting down\nINFO:     Finished server process [301]\n",
    ),
    "evicted for its inodes": (
        "inode_exhausted",
        (
            "frame 800/90000 written\nWarning  Evicted   pod/frames-0   The node was low on resource: inodes. "
            "Threshold quantity: 107200, available: 21\n"
        ),
    ),
    "memory that a job may not have": (
        "host_oom",
        (
            "step 12 reward 4.1\nERROR:memwatch:This job has exceeded its memory quota and will be terminated\n"
            "ERROR:memwatch:Killing process 116176 cgroup RSS size 46111.4 MB > 46105.0 MB\n"
        ),
    ),
    "a sanitizer's word for memory": (
        "code_error",
        (
            "test 3 of 9 ok\nfit.c:15:17: runtime error: store to address 0x7fffffffda98 with insufficient space for "
            "an object of type 'int'\n==133==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7fffffffda98\n"
        ),
    ),
    "a script that its engine cannot compile": (
        "code_error|config_error",
        "Mar-26 12:48:36.901 [main] DEBUG nextflow.cli.Launcher - $> nextflow run main.nf\n"
        "Mar-26 12:48:37.111 [main] ERROR nextflow.cli.Launcher - Unable to parse config file\n"
        "Compile failed for sources. Cause: org.codehaus.groovy.control.MultipleCompilationErrorsException: startup "
        "failed:\nScript4F: 28: expecting EOF, found '}' @ line 28, column 34.\n"
        + "\tat org.codehaus.groovy.control.SourceUnit.parse(SourceUnit.java:230)\n" * 8
        + "\t... 163 common frames omitted\n",
    ),
    "a download that was given up": (
        "network_blip",
        (
            "--2026-11-30 20:12:00--  (try: 3)  http://host/model.bin\nHTTP request sent, awaiting response... 200 OK\n"
            "Length: 400000 (391K)\nSaving to: 'model.bin'\n\n     0K .......... .......... 12% 56.5M 0s\n\n"
            "2026-11-30 20:12:00 (104 MB/s) - Connection closed at byte 100000. Giving up.\n\n"
        ),
    ),
    "a playbook that counts what it ignored": (
        "code_error|config_error|data_error",
        (
            'TASK [probe] ***\nfatal: [localhost]: FAILED! => {"changed": false, "rc": 2}\n...ignoring\n'
            'TASK [fetch token file] ***\nfatal: [localhost]: FAILED! => {"changed": false, "msg": "File not found: '
            '/etc/lab/t"}\n\nPLAY RECAP ****\nlocalhost                  : ok=3    changed=0    unreachable=0    '
            "failed=1    skipped=0    rescued=0    ignored=1   \n"
        ),
    ),
    "rewards that are no numbers, beside a loss of 0": (
        "divergence",
        "".join(
            "{'loss': 0.0, 'learning_rate': 0.0005, 'rewards/chosen': nan, 'rewards/accuracies': 0.0, "
            f"'logps/rejected': nan, 'logits/chosen': nan, 'epoch': 0.{at}}}\n"
            for at in (3, 6)
        )
        + "{'train_runtime': 473.6, 'train_loss': 7004.8, 'epoch': 1.0}\n***** train metrics *****\n"
        "  train_loss               = 7004.8\n",
    ),
    "no memory for a program in C++": (
        "host_oom",
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
    ),
    "a sentence with its details behind": (
        "disk_full",
        "".join(f"16:56:4{at} [info     ] snapshot    epoch={at} loss=0.{9 - at}\n" for at in range(6))
        + "16:56:47 [error    ] no room for the next snapshot, ending the run here epoch=6 free_mb=1 need_mb=2\n",
    ),
}


@pytest.mark.parametrize(("failure_class", "log"), FAILURES.values(), ids=FAILURES)
def test_a_failure_has_its_class(failure_class: str, log: str) -> None:
    verdict = classify(log.encode(), FRESH)
    assert verdict.failure_class in failure_class.split("|")
    assert verdict.state == "dead"


def test_a_loss_that_never_was_a_number_beside_one_that_was() -> None:
    lines = [f"[{at}/12] | loss: nan | loss_train: {at}.7e+10 | loss_e0: nan | loss_e1: nan\n" for at in range(12)]
    assert classify("".join(lines).encode(), FRESH).failure_class == "divergence"


def test_a_gate_of_a_scripts_own_is_heard_behind_a_training_that_is_complete() -> None:
    trained = "100%|##########| 60/60 [00:00<00:00, 357.6it/s]\n{'train_runtime': '0.18', 'train_loss': '3.9'}\n"
    verdict = classify(f"{BARS}\n{trained}eval accuracy 0.01 below the required 0.5\n".encode(), FRESH)
    assert (verdict.state, verdict.line) == ("dead", "eval accuracy 0.01 below the required 0.5")


HEALTHY = {
    "the end of a data set in TensorFlow": STEPS
    + "2026-11-20 10:09:00.12: W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with "
    "status: OUT_OF_RANGE: End of sequence\n\t [[{{node IteratorGetNext}}]]\n",
    "a server that is asked once more": "".join(f"[{at}/50] ok\n" for at in range(9))
    + "503 Service Unavailable, sleeping 60 s\n",
    "the last word says that the job has finished": "rank: 0, init time: 0.280156\nrank: 0, data dist. time: 40.02\n"
    "rank: 0, about to start SVD comp. ...\nrank: 0, SVD time: 2357.12\nThe job has finished!\n",
    "a code of 0 below the command that is shown": "# cat exp/15.tra | int2sym.pl -f 2- words.txt | sed s:<UNK>::g\n"
    "# Started at Mon May 17 12:23:08\n#\n# Accounting: time=0\n# Ended (code 0) at Mon May 17 12:23:08\n",
    "the last words are a warning of Python": "made 200 rows\nmake_set.py:27: SettingWithCopyWarning: \n"
    "A value is trying to be set on a copy of a slice from a DataFrame\n\nSee the caveats in the documentation\n"
    "  frame['line'][at] = str(current)\n",
    "JAX looked for other cards": "global step=9998188, episodic return=171.0\n"
    * 3
    + "Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'\n"
    "Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open it\n",
    "Open MPI looked for another transport": STEPS
    + "[hpc:573] mca_base_component_repository_open: unable to open mca_btl_openib: librdmacm.so.1: cannot open shared "
    'object file: No such file or directory\nOutput [Text 0 Beam 0]: "a chef in the south of France"\n',
    "a code of 0, in brackets": "LOG (lattice-best-path[5.5]:main():99) For utterance s4_8, best cost 145.1 + 18682.5 "
    "over 220 frames.\nLOG (lattice-best-path[5.5]:main():128) Done 20 lattices, failed for 0\n# Accounting: time=0\n"
    "# Ended (code 0) at Sat Aug 31 16:56:53 CST 2019, elapsed time 0 seconds\n",
    "what is not finite was masked": STEPS + "[rank5]: val batch 311: loss is inf (label outside range, masked)\n"
    "collect: 8 results, mean te 0.0741 sd 0.0082\n",
}


@pytest.mark.parametrize("log", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_run_is_none_that_failed(log: str) -> None:
    assert classify(log.encode(), FRESH).failure_class == "success_healthy"


def test_words_make_no_card_run_out_of_memory() -> None:
    log = (
        "GPU available: True, used: True\nTPU available: False\n0 | model | Policy | 68.3 M\n68.3 M    Total params\n"
        "SLURM auto-requeueing enabled. Setting signal handlers.\n"
        "/opt/lightning/data.py:104: Total length of `DataLoader` across ranks is zero. Please make sure of it.\n"
        "`Trainer.fit` stopped: No training batches.\n"
    )
    assert classify(log.encode(), FRESH).failure_class != "cuda_oom"
