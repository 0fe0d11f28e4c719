"""Rows about memory: of the card, of the TPU, of the host, and the shared memory of loaders. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import CAUSE, DEATH, REASON, RuleRow

SHARED: tuple[RuleRow, ...] = (
    RuleRow(
        "shm-allocate",
        "shm_too_small",
        CAUSE,
        "shm|shared memory|torch_",
        r"unable to (?:allocate|open|resize|write to file|mmap).{0,40}shared memory"
        r"|unable to \w{1,40} (?:to )?(?:file )?</torch_"
        r"|insufficient shared memory|shared memory.{0,60}no space left|no space left.{0,60}shared memory"
        r"|(?:error|failed|unable).{0,30}creat\w{1,40} shared memory|shm_open\b.{0,80}no space|out of shared memory",
        "PyTorch, multiprocessing",
        "RuntimeError: unable to write to file </torch_77_12>: No space left on device; out of shared memory (shm)",
    ),
    RuleRow(
        "shm-no-space",
        "shm_too_small",
        CAUSE,
        "/dev/shm|shm.|psm_|semlock|torch_|nccl-",
        r"^(?=.*no space left|.*errno 28|.*not enough space|.*bus error|.*\bfull\b|.*too small|.*truncate).*"
        r"(?:/dev/shm|\bshm\.(?:h|cc):|\bpsm_[0-9a-f]|_multiprocessing\.SemLock|/torch_\d|/nccl-\w{1,40})",
        "Linux ENOSPC in tmpfs",
        "OSError: [Errno 28] No space left on device: '/dev/shm/psm_12ab'",
    ),
    RuleRow(
        "shm-bus-error",
        "shm_too_small",
        CAUSE,
        "insufficient shared memory|received signal|bus error|out of shm|sigbus",
        r"dataloader worker.{0,80}bus error|killed by signal: bus error|might be caused by insufficient shared memory"
        r"|possible out of shm|^.{0,80}\bbus error(?: \(core dumped\))?\s{0,8}$|received signal 7\b"
        r"|: line \d{1,9}:\s{1,8}\d{1,20} bus error\b"
        r"|(?<!or )\bsigbus\b(?! or\b)",
        "PyTorch DataLoader, bash",
        "RuntimeError: DataLoader worker (pid 91) is killed by signal: Bus error.",
    ),
)

BUS_EXIT: tuple[RuleRow, ...] = (
    RuleRow(
        "exit-bus-error",
        "shm_too_small",
        DEATH,
        "exit|returned|return code|status|returncode",
        r"(?:exit(?:ed|s|ing|[ _]?code|[ _]?status)?|return(?:ed)?[ _]?(?:code|status)?|returncode|status)\b"
        r"[^\d-]{0,30}(?:135|-7)(?![\d.])",
        "shells, torchrun, DeepSpeed: SIGBUS",
        "main.py exits with return code = -7",
        True,
    ),
)

TPU: tuple[RuleRow, ...] = (
    RuleRow(
        "tpu-hbm",
        "tpu_hbm_oom",
        CAUSE,
        "hbm|bottom of memory",
        r"^(?=.*(?:exceed|exhaust|ran out|out of memory|oom\b|does not fit|not enough|requirement"
        r"|largest program|that was not possible)).*(?<![a-z])hbm\d{0,2}\b"
        r"|hbm.{0,40}(?:exceeded|exhausted)|to (?:reserve|allocate) [\d.]{1,12}\w? at the bottom of memory",
        "XLA:TPU compiler and runtime",
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 21.3G of 15.7G hbm.",
    ),
    RuleRow(
        "tpu-compiler-report",
        "tpu_hbm_oom",
        CAUSE - 1,  # a line that states the sizes goes before it
        "compiler_base.cc",
        r"\bcompiler_base\.cc:\d{1,6}\b",
        "XLA:TPU: the compiler reports allocations there when a program does not fit",
        "E1001 10:00:00.000000 1 compiler_base.cc:2587] Largest allocations follow",
        True,
    ),
    RuleRow(
        "tpu-exhausted",
        "tpu_hbm_oom",
        CAUSE,
        "tpu",
        r"^(?=.*resource_exhausted|.*resource exhausted|.*out of memory).*(?:\btpu\b|xla:tpu|tpu_)",
        "XLA:TPU",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: TPU backend error (ResourceExhausted).",
    ),
    RuleRow(
        "tpu-vmem",
        "tpu_hbm_oom",
        CAUSE,
        "vmem|smem",
        r"ran out of memory in memory space (?:vmem|smem)|scoped vmem.{0,60}(?:limit|exceed)",
        "XLA:TPU",
        "Ran out of memory in memory space vmem. Used 17M of 16M vmem.",
    ),
)

# The same words as for a card, but the allocator is the host's.
XLA_ON_HOST: tuple[RuleRow, ...] = (
    RuleRow(
        "xla-host-oom",
        "host_oom",
        CAUSE,
        "out of memory allocating|device:cpu|allocator cpu|allocator mklcpu",
        r"out of memory allocating \d+ bytes(?! of device)|\boom\b.{0,200}(?:device:CPU:\d|by allocator (?:mkl)?cpu\b)",
        "JAX and TensorFlow on the CPU",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 640000000000 bytes.",
    ),
)

CARD: tuple[RuleRow, ...] = (
    RuleRow(
        "cuda-oom",
        "cuda_oom",
        CAUSE,
        "out_of_memory|out of memory|out of gpu memory|out of device memory|outofgpumemory"
        "|outofmemory|memory_allocation|alloc_failed|memoryallocation|outofdevicememory|rmm failure",
        r"(?:cuda\w{0,24}|hip\w{0,24}|xpu|mps|gpu|cudnn|cublas|npu|nvml|optix|vulkan|device|musa|rocm)\b.{0,60}"
        r"\bout of memory"
        r"|out of memory.{0,80}(?:\bgpu\b|cuda|device memory|vram|\bmps\b|\bxpu\b)"
        r"|\bout of (?:gpu|device) memory\b|OutOfGPUMemoryError|\[TRT\].{0,120}\bOutOfMemory\b"
        r"|(?:torch\.(?:cuda\.)?|accelerator ?)OutOfMemoryError|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY"
        r"|(?:CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CUFFT)_STATUS_(?:\w{0,24}_)?ALLOC_FAILED|hipErrorOutOfMemory"
        r"|ErrorOutOfDeviceMemory|nvidia.{0,40}out of memory|\bRMM failure at:",
        "PyTorch, CUDA, HIP, MPS",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",
    ),
    RuleRow(
        "cuda-tried-to-allocate",
        "cuda_oom",
        CAUSE,
        "tried to allocate|total capacity|already allocated",
        r"tried to allocate [\d.]+ .?i?B.{0,40}(?:GPU|\d{1,20} total capacity)|total capacity.{0,60}already allocated"
        r"|\b(?:cuda|hip|xpu|gpu)\b.{0,20}\btried to allocate [\d.]+ .?i?B",
        "PyTorch caching allocator",
        "Tried to allocate 2.00 GiB (GPU 0; 23.65 GiB total capacity; 20.1 GiB already allocated)",
    ),
    RuleRow(
        "xla-gpu-oom",
        "cuda_oom",
        CAUSE,
        "oom when allocating|resource_exhausted|unable to allocate|could not allocate|cannot allocate"
        "|resource exhausted"
        "|resourceexhausted|failed to allocate|ran out of memory|device memory",
        r"(?:RESOURCE_EXHAUSTED|ResourceExhausted(?:Error)?|resource exhausted)\W.{0,120}"
        r"(?:out of memory|oom when allocating|failed to allocate|allocat\w{1,40} (?:request|\d{1,20}))"
        r"|failed to allocate.{0,80}(?:gpu|device) memory|failed to allocate request for"
        r"|allocator \(gpu.{0,30}ran out of memory|failed to allocate [\d.]+ ?[kmgt]i?b?.{0,40}from device"
        r"|oom when allocating tensor|unlikely to have enough device memory|(?:failed|unable|cannot"
        r"|could not) (?:to )?allocate.{0,100}\b(?:cuda"
        r"|gpu|on device)|^(?!google)[\w.]*ResourceExhaustedError:(?!.{0,60}(?:429|quota|space))",
        "JAX and TensorFlow on a GPU",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5435817856 bytes.",
    ),
    RuleRow(
        "kv-cache-memory",
        "cuda_oom",
        CAUSE,
        "kv cache|cache blocks|gpu memory|gpu_memory_utilization|vram|device memory|free memory on device|prefill",
        r"no available memory for the (?:kv )?cache|(?:larger|more) than the (?:maximum number of tokens"
        r"|available).{0,60}kv cache"
        r"|not enough (?:gpu |free )?memory.{0,60}(?:kv|gpu|cache|device)|free memory on device.{0,120}less than"
        r"|insufficient (?:gpu|vram|device) memory|not enough (?:vram|gpu memory)"
        r"|\bonly [\d.]{1,9} ?[kmg]i?b (?:of )?(?:free )?(?:gpu memory|device memory|vram) (?:is |are )?(?:free|left"
        r"|available)\b"
        r"|needed for.{0,40}kv cache.{0,80}larger|not enough memory to handle \d{1,9} prefill",
        "vLLM, SGLang",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`.",
    ),
)

HOST: tuple[RuleRow, ...] = (
    RuleRow(
        "oom-kill",
        "host_oom",
        REASON,
        "oom kill|out-of-memory|oom-kill|oom_kill|oomkill|oom killer|out of memory: kill"
        "|cgroup out of memory|out_of_memory"
        "|oom-killer|oom handler|earlyoom|oomd",
        r"oom-kill:|\d oom[-_ ]kill event"
        r"|(?<!\d )(?<![/\w-])oom[-_ ]kill(?:er|ed)?\b(?![\w-]*/)"
        r"(?!\W{0,3}(?:0|none|false|disabled)\b)(?!.{0,30}\b(?:no|not|disabled)\b)(?!\s{1,20}(?:\d+\s*$|\|))"
        r"(?!.{0,30}\b(?:simulation|simulated|test|passed|survived)\b)"
        r"|OOMKilled"
        r"|out of memory: kill(?:ed)? process|cgroup out of memory|state[ :=]+OUT_OF_MEMORY"
        r"|killed by the cgroup out-of-memory|\b(?:earlyoom|\w{0,24}oomd)\b.{0,80}(?:low memory|sending sig|killed)",
        "Linux kernel, Slurm, Kubernetes",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=11.batch. Some tasks have been OOM Killed.",
        True,
    ),
    RuleRow(
        "memory-limit",
        "host_oom",
        REASON,
        "container|memlimit|memory limit|memory budget|mem |job memory|memory cgroup|vmem|pmem"
        "|exceeded memory|memory quota|memory usage"
        "|virtual memory"
        "|ran out of memory",
        r"TERM_MEMLIMIT|exceeded (?:job |step |its |the )?(?:virtual )?memory(?: limit)?\b|exceeded .{0,20}memory limit"
        r"|(?:mem|vmem|pmem|resources_used\.\w{0,24}mem)\b.{0,40}exceeded limit|memory limit.{0,20}(?:reached|exceeded)"
        r"|container.{0,60}(?:exceed|beyond).{0,40}memory|memory usage.{0,40}exceed"
        r"|exceed\w{0,3} .{0,12}\bmemory budget"
        r"|(?:container|pod|worker|process|function|task|job)\b.{0,30} ran out of memory.{0,30}\b(?:killed|terminated)",
        "LSF, PBS, Slurm, YARN",
        "Container 7 is running beyond physical memory limits",
        True,
    ),
    RuleRow(
        "ray-memory",
        "host_oom",
        REASON,
        "killed due to|low on memory|memory pressure|ray.exceptions.outofmemoryerror",
        r"node running low on memory|killed due to (?:the )?(?:node|memory pressure)|ray\.exceptions\.OutOfMemoryError",
        "Ray memory monitor",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
    ),
    RuleRow(
        "loader-killed",
        "host_oom",
        CAUSE,
        "killed by signal",
        r"(?:worker|process).{0,40}killed by signal: (?:killed|9|sigkill)",
        "PyTorch DataLoader",
        "RuntimeError: DataLoader worker (pid 812) is killed by signal: Killed.",
    ),
    RuleRow(
        "allocation-failed",
        "host_oom",
        CAUSE,
        "memoryerror|memory allocation|cannot allocate memory|can't allocate memory|bad_alloc"
        "|unable to allocate|enomem|malloc|mmap"
        "|failed to allocate|realloc|java heap|not enough memory|insufficient memory|out of memory|calloc"
        "|cannot allocate vector|outofmemoryerror",
        r"\bMemoryError\b|cannot allocate memory|can't allocate memory|std::bad_alloc|unable to allocate [\d.]+ .?i?b\b"
        r"|cannot allocate vector of|\bOutOfMemoryError\(\)"
        r"|\bENOMEM\b|errno 12\b|(?:malloc|mmap|realloc|calloc)\b(?!\)).{0,30}failed|(?:memory allocation"
        r"|malloc) (?:of|failed)"
        r"|java\.lang\.OutOfMemoryError|not enough memory|insufficient (?:host |system )?memory"
        r"|failed to allocate (?:host|pinned|[\d.]+ bytes)|^(?:\S+: |fatal error: )?out of memory\.?$"
        r"|polars.{0,60}out of memory",
        "Python, NumPy, glibc, C++",
        "MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,)",
    ),
    RuleRow(
        "terminated-pool-worker",
        "host_oom",
        DEATH,
        "excessive memory|terminatedworkererror|brokenprocesspool|terminated abruptly|process pool was terminated",
        r"TerminatedWorkerError|BrokenProcessPool|terminated abruptly"
        r"|excessive memory usage causing the operating system to kill",
        "joblib/loky",
        "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process was unexpectedly terminated.",
    ),
    RuleRow(
        "bare-killed",
        "host_oom",
        DEATH,
        "killed|terminated by signal",
        r"^(?:.{0,160}: line \d+:)?\s{0,8}(?:\[\d{1,20}\]\s{0,8}[+-]?\s{0,8})?(?:\d+\s{1,8})?killed\s{0,8}"
        r"(?:$|\(core dumped\)"
        r"|\s{2,}(?![\d.]+(?:\s|$))\S)|: \d+ killed\b"
        r"|^.{1,160}[\]:] {1,4}killed(?: \(core dumped\))?$"
        r"|^killed(?:: 9)?\W{0,8}$|\bsignal: killed$|^(?:zsh|bash|fish|sh|dash): killed\b"
        r"|\bkilled\s{0,8}(?:by|:|with) (?:signal )?(?:9\b|sigkill)|was killed by sigkill"
        r"|^command terminated by signal 9$|(?<!will be )killed by kernel|\bkilled signal terminated program\b",
        "bash, zsh, dash",
        "run.sh: line 7: 3191 Killed                  python train.py",
        True,
    ),
    RuleRow(
        "exit-137",
        "host_oom",
        DEATH,
        "exit|returned|return code|rc=|rc:|rc |*** [|signal|sigkill|status|returncode|terminated|died",
        r"(?:exit(?:ed|s|ing|[ _]?code|[ _]?status)?|return(?:ed)?[ _]?(?:code|status|value)?|returncode|\brc"
        r"|status|died)\b[^\d-]{0,30}"
        r"(?:137|-9)(?![\d.])|\*{3} \[.{1,160} error 137$"
        r"|(?:signal|sig)[ :=(]{1,3}9\b|(?<!=)\bSIGKILL\b(?!.{0,30}(?:sending|forcefully))|exited \(137\)",
        "shells, torchrun, docker, DeepSpeed",
        "worker 3 (pid 311) died: return code -9",
        True,
    ),
)
