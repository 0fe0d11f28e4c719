"""Names that the libraries of accelerators give to what went wrong, as CUDA and HIP spell them alike. Pure.

Each name is written in three ways: cudaErrorNoDevice (hipErrorNoDevice), CUDA_ERROR_NO_DEVICE, and as a sentence behind
"CUDA error: ". The libraries above them (cuDNN, cuBLAS, ...) have statuses of their own.
"""

from __future__ import annotations

import re

from onbox.triage.rules.rows import CAUSE, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

_ENVIRONMENT = (
    "NoDevice InvalidDevice InsufficientDriver InitializationError NotInitialized SystemDriverMismatch SystemNotReady"
    " CompatNotSupportedOnDevice NoKernelImageForDevice NoBinaryForGpu SharedObjectInitFailed"
    " SharedObjectSymbolNotFound InvalidKernelImage InvalidImage InvalidPtx UnsupportedPtxVersion StartupFailure"
    " JitCompilerNotFound JitCompilationDisabled DevicesUnavailable DeviceNotLicensed DeviceUnavailable"
    " MpsConnectionFailed MpsServerNotReady MpsRpcFailure MpsMaxClientsReached MpsMaxConnectionsReached"
    " MpsClientTerminated StubLibrary CallRequiresNewerDriver UnsupportedDevsideSync InvalidDeviceFunction"
    " InvalidKernelFile DeviceUninitialized DeviceAlreadyInUse PeerAccessUnsupported CdpNotSupported CdpVersionMismatch"
)
_SAYS_ENVIRONMENT = (
    "initialization error|driver shutting down|cuda driver is a stub library"
    "|cuda driver version is insufficient for cuda runtime version|invalid device function"
    "|api call is not supported in the installed cuda driver|no (?:cuda|rocm)-capable device|invalid device ordinal"
    "|device doesn't have valid grid license|device kernel image is invalid|no kernel image is available"
    "|exclusive-thread device already in use|peer access is not supported|a ptx jit compilation failed"
    "|ptx jit compil|the provided ptx was compiled|shared object (?:symbol|initialization)|mps (?:client|server|has)"
    "|the (?:remote procedural call between the|hardware resources required to create) mps|forward compatibility was"
    "|system (?:not yet initialized|has unsupported display)"
    "|(?:all )?cuda-capable device\\(s\\) (?:is/)?are busy"
)
_MEMORY = "MemoryAllocation OutOfMemory RuntimeMemory"
_HARDWARE = (
    "EccUncorrectable ECCUncorrectable ECCNotCorrectable HardwareStackError NvlinkUncorrectable Contained"
    " ExternalDevice"
)
_SAYS_HARDWARE = (
    "uncorrectable (?:ecc|nvlink) error|hardware stack error|the device is in an unrecoverable contained"
    "|invalid access of peer gpu memory over nvlink"
)
_KERNEL = (
    "IllegalAddress IllegalInstruction MisalignedAddress Assert LaunchFailure LaunchFailed LaunchTimeout LaunchTimeOut"
    " InvalidPc InvalidAddressSpace LaunchOutOfResources"
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _either_way(names: str, sentences: str = "(?!)") -> str:
    camel = "|".join(names.split())
    snake = "|".join(sorted({_CAPITAL.sub("_", name).upper() for name in names.split()}))
    return (
        rf"(?-i:\b(?:cuda|hip)Error(?:{camel})\b|\b(?:CUDA|HIP)_ERROR_(?:{snake})\b)"
        rf"|\b(?:cuda|hip)(?: runtime)? error: (?:{sentences})"
    )


def _row(kind: str, failure_class: str, names: str, example: str, sentences: str = "(?!)") -> RuleRow:
    need = "cudaerror|hiperror|cuda_error_|hip_error_|cuda error|hip error|cuda runtime error"
    pattern = _either_way(names, sentences)
    return RuleRow(f"status-{kind}", failure_class, CAUSE, need, pattern, "CUDA, HIP", example)


_STATUS = (
    r"(?-i:\b(?:CUDNN|CUBLAS|HIPBLAS|ROCBLAS|CUSPARSE|HIPSPARSE|CUSOLVER|HIPSOLVER|CURAND|HIPRAND|NVJPEG|CUTENSOR"
    r"|MIOPEN|NPP)_STATUS_{}(?![A-Z])|\b(?:CU|HIP)FFT_{}(?![A-Z])|\bmiopenStatus{}(?![a-z])"
    r"|\bHSA_STATUS_ERROR_{}(?![A-Z])|\bNVRTC_ERROR_{}(?![A-Z]))"
)
_STATUS_NEED = "_status_|cufft_|hipfft_|miopenstatus|nvrtc_error"
LIBRARY_STATUSES: tuple[RuleRow, ...] = rows(
    _STATUS,
    _STATUS_NEED,
    "cuDNN, cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND, MIOpen, HSA",
    Listed(
        "library-host-memory",
        "host_oom",
        CAUSE,
        r"INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
        "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
    ),
    Listed(
        "library-memory",
        "cuda_oom",
        CAUSE,
        r"(?:\w{1,40}_)?ALLOC(?:ATION)?_FAILED|INSUFFICIENT_RESOURCES|NO_WORKSPACE|OUT_OF_(?:MEMORY|RESOURCES)"
        r"|AllocFailed",
        "RuntimeError: curand error: CURAND_STATUS_ALLOCATION_FAILED, when calling `curandCreate(handle)`",
    ),
    Listed(
        "library-environment",
        "cuda_env",
        CAUSE,
        r"(?:\w{1,40}_)?(?:ARCH|VERSION)_MISMATCH|LICENSE_ERROR|RUNTIME_PREREQUISITE_MISSING"
        r"|SUBLIBRARY_LOADING_FAILED|INITIALIZATION_FAILED|INVALID_ISA|INCOMPATIBLE_ARGUMENTS"
        r"|BUILTIN_OPERATION_FAILURE",
        "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
    ),
)
STATUSES: tuple[RuleRow, ...] = (
    _row(
        "hardware",
        "gpu_hardware",
        _HARDWARE,
        "failed with error hipErrorECCUncorrectable at step.cc:11",
        _SAYS_HARDWARE,
    ),
    _row("memory", "cuda_oom", _MEMORY, "call failed: HIP_ERROR_OUT_OF_MEMORY"),
    _row("environment", "cuda_env", _ENVIRONMENT, "hipErrorNoDevice: no device is there", _SAYS_ENVIRONMENT),
    _row("kernel", "cuda_assert", _KERNEL, "hipErrorIllegalAddress in lane 3"),
    _row(
        "call",
        "cuda_assert",
        "InvalidConfiguration NotPermitted NotSupported",
        "cudaErrorInvalidConfiguration in launch 3",
        "invalid configuration argument|operation not (?:permitted|supported)",
    ),
    *LIBRARY_STATUSES,
    *rows(
        r"\bNVMLError(?:_\w{1,60})?: {}|\bFailed to initialize NVML: {}|\bNVML(?: error)?: {}",
        "nvml",
        "NVML, whose names pynvml and nvidia-smi print",
        Listed(
            "nvml-hardware",
            "gpu_hardware",
            CAUSE,
            "GPU is lost|GPU requires (?:re(?:start|set))|corrupted infoROM|Insufficient External Power"
            "|Interrupt Request Issue",
            "pynvml.NVMLError_CorruptedInforom: corrupted infoROM",
        ),
        Listed(
            "nvml-environment",
            "cuda_env",
            CAUSE,
            "Uninitialized|Driver|NVML|RM has|Unknown Error|Not Found|In use by|Insufficient Permissions"
            "|The operating system|GPU access blocked|Not Supported|Timeout",
            "pynvml.NVMLError_Uninitialized: Uninitialized",
        ),
    ),
)
