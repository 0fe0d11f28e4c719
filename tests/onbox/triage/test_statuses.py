"""What a library of accelerators calls a trouble is the same trouble under CUDA's name and under HIP's."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

NAMES = [
    ("cuda_env", "NoDevice", "NO_DEVICE"),
    ("cuda_env", "InsufficientDriver", "INSUFFICIENT_DRIVER"),
    ("cuda_env", "UnsupportedPtxVersion", "UNSUPPORTED_PTX_VERSION"),
    ("cuda_oom", "OutOfMemory", "OUT_OF_MEMORY"),
    ("gpu_hardware", "ECCUncorrectable", "ECC_UNCORRECTABLE"),
    ("gpu_hardware", "HardwareStackError", "HARDWARE_STACK_ERROR"),
    ("cuda_assert", "IllegalAddress", "ILLEGAL_ADDRESS"),
    ("cuda_assert", "LaunchTimeout", "LAUNCH_TIMEOUT"),
]


@pytest.mark.parametrize(("failure_class", "camel", "snake"), NAMES)
def test_each_spelling_of_a_status_has_its_class(failure_class: str, camel: str, snake: str) -> None:
    for status in (f"cudaError{camel}", f"hipError{camel}", f"CUDA_ERROR_{snake}", f"HIP_ERROR_{snake}"):
        log = f"step 1 loss 2.0\nRuntimeError: call failed in step: {status}\n".encode()
        assert classify(log, Evidence(log_age_seconds=30.0)).failure_class == failure_class, status


KERNEL = [
    "[81231.88] amdgpu 0000:c1:00.0: amdgpu: socket: 0 2 uncorrectable hardware errors detected in gfx block",
    "[ 881.20] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0",
    "nvidia-nvswitch3: SXid (PCI:0000:c4:00.0): 12028, Fatal, Link 42 egress non-posted PRIV error (First)",
    "pcieport 0000:40:01.1: AER: Uncorrected (Fatal) error received: 0000:41:00.0",
    "habanalabs hl3: Critical HBM ECC error, device is going to be reset",
]


@pytest.mark.parametrize("line", KERNEL)
def test_a_driver_of_the_kernel_that_reports_a_broken_device_is_believed(line: str) -> None:
    verdict = classify(f"step 1 loss 2.0\nstep 2 loss 1.9\n{line}\n".encode(), Evidence(log_age_seconds=30.0))
    assert verdict.failure_class == "gpu_hardware"


@pytest.mark.parametrize(
    "line",
    [
        "amdgpu 0000:c1:00.0: amdgpu: no uncorrectable hardware errors detected in umc block",
        "[ 12.1] mlx5_core 0000:17:00.0: firmware version: 20.31.1014",
        "amdgpu 0000:c1:00.0: amdgpu: ring sdma0 timeout, but soft recovered",
    ],
)
def test_a_driver_that_reports_nothing_broken_is_no_failure(line: str) -> None:
    log = f"step 1 loss 2.0\n{line}\nstep 2 loss 1.9\nstep 3 loss 1.8\n".encode()
    assert classify(log, Evidence(log_age_seconds=30.0)).failure_class == "success_healthy"
