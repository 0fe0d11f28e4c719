"""A stand-in for the NVML binding: its calls answer from a table, or raise the binding's own errors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pynvml

MIB = 1 << 20

# As an H100 80GB under driver 535 answers while it trains.
CARD: dict[str, Any] = {
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=81559 * MIB, used=40000 * MIB, free=41559 * MIB),
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=96, memory=40),
    "nvmlDeviceGetUUID": "GPU-3d1c7c9e-5b7f-0000-aaaa-000000000001",
    "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
    "nvmlDeviceGetClockInfo": 1755,
    "nvmlDeviceGetMaxClockInfo": 1980,
    "nvmlDeviceGetTemperature": 61,
    "nvmlDeviceGetTemperatureThreshold": 87,
    "nvmlDeviceGetPowerUsage": 512_345,
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetCurrentClocksEventReasons": 0x4,
    "nvmlDeviceGetTotalEccErrors": 0,
    "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
    "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=4711, usedGpuMemory=39000 * MIB)],
    "nvmlDeviceGetMigMode": (0, 0),
}


def error(code: int) -> pynvml.NVMLError:
    """The binding's error of this code."""
    return pynvml.NVMLError(code)


class FakeNvml:
    """The module. cards: changes to CARD for each card. A value that is an error is raised; "handle": by the handle."""

    def __init__(self, *cards: dict[str, Any], init: pynvml.NVMLError | None = None) -> None:
        self.cards = [{**CARD, **changes} for changes in cards]
        self.init, self.open = init, 0

    def nvmlInit(self) -> None:  # noqa: N802 - the binding's name
        if self.init is not None:
            raise self.init
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlSystemGetDriverVersion(self) -> bytes:  # noqa: N802 - bytes, as older bindings answer
        return b"535.161.08"

    def nvmlDeviceGetHandleByIndex(self, number: int) -> int:  # noqa: N802
        return int(_or_raise(self.cards[number].get("handle", number)))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvmlDeviceGet"):
            return getattr(pynvml, name)
        if name not in CARD:
            raise AttributeError(name)
        return lambda handle, *_: _or_raise(self.cards[handle][name])


def _or_raise(value: Any) -> Any:
    if isinstance(value, pynvml.NVMLError):
        raise value
    return value
