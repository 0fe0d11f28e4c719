"""Names that the libraries of accelerators give to what went wrong, as CUDA and HIP spell them alike. Pure.

Each name is written in two ways: cudaErrorNoDevice (hipErrorNoDevice) and CUDA_ERROR_NO_DEVICE.
"""

from __future__ import annotations

import re

from onbox.triage.rules.rows import CAUSE, RuleRow

_ENVIRONMENT = (
    "NoDevice InvalidDevice InsufficientDriver InitializationError NotInitialized SystemDriverMismatch SystemNotReady"
    " CompatNotSupportedOnDevice NoKernelImageForDevice NoBinaryForGpu SharedObjectInitFailed"
    " SharedObjectSymbolNotFound InvalidKernelImage InvalidImage InvalidPtx UnsupportedPtxVersion StartupFailure"
    " JitCompilerNotFound JitCompilationDisabled DevicesUnavailable DeviceNotLicensed DeviceUnavailable"
    " MpsConnectionFailed MpsServerNotReady StubLibrary CallRequiresNewerDriver UnsupportedDevsideSync"
)
_MEMORY = "MemoryAllocation OutOfMemory"
_HARDWARE = "EccUncorrectable ECCUncorrectable HardwareStackError NvlinkUncorrectable Contained ExternalDevice"
_KERNEL = (
    "IllegalAddress IllegalInstruction MisalignedAddress Assert LaunchFailure LaunchFailed LaunchTimeout InvalidPc"
    " InvalidAddressSpace LaunchOutOfResources"
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _either_way(names: str) -> str:
    camel = "|".join(names.split())
    snake = "|".join(sorted({_CAPITAL.sub("_", name).upper() for name in names.split()}))
    return rf"(?-i:\b(?:cuda|hip)Error(?:{camel})\b|\b(?:CUDA|HIP)_ERROR_(?:{snake})\b)"


def _row(kind: str, failure_class: str, names: str, example: str) -> RuleRow:
    need = "cudaerror|hiperror|cuda_error_|hip_error_"
    return RuleRow(f"status-{kind}", failure_class, CAUSE, need, _either_way(names), "CUDA, HIP", example)


STATUSES: tuple[RuleRow, ...] = (
    _row("hardware", "gpu_hardware", _HARDWARE, "failed with error hipErrorECCUncorrectable at step.cc:11"),
    _row("memory", "cuda_oom", _MEMORY, "call failed: HIP_ERROR_OUT_OF_MEMORY"),
    _row("environment", "cuda_env", _ENVIRONMENT, "hipErrorNoDevice: no device is there"),
    _row("kernel", "cuda_assert", _KERNEL, "hipErrorIllegalAddress in lane 3"),
)
