"""GPUs as NVML tells them. Every field may be absent (not supported by this card) or unseen, each with its reason.

Source: NVIDIA NVML API reference; the binding is nvidia-ml-py (`import pynvml`; PyPI's `pynvml` is another).
`nvml` is that module, or a stand-in. Call it in a process of its own only (`watch.py`): a sick card can hang or
crash whoever asks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.contract.readings import Absent, Unseen
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.contract.readings import Maybe

DEVICE_FILES = ("dev/nvidiactl", "dev/nvidia0", "proc/driver/nvidia/version", "dev/dxg")
NO_DEVICE = Absent("no NVIDIA device")

# nvml.h, NVML_VALUE_NOT_AVAILABLE: what fields of 32 and 64 bits hold where there is no value.
NOT_AVAILABLE = (0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)

# Bits of the clock event (formerly throttle) reasons, and what they mean for a training job.
# "alarm": the hardware protects itself; "warn": heat; "normal": seen on healthy cards.
THROTTLE_REASONS: tuple[tuple[int, str, str], ...] = (
    (0x001, "idle", "normal"),
    (0x002, "app_clocks", "normal"),
    (0x004, "sw_power_cap", "normal"),
    (0x008, "hw_slowdown", "alarm"),
    (0x010, "sync_boost", "normal"),
    (0x020, "sw_thermal", "warn"),
    (0x040, "hw_thermal", "alarm"),
    (0x080, "hw_power_brake", "alarm"),
    (0x100, "display", "normal"),
)


class GpuProcess(NamedTuple):
    """A process with memory on the card. In a container the pid is the host's: it names no process here."""

    pid: int
    used_bytes: Maybe[int]


class GpuCard(NamedTuple):
    """One card. clocks in MHz, power in watts. slowdown_celsius: where the card begins to slow itself down.

    ecc_uncorrected_total: since the driver was loaded (volatile). rows_pending: memory rows wait for a reset to be
    remapped; rows_failed: a remap failed. unaccounted_bytes: memory in use that no listed process has (another
    container, the host, or a dead process; some is always the driver's own).
    """

    number: int
    uuid: Maybe[str]
    name: Maybe[str]
    utilization_percent: Maybe[int]
    memory_used_bytes: Maybe[int]
    memory_total_bytes: Maybe[int]
    sm_clock_mhz: Maybe[int]
    max_sm_clock_mhz: Maybe[int]
    temperature_celsius: Maybe[int]
    slowdown_celsius: Maybe[int]
    power_watts: Maybe[float]
    power_limit_watts: Maybe[float]
    throttle_reasons: Maybe[tuple[str, ...]]
    ecc_uncorrected_total: Maybe[int]
    rows_pending: Maybe[bool]
    rows_failed: Maybe[bool]
    processes: Maybe[tuple[GpuProcess, ...]]
    unaccounted_bytes: Maybe[int]
    mig: Maybe[bool]


class LostGpu(NamedTuple):
    """A card that is counted and cannot be looked at. closed: for want of rights, so it may be sound."""

    number: int
    why: str
    closed: bool = False


class GpuReading(NamedTuple):
    """All cards, in NVML's order (that of the PCI bus, which CUDA follows with CUDA_DEVICE_ORDER=PCI_BUS_ID)."""

    driver: Maybe[str]
    gpus: tuple[GpuCard | LostGpu, ...]


def may_have_gpu(root: str = "/") -> bool:
    """Whether any file of the NVIDIA driver is here. Without one there is nothing to ask."""
    return any(os.path.exists(os.path.join(root, name)) for name in DEVICE_FILES)


def read_gpus(nvml: Any, root: str = "/") -> Maybe[GpuReading]:
    """Ask NVML. Its initialisation fails in ways that differ in what to do; each is told apart."""
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return _not_started(nvml, error, root)
    try:
        count = nvml.nvmlDeviceGetCount()
        driver = _field(nvml, nvml.nvmlSystemGetDriverVersion)
        if not count:
            return _no_card(root)
        return GpuReading(_text(driver), tuple(_read_one(nvml, number) for number in range(count)))
    except nvml.NVMLError as error:
        return Unseen(f"NVML: {error}")
    finally:
        _shut_down(nvml)


