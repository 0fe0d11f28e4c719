"""Each name by which a layer reports failures has its class where it is the last that a log says, and is no failure
where a run went on after it.
"""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

STEPS = [f"step {number}0/5000 loss {3.2 - 0.01 * number:.3f}\n" for number in range(1, 40)]
TRACE = 'Traceback (most recent call last):\n  File "/home/u/main.py", line 61, in main\n    state = worker.handle()\n'

# Of each layer: how it writes a name, and its names by their class.
VOCABULARIES: dict[str, tuple[str, dict[str, str]]] = {
    "CUDA, in a sentence": (
        TRACE + "RuntimeError: CUDA error: {}\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n",
        {
            "initialization error": "cuda_env",
            "API call is not supported in the installed CUDA driver": "cuda_env",
            "peer access is not supported between these two devices": "cuda_env",
            "the remote procedural call between the MPS server and the MPS client failed": "cuda_env",
            "CUDA-capable device(s) is/are busy or unavailable": "cuda_env",
            "Invalid access of peer GPU memory over nvlink or a hardware error": "gpu_hardware",
            "an illegal memory access was encountered": "cuda_assert",
            "operation not permitted when stream is capturing": "cuda_assert",
            "out of memory": "cuda_oom",
        },
    ),
    "libraries of a card": (
        TRACE + "RuntimeError: library error: {}\n",
        {
            "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED": "cuda_env",
            "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED": "cuda_oom",
            "CUBLAS_STATUS_ARCH_MISMATCH": "cuda_env",
            "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES": "cuda_oom",
            "CUSPARSE_STATUS_EXECUTION_FAILED": "cuda_assert",
            "CURAND_STATUS_INITIALIZATION_FAILED": "cuda_env",
            "CUFFT_ALLOC_FAILED": "cuda_oom",
            "CUFFT_EXEC_FAILED": "cuda_assert",
            "miopenStatusAllocFailed": "cuda_oom",
        },
    ),
    "Xid": (
        "NVRM: Xid (PCI:0000:41:00): {}, pid=3121, name=python, Ch 00000010\n",
        {"13": "cuda_assert", "31": "cuda_assert", "56": "gpu_hardware", "79": "gpu_hardware", "121": "gpu_hardware"},
    ),
    "S3 and AWS": (
        TRACE + "botocore.exceptions.ClientError: An error occurred ({}) when calling the GetObject operation: no\n",
        {
            "AccessDeniedException": "auth_error",
            "RequestTimeTooSkewed": "auth_error",
            "UnrecognizedClientException": "auth_error",
            "KMSAccessDeniedException": "auth_error",
            "EC2ThrottledException": "network_blip",
            "InvalidStorageClass": "config_error",
            "VcpuLimitExceeded": "quota_exceeded",
            "ServiceQuotaExceededException": "quota_exceeded",
            "RequestLimitExceeded": "network_blip",
            "InternalFailure": "network_blip",
            "ThrottlingException": "network_blip",
            "BadDigest": "data_error",
            "IllegalLocationConstraintException": "config_error",
            "ResourceNotFoundException": "config_error",
            "BucketAlreadyExists": "config_error",
        },
    ),
    "Azure": (
        TRACE + "azure.core.exceptions.HttpResponseError: The service said so.\nRequestId:7\nErrorCode:{}\n",
        {
            "AuthorizationFailure": "auth_error",
            "ServerBusy": "network_blip",
            "QuotaExceeded": "quota_exceeded",
            "BlobNotFound": "config_error",
            "Md5Mismatch": "data_error",
        },
    ),
    "the status of HTTP, in Python": (
        TRACE + "urllib.error.HTTPError: HTTP Error {}: so it said\n",
        {"401": "auth_error", "407": "auth_error", "404": "config_error", "415": "code_error", "503": "network_blip"},
    ),
    "the status of HTTP, in Java": (
        'Exception in thread "main" java.io.IOException: Server returned HTTP response code: {} for URL: https://h/x\n',
        {"403": "auth_error", "410": "config_error", "422": "code_error", "429": "network_blip", "502": "network_blip"},
    ),
    "the status of HTTP, in R": (
        'Error in open.connection(con, "rb") : HTTP error {}.\nExecution halted\n',
        {"401": "auth_error", "404": "config_error", "500": "network_blip"},
    ),
    "gRPC": (
        TRACE + "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n"
        '\tstatus = StatusCode.{}\n\tdetails = "no"\n>\n',
        {
            "UNAUTHENTICATED": "auth_error",
            "UNAVAILABLE": "network_blip",
            "DATA_LOSS": "data_error",
            "NOT_FOUND": "config_error",
            "UNIMPLEMENTED": "code_error",
        },
    ),
    "strerror, of a tool": (
        "tool: /scratch/u/part-7: {}\n",
        {
            "Key has expired": "auth_error",
            "Host is down": "network_blip",
            "Structure needs cleaning": "data_error",
            "File too large": "quota_exceeded",
            "Not a directory": "config_error",
            "Invalid cross-device link": "config_error",
            "No locks available": "config_error",
            "Stale file handle": "data_error",
            "Read-only file system": "permission_error",
        },
    ),
    "strerror, in Rust": (
        "thread 'main' panicked at src/main.rs:12:\ncalled `Result::unwrap()` on an `Err`: Os {{ message: \"{}\" }}\n",
        {
            "Network is down": "network_blip",
            "Too many levels of symbolic links": "config_error",
            "No space left on device": "disk_full",
        },
    ),
    "signals, of a shell": (
        "run.sh: line 14:  4121 {}   python train.py --cfg a\n",
        {
            "Hangup": "user_interrupt",
            "Interrupt": "user_interrupt",
            "Trace/breakpoint trap (core dumped)": "code_error",
            "CPU time limit exceeded (core dumped)": "time_limit",
            "File size limit exceeded (core dumped)": "quota_exceeded",
            "Alarm clock": "time_limit",
            "Bus error (core dumped)": "shm_too_small",
            "Killed": "host_oom",
        },
    ),
    "signals, of Go": (
        "2026/03/02 10:12:31 fit: signal: {}\n",
        {
            "killed": "host_oom",
            "interrupt": "user_interrupt",
            "terminated": "user_interrupt",
            "hangup": "user_interrupt",
        },
    ),
    "signals, of make": (
        "make: *** [Makefile:12: train] Error {}\n",
        {"137": "host_oom", "139": "code_error", "142": "time_limit", "129": "user_interrupt", "143": "preempted"},
    ),
    "systemd": (
        "Mar 02 10:12:31 n4 systemd[1]: train.service: Main process exited, code=exited, status={}\n",
        {
            "9/KILL": "host_oom",
            "11/SEGV": "code_error",
            "24/XCPU": "time_limit",
            "65/DATAERR": "data_error",
            "77/NOPERM": "permission_error",
            "75/TEMPFAIL": "network_blip",
            "78/CONFIG": "config_error",
            "203/EXEC": "config_error",
            "1/FAILURE": "code_error",
        },
    ),
    "Slurm, of scontrol": (
        "JobId=88121 JobName=train\n   JobState={} Reason=None Dependency=(null)\n",
        {
            "BOOT_FAIL": "preempted",
            "NODE_FAIL": "preempted",
            "DEADLINE": "time_limit",
            "OUT_OF_MEMORY": "host_oom",
            "CANCELLED": "user_interrupt",
            "FAILED": "code_error",
        },
    ),
    "Slurm, of sacct": (
        "88121|train|gpu|lab|8|{}|1:0\n",
        {"TIMEOUT": "time_limit", "OUT_OF_MEMORY": "host_oom", "CANCELLED by 1021": "user_interrupt"},
    ),
    "LSF": (
        "TERM_{}: job killed\n",
        {
            "CPULIMIT": "time_limit",
            "SWAP": "host_oom",
            "LOAD": "preempted",
            "BUCKET_KILL": "user_interrupt",
            "THREADLIMIT": "config_error",
        },
    ),
    "Kubernetes": (
        "train-7f9c-x2   0/1     {}   3          12m\n",
        {
            "ErrImageNeverPull": "config_error",
            "CreateContainerError": "config_error",
            "RunContainerError": "config_error",
            "OOMKilled": "host_oom",
            "UnexpectedAdmissionError": "cuda_env",
        },
    ),
    "curl": (
        "curl: ({}) the rest of its line\n",
        {
            "3": "config_error",
            "8": "network_blip",
            "27": "host_oom",
            "36": "data_error",
            "60": "auth_error",
            "97": "network_blip",
        },
    ),
    "rsync": (
        "rsync error: the rest of its line (code {}) at main.c(1338) [sender=3.2.7]\n",
        {"1": "config_error", "11": "unknown", "22": "host_oom", "255": "network_blip"},
    ),
    "aria2": (
        "Exception: [AbstractCommand.cc:351] errorCode={} the rest of its line\n",
        {"2": "network_blip", "3": "config_error", "9": "disk_full", "24": "auth_error", "32": "data_error"},
    ),
    "git": (
        "fatal: {}\n",
        {
            "not a git repository (or any of the parent directories): .git": "config_error",
            "couldn't find remote ref refs/heads/x": "config_error",
            "early EOF": "network_blip",
        },
    ),
    "Java": (
        'Exception in thread "main" java.{}: it said\n\tat org.acme.Main.main(Main.java:12)\n',
        {
            "net.PortUnreachableException": "network_blip",
            "nio.file.AccessDeniedException": "permission_error",
            "nio.file.NoSuchFileException": "config_error",
            "util.zip.ZipException": "data_error",
            "lang.IllegalStateException": "code_error",
        },
    ),
    "Go": (
        "panic: {}\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d\nexit status 2\n",
        {
            "read tcp 10.0.0.1:1->10.0.0.2:443: i/o timeout": "network_blip",
            "x509: certificate signed by unknown authority": "auth_error",
            "unexpected EOF": "data_error",
            "flag provided but not defined: -lrr": "config_error",
            "assignment to entry in nil map": "code_error",
        },
    ),
    "Ruby": (
        "/app/fit.rb:12:in `run': it said ({})\n\tfrom /app/fit.rb:20:in `<main>'\n",
        {
            "Net::OpenTimeout": "network_blip",
            "JSON::ParserError": "data_error",
            "NoMemoryError": "host_oom",
            "NoMethodError": "code_error",
        },
    ),
    "Intel Fortran": (
        "forrtl: severe ({}): it said, unit 10, file /d/x\n",
        {
            "9": "permission_error",
            "24": "data_error",
            "29": "config_error",
            "41": "host_oom",
            "71": "code_error",
        },
    ),
    "MPI": (
        "[n4:21121] *** An error occurred in MPI_File_write\n[n4:21121] *** MPI_ERR_{}: it said\n",
        {
            "NO_MEM": "host_oom",
            "NO_SPACE": "disk_full",
            "ACCESS": "permission_error",
            "NO_SUCH_FILE": "config_error",
            "TRUNCATE": "code_error",
        },
    ),
}


