"""Rows about accelerators: broken cards, wrong environments, device-side asserts, TPUs that cannot be taken. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import CAUSE, VAGUE, RuleRow

HARDWARE: tuple[RuleRow, ...] = (
    RuleRow(
        "xid",
        "gpu_hardware",
        CAUSE + 2,  # below the runtime, whose words ("unspecified launch failure") come first and say less
        "xid",
        r"\bxid\b\W{0,8}(?:\(pci:[^)]*\))?\W{0,8}(?:32|38|48|5[4-8]|6[1-58]|7[149]|8[0-9]|9[0-57-9]|109|11\d|12\d"
        r"|13[0-9]"
        r"|1[4-9]\d)\b"
        r"|\bxid\b.{0,80}(?:fallen off|double bit|uncorrectable|gsp|row remap|nvlink)",
        "NVIDIA driver, kernel log",
        "NVRM: Xid (PCI:0000:41:00): 79, pid=31, GPU has fallen off the bus.",
        True,
    ),
    RuleRow(
        "card-broken",
        "gpu_hardware",
        CAUSE + 1,  # whatever the runtime says of it
        "ecc|fallen off|gpu is lost|gpu has|row remap|nvlink|double bit|hardware"
        "|unable to determine the device handle|reset|needs to be"
        "|unrecoverable|gsp|cudaerrordevices|sxid|gpu lost|over temperature|requires reset|device handle"
        "|hbm error|contained",
        r"uncorrectable (?:\w{1,40} )?ecc|double[- ]bit (?:ecc|error)|ecc uncorrect\w{0,24}|ecc error encountered"
        r"|fallen off the bus|gpu is lost"
        r"|row remap\w{0,24} (?:fail|pending)|unable to determine the device handle|gpu (?:requires"
        r"|needs) (?:a )?reset|nvlink.{0,40}(?:fatal|uncorrectable)"
        r"|uncorrectable nvlink|CUDA_ERROR_(?:ECC_UNCORRECTABLE|HARDWARE_STACK_ERROR|NVLINK_UNCORRECTABLE)"
        r"|hardware stack error"
        r"|GSP (?:RPC )?timeout|timeout.{0,40}\bGSP\b|device (?:was|is) lost|cudaErrorECCUncorrectable"
        r"|\bgpu lost\b|NVML.{0,30}GPU is lost"
        r"|unspecified launch failure.{0,60}hardware|CUDA error: misc hardware"
        r"|nvrm:.{0,60}(?:rminitadapter failed|gpu.{0,20}lost)",
        "NVIDIA driver, CUDA, NVML",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    ),
)

# What the kernel's drivers of devices write when one of them is broken, whatever the device.
_DEVICE_DRIVERS = r"amdgpu|nvidia(?:-nvswitch\d*)?|habanalabs|xe|i915|mce|edac(?: mc\d+)?|pcieport|aer|ghes|mlx5_core"
KERNEL_REPORTS: tuple[RuleRow, ...] = (
    RuleRow(
        "kernel-says-device-broken",
        "gpu_hardware",
        CAUSE,
        "amdgpu|nvidia|habanalabs|xe |i915|mce|edac|pcieport|aer|ghes|mlx|sxid|hw exception",
        rf"^(?:\S{{1,40}} ){{0,4}}?(?:kernel: ?)?(?:\[[\d. ]+\] ?)?"
        rf"(?:{_DEVICE_DRIVERS})\b(?: [\w:.]{{2,14}})?: (?!.{{0,120}}"
        r"\b(?:(?:no|0|zero) (?:new )?uncorrect|soft recovered))"
        r".{0,160}(?:uncorrect(?:ed|able)|\(fatal\)|, fatal|critical|poison|ring \S{1,20} (?:timeout|reset failed)"
        r"|reset(?:\(\d+\))? failed|machine check|\bue\b|hang|fallen off|not responding)"
        r"|^hw exception by gpu node",
        "Linux: amdgpu, EDAC, AER, NVSwitch, habanalabs",
        "amdgpu 0000:c1:00.0: amdgpu: ring sdma0 timeout, signaled seq=309, emitted seq=313",
        True,
    ),
)

KERNEL_FAULT: tuple[RuleRow, ...] = (
    RuleRow(
        "device-assert",
        "cuda_assert",
        CAUSE,
        "assert|illegal|misaligned|launch failure|illegaladdress|xid|invalid program counter"
        "|segmentation fault by gpu|memory access fault|hsa_status_error",
        r"(?<!enable )device-side assert|illegal memory access|misaligned address"
        r"|CUDA_ERROR_(?:ILLEGAL_\w{1,40}|MISALIGNED_ADDRESS|LAUNCH_FAILED|ASSERT)|unspecified launch failure"
        r"|illegal instruction was encountered"
        r"|HSA_STATUS_ERROR_(?:EXCEPTION|MEMORY_APERTURE_VIOLATION|MEMORY_FAULT|ILLEGAL_INSTRUCTION)"
        r"|cudaError(?:Assert|IllegalAddress|LaunchFailure|MisalignedAddress)|memory access fault by gpu"
        r"|invalid program counter|\.cu:\d+:.{0,160}assertion"
        r"|\bxid\b\W{0,8}(?:\(pci:[^)]*\))?\W{0,8}(?:8|13|31|43|45|69)\b|warp illegal"
        r"|invalid device ordinal.{0,20}assert",
        "CUDA, HIP, PyTorch kernels",
        "RuntimeError: CUDA error: device-side assert triggered",
    ),
)

TPU_NODE: tuple[RuleRow, ...] = (
    RuleRow(
        "tpu-busy",
        "tpu_bad_node",
        CAUSE,
        "libtpu|accel|tpu|device or resource busy|vfio",
        r"(?:libtpu|tpu|/dev/(?:accel|vfio)).{0,80}(?:already in use|in use by|busy|locked)"
        r"|device or resource busy.{0,60}(?:/dev/(?:accel|vfio)|\btpu)"
        r"|libtpu_lockfile|the tpu is already in use",
        "libtpu",
        "libtpu.so is already in use by another process probably owned by another user.",
        True,
    ),
    RuleRow(
        "tpu-none",
        "tpu_bad_node",
        CAUSE,
        "cleanup driver|no accelerator found|tpu|failed_precondition|driver after error",
        r"no accelerator found|(?:failed|unable) to (?:initialize|init|open|connect to|get|find"
        r"|start) .{0,40}(?:backend 'tpu'(?!.{0,80}libtpu\.so: cannot open)|\btpu\b(?!':))"
        r"|unable to initialize backend 'tpu'(?!.{0,160}(?:skip|ignor|not_found|module 'jaxlib"
        r"|libtpu\.so: cannot open))"
        r"|no tpu (?:devices|platform|chips)? ?(?:found|available)"
        r"|tpu (?:initialization|init) failed|(?<![a-z])tpu.{0,60}(?:unhealthy|failed_precondition|unavailable)"
        r"|failed_precondition.{0,80}(?:tpu|driver|slice|chip)"
        r"|failed to cleanup driver|tpu (?:driver|runtime|worker).{0,40}(?:fail|died|crash|error)"
        r"|no tpus? (?:are )?(?:visible|attached)"
        r"|expected \d+ (?:tpu )?(?:chips|worker addresses).{0,40}(?:got|found)",
        "JAX, libtpu",
        "RuntimeError: No accelerator found. Please run on a TPU or GPU.",
    ),
)

TPU_RUNTIME: tuple[RuleRow, ...] = (
    RuleRow(
        "tpu-runtime",
        "tpu_bad_node",
        CAUSE,
        "open device|tpu|session_master|synchronous_driver|error_handler|slice_failure|megascale|accel",
        r"\bSLICE_FAILURE_\w{3,60}|\btpu session error\b"
        r"|^[EF]\d{4} .{0,60}\b(?:tpu\w{0,24}|session_master|synchronous_driver|error_handler"
        r"|megascale\w{0,24})\.cc:\d+\]"
        r".{0,200}\b(?:fatal|fail\w{0,4}|error|unhealthy|lost)\b|open\(/dev/(?:accel|vfio)\S{0,8}\)"
        r"|couldn't open device: /dev",
        "libtpu: the service that watches over chips and their links",
        "E0511 18:18:50.796852 915 tpunetd_client.cc:311] Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR",
        True,
    ),
)

DRIVER_TOOLS: tuple[RuleRow, ...] = (
    RuleRow(
        "no-driver-tool",
        "cuda_env",
        CAUSE,
        "-smi|nvcc|rocminfo|dcgmi|ptxas|nvidia-",
        r"\b(?:(?:nvidia|rocm|amd|hl|npu|xpu|mx|ix|cn)-smi|nvcc|rocminfo|dcgmi|ptxas|nvidia-[\w-]{2,30})\b['\"]?.{0,30}"
        r"(?:not found|no such file|cannot execute)|(?:not found|no such file).{0,40}\b(?:nvidia-smi|rocm-smi|nvcc)\b",
        "shells and Python, where a tool of the driver or the toolkit is missing",
        "run.sh: line 3: nvidia-smi: command not found",
    ),
)

ENVIRONMENT: tuple[RuleRow, ...] = (
    RuleRow(
        "no-card",
        "cuda_env",
        CAUSE,
        "cuda|nvidia|gpu|hip |hip:|rocm|nvml|driver|built in|compiled in",
        r"unknown backend:? '?(?:gpu|cuda|rocm)'? requested"
        r"|no cuda gpus are available|no visible (?:gpu|cuda) devices?|unable to initialize backend '(?:cuda"
        r"|gpu|rocm)'(?!.{0,160}(?:skip|ignor|not_found|module 'jaxlib))"
        r"|found no nvidia driver|nvidia driver was not detected|torch not compiled with cuda|cuda (?:driver"
        r"|initialization) (?:error|failed)|no cuda-capable device"
        r"|no (?:cuda |nvidia |hip |rocm |amd |visible |usable )?gpus? (?:is |are |was |were )?(?:available"
        r"|found|detected"
        r"|visible)|cuda (?:is|was) not available|cuda not available"
        r"|cuda driver version is insufficient|driver on your system is too old|system not yet initialized"
        r"|CUDA_ERROR_(?:NO_DEVICE|SYSTEM_NOT_READY|SYSTEM_DRIVER"
        r"_MISMATCH|COMPAT_NOT_SUPPORTED|INVALID_DEVICE|UNKNOWN\b.{0,10}$)|driver/library version mismatch"
        r"|devices are busy or unavailable|CUDA\w{0,24}DEVICES_?UNAVAILABLE"
        r"|system has unsupported display driver|invalid device ordinal"
        r"|nvidia-smi has failed|couldn't communicate with the nvidia driver"
        r"|torch\.cuda\.is_available\(\) (?:is|returned|==) false"
        r"|requires? (?:a |an )?(?:cuda|gpu|nvidia)\b.{0,40}(?:but|to run|none)|failed call to cuInit"
        r"|unsupported (?:gpu|cuda) (?:arch|version)"
        r"|\b(?:doesn't|does not|didn't|did not) have (?:nccl|cuda|rccl|hccl|rocm|xla|mps) (?:built|compiled) in\b"
        r"|cuda unknown error|nvml.{0,20}(?:not found|driver not loaded)|could not select device driver"
        r"|no supported gpu backend|(?:failed to|can't|cannot) initialize nvml"
        r"|unexpected error from cudaGetDeviceCount|nvidia-container-cli.{0,40}error|gpu (?:is )?required"
        r"|need(?:s)? at least (?:one|\d{1,20}) gpu",
        "PyTorch, CUDA, docker",
        "RuntimeError: No CUDA GPUs are available",
    ),
    RuleRow(
        "wrong-build",
        "cuda_env",
        CAUSE,
        "pytorch installation|was used to compile|kernel image|sm_|compute capability|lib|ptx|arch|no kernel"
        "|glibc|cuda|toolkit|bf16|undefined symbol"
        "|flash|cudnn|invalid_isa|nobinaryforgpu|dnn library"
        "|not support |doesn't support |gpu|opencl|rocm|version tag"
        "|engine plan|convolution algorithm",
        r"no kernel image is available|not compatible with the current pytorch installation"
        r"|compute capability.{0,60}(?:required|not supported|too low|or higher|at least)"
        r"|(?:requires?|only supports?|supported on).{0,60}(?:compute capability|ampere|hopper|sm_?\d\d)"
        r"|lib(?:cuda|cudart|cudnn|cublas|nccl|nvrtc|cufft|curand"
        r"|cusparse|nvinfer|nvJitLink)[\w.-]{0,40}?\.so[\w.]{0,24}: (?:cannot open|undefined symbol|version)"
        r"|undefined symbol:? ?\w{0,24}(?:cuda|nccl|cudnn|cublas|nvJitLink|c10)"
        r"|detected cuda version.{0,60}mismatch|mismatches the version that was used to compile"
        r"|CUDA_HOME environment variable is not set|unsupported (?:ptx|toolchain)"
        r"|ptxas.{0,40}(?:fatal|unsupported|not defined)|GLIBC(?:XX)?_[\d.]+'? not found"
        r"|cudnn.{0,40}(?:version|incompatib).{0,40}(?:mismatch|but|older|incompatib|required)"
        r"|bf16.{0,60}(?:not supported|requires|unsupported).{0,40}(?:gpu|device|hardware|cuda)?"
        r"|cuda setup failed|compiled without (?:gpu|cuda)|device kernel image is invalid"
        r"|unsupported gpu architecture|provided PTX was compiled|was built for.{0,30}cuda"
        r"|HSA_STATUS_ERROR_(?:INVALID_ISA|INCOMPATIBLE\w*)|hipErrorNoBinaryForGpu|cudnn.{0,120}matching major version"
        r"|\bdnn library initialization failed"
        r"|\b(?:cuda|gpu|opencl|rocm)\b.{0,40}\bnot (?:enabled|included|compiled|built|available) in (?:this|the) \w"
        r"|\bnot (?:compiled|built|configured) with (?:\w{1,20} )?(?:cuda|gpu|opencl|rocm)\b"
        r"|(?:cannot|could not|failed to|unable to) (?:load|open|find) lib(?:cuda|nvcuvid|nvidia-\w{1,20})\.so"
        r"|(?:setup|hardware|gpu|device) (?:does not|doesn't) support "
        r"|CUDNN_STATUS_(?:NOT_INITIALIZED|VERSION_MISMATCH|ARCH_MISMATCH)"
        r"|\bserialization\b.{0,200}version tag does not match"
        r"|failed to determine best cudnn convolution algorithm"
        r"|engine plan file is (?:not compatible|generated on an incompatible)",
        "CUDA, PyTorch extensions, bitsandbytes, Triton",
        "ptxas fatal: Value 'x' is not defined for option 'gpu-name'",
    ),
    RuleRow(
        "cuda-vague",
        "cuda_assert",
        VAGUE + 2,
        "cuda error|cudnn|cublas|cuda failure|_status_|hip error|cuda_error_|cudaerror|hiperror|cufft_|miopenstatus",
        r"(?:cuda|hip) error:|\bCUDA_ERROR_[A-Z]\w{1,40}|\b(?:cuda|hip)Error[A-Z]\w{1,40}"
        r"|\b(?-i:CUDNN|CUBLAS|HIPBLAS|ROCBLAS|CUSPARSE|CUSOLVER|CURAND|NVJPEG|CUTENSOR)_STATUS_\w{1,40}"
        r"|\bCUFFT_[A-Z]\w{1,40}|\bmiopenStatus\w{1,40}|cuda failure",
        "CUDA libraries without a reason",
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    ),
)