def _no_card(root: str) -> Absent | Unseen:
    if os.path.exists(os.path.join(root, "dev/nvidia0")):
        return Unseen(
            "/dev/nvidia0 is here, but NVML lists no card: it did not start up; the kernel's log says why (NVRM)"
        )
    return Absent("the driver shows no card to this container")


def _shut_down(nvml: Any) -> None:
    try:
        nvml.nvmlShutdown()
    except nvml.NVMLError:
        return  # nothing was kept, and the next look begins anew


def _not_started(nvml: Any, error: Any, root: str) -> Absent | Unseen:
    """Why NVML does not start. Pure but for the look at device files."""
    if error.value == nvml.NVML_ERROR_LIBRARY_NOT_FOUND:
        if not may_have_gpu(root):
            return NO_DEVICE
        return Unseen(
            "device files are here, but libnvidia-ml.so.1 is not: start the container with the NVIDIA runtime"
        )
    known = {
        nvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded",
        nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver and library differ in version (an upgrade while it ran): "
        "restart the container, or reboot",
        nvml.NVML_ERROR_NO_PERMISSION: "no permission for the device files",
        nvml.NVML_ERROR_UNKNOWN: "NVML says only 'Unknown Error': often a container that lost its devices "
        "(a daemon-reload on the host); restart it",
    }
    return Unseen(known.get(error.value, f"NVML does not start: {error}"))


def _read_one(nvml: Any, number: int) -> GpuCard | LostGpu:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(number)
        nvml.nvmlDeviceGetMemoryInfo(handle)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
            return LostGpu(number, _lost_text(nvml, error), error.value == nvml.NVML_ERROR_NO_PERMISSION)
    return _fields_of(nvml, number, handle)


def _lost_text(nvml: Any, error: Any) -> str:
    if error.value == nvml.NVML_ERROR_GPU_IS_LOST:
        return "it has fallen off the bus"
    if error.value == nvml.NVML_ERROR_NO_PERMISSION:
        return "no permission for it"
    return f"NVML: {error}"


