"""Rows about ranks, workers and nodes that lose one another, and the launchers that count them. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import CAUSE, DEATH, PEER, SUMMARY, VAGUE, RuleRow

# What it lists behind are guesses, which name every signal and killer there is.
RAYLET: tuple[RuleRow, ...] = (
    RuleRow(
        "raylet-ended",
        "ray_node_died",
        DEATH + 5,
        "raylet is terminated|worker died or was killed",
        r"raylet is terminated\. termination is unexpected|worker died or was killed while executing a task",
        "Ray",
        "(raylet) Raylet is terminated. Termination is unexpected. Possible reasons include: (1) SIGKILL by the user",
    ),
)

RAY: tuple[RuleRow, ...] = (
    RuleRow(
        "ray-node",
        "ray_node_died",
        CAUSE - 1,
        "marked dead|node|ownerdied|raylet|gcs|head lost|ray head|the head",
        r"NodeDiedError|OwnerDiedError|has been marked dead|node (?:was|is|has) (?:been )?(?:dead|died|lost"
        r"|terminated|preempted)?.{0,40}heartbeat|dead node|node death|raylet (?:died|is dead|was killed)"
        r"|node it was running on is dead|owner.{0,30}(?:has died|died)|head node.{0,40}(?:died|lost"
        r"|unreachable)|node failure.{0,30}ray|ray.{0,40}node (?:died|failure|lost)"
        r"|failed to connect to gcs within|gcs (?:server )?(?:is |may have been )?(?:unavailable|down|died|killed)"
        r"|lost connection to the (?:ray )?head|\bconnection to (?:the )?(?:ray )?head lost",
        "Ray",
        "ray.exceptions.NodeDiedError: Task failed because the node it was running on is dead or unavailable.",
    ),
    RuleRow(
        "ray-worker",
        "ray_node_died",
        DEATH + 5,
        "rayactor|localraylet|actordied|lost connection|actorunavailable|workercrashed|objectlost"
        "|objectreconstruction|actor died"
        "|worker died|worker crashed|gcs|objectfetch|the actor|ray |current node timed out",
        r"(?:RayActor|ActorDied|ActorUnavailable|WorkerCrashed|ObjectLost|ObjectReconstructionFailed\w{0,24}"
        r"|ObjectFetchTimedOut|LocalRayletDied)(?:Error)?\b|the actor (?:died|is dead)"
        r"|worker died (?:unexpectedly)?"
        r"|failed to connect to gcs|the current node timed out during startup"
        r"|(?:could not|cannot|unable to|failed to) (?:find|reach|connect to) .{0,24}\bray (?:instance|cluster"
        r"|head|address)",
        "Ray",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
    ),
    RuleRow(
        "ray-unsatisfied",
        "ray_node_died",
        SUMMARY,
        "unsatisfied|no available node types|cannot be scheduled",
        r"\b(?:are|is|remains?) unsatisfied|\bunsatisfied (?:resource|demand|request)"
        r"|no available node types can fulfill|cannot be scheduled right now",
        "Ray autoscaler",
        "Resources requested by the cluster are unsatisfied",
    ),
)

# What a parent prints of its processes: `exit codes: [0, -9]`, `exitcodes={'w0': 0, 'w1': 1}`
_CODES = r"\b(?:exit|return)[ _-]?(?:codes?|status(?:es)?)\b[ :=]{0,3}[\[({][^\])}]{0,200}?(?<![\w.])"
_NO_KEY = r"(?![\w.]|'?\"? ?:)"

# The launcher's word on which rank went first: the broken connections of the others follow from it. An abort (-6) is
# left out, because a collective's own watchdog ends its process so.
FIRST_RANK: tuple[RuleRow, ...] = (
    RuleRow(
        "first-rank-killed",
        "host_oom",
        PEER + 2,
        "exitcode|exit code|exit_code|return code|returncode|return_code|on signal|task",
        r"\bfailed \(exitcode: ?(?:-9|137)\)|\bexits with return code = (?:-9|137)\b"
        r"|process rank \d+ .{0,80}exited on signal 9\b|^srun: error: \S{1,80}: tasks? [\d,-]+: killed$"
        rf"|{_CODES}(?:-9|137){_NO_KEY}",
        "torchrun, DeepSpeed, mpirun, srun",
        "E1121 11:44:39.679000 861 torch/distributed/x/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 865)",
        True,
    ),
    RuleRow(
        "first-rank-crashed",
        "code_error",
        PEER + 2,
        "exitcode|exit code|exit_code|return code|returncode|return_code|on signal|task",
        r"\bfailed \(exitcode: ?(?:-11|139|-4|-8|[3-9]|[1-9]\d)\)"
        r"|\bexits with return code = (?:-11|139|-4|-8)\b"
        r"|process rank \d+ .{0,80}exited on signal (?:11|4|8)\b"
        r"|^srun: error: \S{1,80}: tasks? [\d,-]+: (?:segmentation fault|illegal instruction|floating point exception)"
        rf"|{_CODES}(?:-11|139|-4|-8){_NO_KEY}",
        "torchrun, DeepSpeed, mpirun, srun",
        "E1121 11:44:45.679000 861 torch/distributed/x/api.py:1002] failed (exitcode: -11) local_rank: 1 (pid: 865)",
        True,
    ),
)

COLLECTIVE: tuple[RuleRow, ...] = (
    RuleRow(
        "collective-timeout",
        "nccl_or_distributed",
        PEER + 4,
        "watchdog|collective|nccl operations|timed out|milliseconds|heartbeat|barrier|wait timeout"
        "|timed out waiting|timeout|monitoredbarrier",
        r"watchdog caught collective|collective operation timeout|watchdog (?:thread )?(?:got stuck"
        r"|terminated(?! normally)|timeout)|heartbeat monitor timed out|monitoredBarrier|(?:barrier|all_?reduce"
        r"|all_?gather|broadcast"
        r"|reduce_?scatter|collective).{0,60}(?:timed out|timeout(?! handler))|timed out (?:after"
        r"|waiting).{0,60}(?:rank|ranks|peer|barrier|(?:recv|send)\b(?! the)|clients?)|(?:rank|peer).{0,40}(?:timed out"
        r"|not respond|no response)"
        r"|ran for \d+ milliseconds before timing out|Some NCCL operations have failed",
        "NCCL watchdog, gloo, Horovod",
        "[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8)",
    ),
    RuleRow(
        "collective",
        "nccl_or_distributed",
        PEER,
        "hyd_|hydt_|unhandled system|nccl|rccl|gloo|processgroup|distbackend|distnetwork|diststore|rendezvous|tcpstore"
        "|store|mpi|ucx"
        "|net/ib|ibv_|net_ib|coordination|horovod|socket|peer|rank|hccl|orte|prte|oneccl|coordinator"
        "|all-reduce|mesh|etcd|distributed|another |process or daemon",
        r"ncclInternalError|ncclSystemError|ncclUnhandledCudaError|ncclRemoteError|ncclInvalid\w{1,40}"
        r"|\bHYDT?_\w{2,40} \(.{1,200}\): (?:unable to connect|connection refused)"  # MPICH
        r"|unhandled (?:system|cuda) error|nccl (?:error|warn|failure|communicator was aborted"
        r"|operation failed)(?! ?= ?none)"
        r"|nccl.{0,60}(?:connection (?:closed|refused|reset)|remote process exited|no route|timed? ?out"
        r"|abort)|DistBackendError|DistNetworkError|DistStoreError|gloo.{0,120}(?:connection|closed|timed"
        r"|error|fail|reset)"
        r"|connect\w{0,24} to(?!.{0,20}\bfeature store).{0,60}(?:store|master|rendezvous).{0,40}(?:timed|fail|refused)"
        r"|client socket has (?:timed out|failed)|socket.{0,20}timed out.{0,40}(?:store|tcpstore|rendezvous)"
        r"|RendezvousConnectionError"
        r"|RendezvousTimeoutError|(?<!local[ _])rendezvous.{0,80}(?:failed|timed? ?out|closed|error|not complete)"
        r"|(?:wait|get|store|tcpstore)\b.{0,20}(?:timeout|timed out).{0,60}|(?:connection (?:reset"
        r"|closed) by (?:remote )?peer).{0,80}(?:rank|store|tcp|gloo)"
        r"|collective ops is aborted|(?<!details = \")failed to connect to all addresses"
        r"|MPI_ERR(?!ORS_|_(?:RANK|ARG|TAG|COUNT|TYPE|BUFFER|ROOT|OP|TRUNCATE)\b)\w{0,24}"
        r"|ORTE (?:has lost|was unable|daemon)|PRTE.{0,30}lost"
        r"|process or daemon was unable to complete a TCP connection"  # of Open MPI
        r"|UCX\s{1,8}(?:ERROR|FATAL)|horovod.{0,60}(?:shut ?down|failed|error|stall)|HorovodInternalError"
        r"|ibv_.{1,60}(?:fail|error)"
        r"|got completion (?:from peer )?with (?:status )?error|(?:net/ib|net_ib).{0,80}(?:error|fail)"
        r"|coordination service.{0,80}(?:error|unavailable|heartbeat|timed|fail)|(?:coordination"
        r"|distributed) (?:service|runtime).{0,60}(?:shutdown|error|timeout)"
        r"|another (?:task|rank|peer|replica) (?:has )?(?:died|failed|crashed|exited)\b"
        r"|(?:rank|worker|peer|node)s? .{0,30}(?:disconnected|unreachable|lost connection|connection lost)"
        r"|barrier.{0,20}(?:failed|broken)|connection closed by (?:remote )?peer|peer (?:has )?(?:closed|gone"
        r"|disconnect\w{1,40})|hccl.{0,60}(?:error|fail|timeout)"
        r"|\|CCL_ERROR\||\boneCCL: .{0,120}(?:exception|error|fail)"
        r"|tasks? .{0,60}heartbeat timeout|failed to (?:connect|recv|send|receive).{0,60}(?:rank|peer"
        r"|localrank)|mismatched? (?:collective|tensor).{0,60}rank|BarrierError|slice.{0,40}(?:unhealthy|lost)",
        "NCCL, gloo, c10d, MPI, JAX coordination service",
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:219, remote process exited",
    ),
)

LAUNCHERS: tuple[RuleRow, ...] = (
    RuleRow(
        "loader-crashed",
        "code_error",
        DEATH,
        "exited unexpectedly|killed by signal",
        r"worker.{0,40}killed by signal: (?:segmentation fault|aborted|illegal instruction|floating point)"
        r"|worker.{0,60}exited unexpectedly with exit code (?!-9\b|137\b)-?\d",
        "PyTorch DataLoader",
        "RuntimeError: DataLoader worker (pid 202) is killed by signal: Segmentation fault.",
    ),
    RuleRow(
        "reader-gone",
        "code_error",
        DEATH - 8,
        "reader of the output is gone",  # found by its traceback, see `contexts.in_context`
        r"\breader of the output is gone\b",
        "Python: whoever read the program's output has ended",
        "the reader of the output is gone",
    ),
    RuleRow(
        "helper-gone",
        "code_error",
        DEATH - 2,
        "helper process is gone",  # found by its traceback, see `contexts.in_context`
        r"\bhelper process is gone\b",
        "multiprocessing: the other end of a pipe within the program",
        "the helper process is gone",
    ),
    RuleRow(
        "loader-exited",
        "host_oom",
        DEATH - 1,
        "exited unexpectedly|worker exited|killed by signal|workers? died",
        r"DataLoader worker.{0,60}exited unexpectedly|(?:worker|process)\b.{0,40}killed by signal"
        r"(?!: (?:terminated|hangup|interrupt))",
        "PyTorch DataLoader",
        "RuntimeError: DataLoader worker (pid(s) 4411) exited unexpectedly",
    ),
    RuleRow(
        "crash-signal",
        "code_error",
        DEATH,
        "segmentation fault|sigsegv|segfault|signal|core dumped|sigabrt|sigfpe|floating point exception"
        "|fatal python error|double free|corrupted size|stack smashing|free():|malloc"
        "|exitcode|return code|exit|*** [|bus error|illegal instruction|terminate called|corruption|assertion"
        "|stack overflow|munmap|access violation|xc",
        r"segmentation fault|\bSIGSEGV\b|(?<!['\"])\bsegfault\b|fatal python error|double free or corruption"
        r"|corrupted (?:size|double-linked|top)|stack smashing|free\(\): (?:invalid|double free)|malloc\(\): "
        r"|malloc_consolidate|munmap_chunk"
        r"|floating point exception(?! trapping)|illegal instruction|\bSIG(?:FPE|ILL)\b(?!\s?[:)] ?enabl)"
        r"|(?:exit(?:ed|s)?(?: ?code)?"
        r"|return code|status)\b[^\d-]{0,20}(?:-11|139|-8|136|-4|132)(?![\d.])"
        r"|\*{3} \[.{1,160} error (?:139|136|132)$|signal[ :=]{1,3}(?:11|8|4)\b"
        r"|stack overflow|\b0xC0000005\b|exit code (?:-1073741819|3221225477)\b|windows fatal exception"
        "|access violation",
        "glibc, kernel, faulthandler",
        "Fatal Python error: Segmentation fault",
        True,
    ),
    RuleRow(
        "aborted",
        "code_error",
        DEATH - 5,
        "abort|terminate called|sigabrt|core dumped|dumped core|exit|signal|*** [",
        r"^\W*(?:.{0,120}: line \d+:\s{1,8}\d{1,20} )?(?:aborted\b|abort trap: \d)|terminate called|\bSIGABRT\b"
        r"|core dumped|\bcommand dumped core\b|\bsignal: aborted \(6\)|(?:exit(?:ed"
        r"|s)?(?: ?code)?|return code|status)\b[^\d-]{0,20}(?:-6|134)(?![\d.])"
        r"|\*{3} \[.{1,160} error 134$|signal[ :=]{1,3}6\b",
        "glibc, C++, shells",
        "terminate called after throwing an instance of 'std::runtime_error'",
        True,
    ),
    RuleRow(
        "mpirun-as-root",
        "config_error",
        CAUSE,
        "attempt to run as root",
        r"\bhas detected an attempt to run as root\b",
        "Open MPI",
        "mpirun has detected an attempt to run as root.",
    ),
    RuleRow(
        "launcher",
        "code_error",
        SUMMARY,
        "childfailederror|exited with exit code|returned non-zero|exit|calledprocesserror|mpirun|mpiexec"
        "|primary job|root cause|raytaskerror|failed|process|rc=|rc:|rc |return code|sending|terminating"
        "|processraised|returncode|return_code|progress looks"
        "|aborted|srun|crashed|trials did not|crashloop|back-off|forcefully|shutting|closing signal"
        "|status|finished (|pending unfinished|errored|destroyed|make|mpi_abort|error executing|in call to",
        r"ChildFailedError|encountered a bad command exit code|MPI_ABORT was invoked|called MPI_Abort\b"
        r"|^g?make(?:\[\d{1,20}\])?: \*\*\* (?:\[.{0,160}\] \w{3,12}|.{0,160}\berror) \d+$"
        r"|exited with exit code [1-9]|returned non-zero exit|CalledProcessError"
        r"|ProcessRaisedException|ProcessExitedException|root cause \(first observed|RayTaskError|TuneError"
        r"|failed \(exitcode: ?-?[1-9]|\bnormal termination \(return value [1-9]"
        r"|(?:exit(?:ed|s|ing)?(?: with)?|finished with|ended with|died with)(?: (?:non-?zero"
        r"|error))?(?: exit)? ?(?:code|status|rc)?[ :=(]{1,3}-?(?!143\b)[1-9]\d{0,2}\b|\b(?:rc|exit_?code|exit_?status"
        r"|return_?code|returncode)(?:\s?[=:]\s?| )-?[1-9]\d{0,2}\b|child process.{0,40}exited"
        r"|(?:srun|mpirun|mpiexec|prun|prterun|torchrun|deepspeed|accelerate"
        r"|launch(?:er)?)\b(?!\.).{0,60}(?:terminat|abort|fail|error|noticed)|primary job  ?terminated"
        r"|sending process \d+ closing signal|trials? did not complete"
        r"|(?:back-off restarting|crashloopbackoff)|forcefully exiting|process \d+ (?:failed|exited)"
        r"|\bworkers? (?:failed|exited)|(?:job|pipeline|stage|step|task|run|script|training|experiment|pod"
        r"|container)\b.{0,40}\b(?:failed|errored|crashed|aborted)\s{0,8}(?:$|[:;,.(!])"
        r"|exit(?:ing)? (?:due to|because of|on|after) (?:an? )?(?:error|exception|failure)|uncaught exception"
        r"|\bprogram failed with code [1-9]|\bprogress looks :\("
        r"|\b(?:model|step|job|stage|task|run|script|command|process|phase|build|solver|trainer?) "
        r"(?:ended with |exit )?status [1-9]\d{0,2}\W{0,3}$|\b(?:finished|exited) \([1-9]\d{0,2}\)$"
        r"|^error (?:executing job with overrides: \[|in call to target ')"
        rf"|{_CODES}-?(?!143\b)[1-9]\d{{0,2}}{_NO_KEY}",
        "torchrun, srun, mpirun, Ray, shells, Hydra",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    ),
    RuleRow(
        "broken-pipe",
        "nccl_or_distributed",
        DEATH - 8,
        "brokenpipe|broken pipe|connectionreset|eoferror",
        r"BrokenPipeError|broken pipe",
        "a reader that is gone",
        "BrokenPipeError: [Errno 32] Broken pipe",
    ),
)

UNKNOWN_LEVEL: tuple[RuleRow, ...] = (
    RuleRow(
        "fatal-level",
        "code_error",
        VAGUE - 35,
        "fatal|critical|panic",
        r"^\W*(?:fatal|critical|panic)\b\W{0,8}[: ]"
        r"(?!(?-i:[a-z ]{3,60} (?:exported|saved|written|trained|done)\b))"
        r"(?!\s{0,8}\d{1,9}\s{1,8}\w{2,20}\s?: ?\d)|panicked at",
        "logging at the highest level",
        "FATAL: worker table inconsistent",
        True,
    ),
    RuleRow(
        "error-line",  # counts at the very end of a log only, see `decide`
        "code_error",
        VAGUE - 36,
        "error|fatal|failed|cannot|could not|unable|e: ",
        r"^(?:[\w./-]{1,40}: )?(?:fatal )?errors?\b ?[:!] ?(?!-?[\d.]{1,20}(?:e[-+]?\d{1,3})?\W{0,3}$)\S"
        r"|^e: \S|^fatal: |^\S{1,40}: (?:cannot|could not"
        r"|unable to|failed to) ",
        "tools that write one line and leave",
        "loader: unable to map segment 4",
    ),
)