def _class_of(log: str) -> str:
    return classify(log.encode(), Evidence(log_age_seconds=30.0)).failure_class


@pytest.mark.parametrize("layer", VOCABULARIES)
def test_each_name_of_a_layer_has_its_class(layer: str) -> None:
    form, names = VOCABULARIES[layer]
    told = {name: _class_of("".join(STEPS[:20]) + form.format(name)) for name in names}
    assert told == names


@pytest.mark.parametrize("layer", VOCABULARIES)
def test_a_name_that_a_run_went_on_after_is_no_failure(layer: str) -> None:
    form, names = VOCABULARIES[layer]
    said = " ".join(form.removeprefix(TRACE).format(next(iter(names))).split())
    warned = f"[2026-03-02 10:12:31] WARNING helper: {said}; retrying in 2.0s (attempt 1 of 5)\n"
    assert _class_of("".join(STEPS[:20]) + warned + "".join(STEPS[20:])) == "success_healthy"


# Raised with a sentence that tells nothing: what remains is the name.
EXCEPTIONS = {
    "botocore.exceptions.NoRegionError": "config_error",
    "botocore.exceptions.CredentialRetrievalError": "auth_error",
    "redis.exceptions.BusyLoadingError": "network_blip",
    "redis.exceptions.DataError": "code_error",
    "pymongo.errors.AutoReconnect": "network_blip",
    "pymongo.errors.InvalidOperation": "code_error",
    "kafka.errors.LeaderNotAvailableError": "network_blip",
    "google.auth.exceptions.ReauthFailError": "auth_error",
    "google.api_core.exceptions.DeadlineExceeded": "network_blip",
    "psycopg2.errors.UndefinedColumn": "code_error",
    "click.exceptions.BadParameter": "config_error",
    "requests.exceptions.InvalidHeader": "config_error",
    "tarfile.InvalidHeaderError": "data_error",
    "pandera.errors.SchemaErrors": "data_error",
    "ray.exceptions.ObjectStoreFullError": "host_oom",
    "acme.errors.StageError": "code_error",
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_the_name_of_an_exception_tells_its_class_where_its_sentence_does_not(name: str) -> None:
    assert _class_of(f"{''.join(STEPS[:9])}{TRACE}{name}: so it is\n") == EXCEPTIONS[name]