def _fields_of(nvml: Any, number: int, handle: Any) -> GpuCard:
    def ask(name: str, *words: Any) -> Any:
        return _field(nvml, getattr(nvml, name, None), handle, *words)

    memory, busy = ask("nvmlDeviceGetMemoryInfo"), ask("nvmlDeviceGetUtilizationRates")
    used, remapped = _part(memory, "used"), ask("nvmlDeviceGetRemappedRows")
    processes = _processes(ask("nvmlDeviceGetComputeRunningProcesses"))
    mig = ask("nvmlDeviceGetMigMode")
    return GpuCard(
        number=number,
        uuid=_text(ask("nvmlDeviceGetUUID")),
        name=_text(ask("nvmlDeviceGetName")),
        utilization_percent=_busy(busy, mig),
        memory_used_bytes=used,
        memory_total_bytes=_part(memory, "total"),
        sm_clock_mhz=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
        max_sm_clock_mhz=ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM),
        temperature_celsius=ask("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
        slowdown_celsius=ask("nvmlDeviceGetTemperatureThreshold", nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
        power_watts=_watts(ask("nvmlDeviceGetPowerUsage")),
        power_limit_watts=_watts(ask("nvmlDeviceGetEnforcedPowerLimit")),
        throttle_reasons=_reasons(nvml, handle),
        ecc_uncorrected_total=ask(
            "nvmlDeviceGetTotalEccErrors", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        ),
        rows_pending=_row(remapped, 2),
        rows_failed=_row(remapped, 3),
        processes=processes,
        unaccounted_bytes=_unaccounted(used, processes),
        mig=_mig(mig),
    )


def _field(nvml: Any, function: Callable[..., Any] | None, *words: Any) -> Any:
    """One answer. What the card does not have is Absent; every other error is Unseen."""
    if function is None:
        return Absent("this binding does not know it")
    try:
        return _available(function(*words))
    except nvml.NVMLError as error:
        missing = (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        return Absent("not supported here") if error.value in missing else Unseen(f"NVML: {error}")


def _available(value: Any) -> Any:
    return Absent("the driver says that it is not available") if value in NOT_AVAILABLE else value


def _text(value: Any) -> Any:
    """Older bindings answer with bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _part(value: Any, name: str) -> Any:
    return value if isinstance(value, Absent | Unseen) else _available(int(getattr(value, name)))


def _busy(rates: Any, mig: Any) -> Maybe[int]:
    if isinstance(mig, list | tuple) and not isinstance(mig, Absent | Unseen) and mig and mig[0]:
        return Absent("a card in MIG mode tells no utilisation")
    return rates if isinstance(rates, Absent | Unseen) else int(rates.gpu)


def _watts(milliwatts: Any) -> Maybe[float]:
    return milliwatts if isinstance(milliwatts, Absent | Unseen) else milliwatts / 1000


def _row(remapped: Any, place: int) -> Maybe[bool]:
    """nvmlDeviceGetRemappedRows: (correctable, uncorrectable, pending, failed)."""
    return remapped if isinstance(remapped, Absent | Unseen) else bool(remapped[place])


def _mig(mode: Any) -> Maybe[bool]:
    return mode if isinstance(mode, Absent | Unseen) else bool(mode[0])


def _reasons(nvml: Any, handle: Any) -> Maybe[tuple[str, ...]]:
    """Renamed from ThrottleReasons to EventReasons with driver 535; a binding may know one that the driver does not."""
    bits: Any = Absent("this binding does not know it")
    for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
        bits = _field(nvml, getattr(nvml, name, None), handle)
        if not isinstance(bits, Absent):
            break
    return bits if isinstance(bits, Absent | Unseen) else name_reasons(int(bits))


def name_reasons(bits: int) -> tuple[str, ...]:
    """The names of the bits that are set; an unknown bit by its number."""
    known = sum(bit for bit, _, _ in THROTTLE_REASONS)
    names = [name for bit, name, _ in THROTTLE_REASONS if bits & bit]
    return (*names, f"{bits & ~known:#x}") if bits & ~known else tuple(names)


def _processes(found: Any) -> Maybe[tuple[GpuProcess, ...]]:
    if isinstance(found, Absent | Unseen):
        return found
    unknown = Absent("the driver does not tell it")
    return tuple(
        GpuProcess(int(one.pid), unknown if one.usedGpuMemory in (None, *NOT_AVAILABLE) else int(one.usedGpuMemory))
        for one in found
    )


def _unaccounted(used: Maybe[int], processes: Maybe[tuple[GpuProcess, ...]]) -> Maybe[int]:
    if isinstance(used, Absent | Unseen):
        return used
    if isinstance(processes, Absent | Unseen):
        return processes
    amounts = [process.used_bytes for process in processes]
    if any(not isinstance(amount, int) for amount in amounts):
        return Absent("the driver does not tell the memory of each process")
    return max(0, used - sum(amount for amount in amounts if isinstance(amount, int)))


def visible(gpus: tuple[GpuCard | LostGpu, ...], devices: str | None) -> tuple[GpuCard | LostGpu, ...]:
    """The cards that CUDA_VISIBLE_DEVICES leaves, in its order (CUDA C++ Programming Guide, environment variables).

    devices: its value; None: all are visible. Numbers or beginnings of UUIDs; the list ends at the first that names
    none. A MIG instance is counted as the card in MIG mode, if there is just one.
    """
    if devices is None:
        return gpus
    found: list[GpuCard | LostGpu] = []
    for word in devices.split(","):
        gpu = _named(gpus, word.strip())
        if gpu is None:
            break
        found.append(gpu)
    return tuple(dict.fromkeys(found))


def _named(gpus: tuple[GpuCard | LostGpu, ...], word: str) -> GpuCard | LostGpu | None:
    if word.isdigit():
        return next((gpu for gpu in gpus if gpu.number == int(word)), None)
    if word.startswith("MIG-"):
        split = [gpu for gpu in gpus if isinstance(gpu, GpuCard) and gpu.mig is True]
        return split[0] if len(split) == 1 else None
    if not word.startswith("GPU-"):
        return None
    return next((gpu for gpu in gpus if isinstance(gpu, GpuCard) and str(gpu.uuid).startswith(word)), None)
