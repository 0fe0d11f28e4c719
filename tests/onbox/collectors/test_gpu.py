"""What NVML says and does not say: every refusal is a value with its reason, and one sick card is one row."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pynvml
import pytest

from onbox.collectors.gpu.health import judge_gpu
from onbox.collectors.gpu.nvml import GpuCard, GpuProcess, GpuReading, LostGpu, name_reasons, read_gpus, visible
from onbox.collectors.gpu.watch import reading_from_plain
from onbox.contract.readings import Absent, Unseen, plain
from tests.fakes.nvml import MIB, FakeNvml, error

if TYPE_CHECKING:
    from pathlib import Path

NOT_SUPPORTED = error(pynvml.NVML_ERROR_NOT_SUPPORTED)


def read(*cards: dict[str, Any]) -> GpuReading:
    reading = read_gpus(FakeNvml(*cards))
    assert isinstance(reading, GpuReading)
    return reading


def one(**changes: Any) -> GpuCard:
    (gpu,) = read(changes).gpus
    assert isinstance(gpu, GpuCard)
    return gpu


def test_a_healthy_card_is_read_in_our_units() -> None:
    gpu = one()
    assert (gpu.number, gpu.name, gpu.utilization_percent) == (0, "NVIDIA H100 80GB HBM3", 96)
    assert (gpu.memory_used_bytes, gpu.power_watts) == (40000 * MIB, 512.345)
    assert gpu.throttle_reasons == ("sw_power_cap",)
    assert gpu.processes == (GpuProcess(4711, 39000 * MIB),)
    assert gpu.unaccounted_bytes == 1000 * MIB
    assert read({}).driver == "535.161.08"


def test_every_look_gives_back_what_it_took() -> None:
    nvml = FakeNvml({})
    read_gpus(nvml)
    assert nvml.open == 0


def test_without_a_gpu_there_is_none(tmp_path: Path) -> None:
    assert read_gpus(FakeNvml(init=error(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)), str(tmp_path)) == Absent(
        "no NVIDIA device"
    )
    assert isinstance(read_gpus(FakeNvml()), Absent)


def test_a_container_without_the_library_is_not_called_gpuless(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "nvidia0").touch()
    reading = read_gpus(FakeNvml(init=error(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)), str(tmp_path))
    assert isinstance(reading, Unseen)
    assert "libnvidia-ml" in reading.why


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("not loaded", pynvml.NVML_ERROR_DRIVER_NOT_LOADED),
        ("differ in version", pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH),
        ("permission", pynvml.NVML_ERROR_NO_PERMISSION),
        ("lost its devices", pynvml.NVML_ERROR_UNKNOWN),
        ("does not start", pynvml.NVML_ERROR_MEMORY),
    ],
)
def test_each_way_of_not_starting_has_its_reason(word: str, code: int) -> None:
    reading = read_gpus(FakeNvml(init=error(code)))
    assert isinstance(reading, Unseen)
    assert word in reading.why


@pytest.mark.parametrize("place", ["handle", "nvmlDeviceGetMemoryInfo"])
def test_a_lost_card_is_a_row_and_not_the_end(place: str) -> None:
    lost = {place: error(pynvml.NVML_ERROR_GPU_IS_LOST)}
    first, second, third = read({}, lost, {}).gpus
    assert second == LostGpu(1, "it has fallen off the bus")
    assert isinstance(first, GpuCard)
    assert (isinstance(third, GpuCard), third.number) == (True, 2)


def test_what_a_card_does_not_have_is_absent_not_zero() -> None:
    gpu = one(nvmlDeviceGetTotalEccErrors=NOT_SUPPORTED, nvmlDeviceGetRemappedRows=NOT_SUPPORTED)
    assert isinstance(gpu.ecc_uncorrected_total, Absent)
    assert isinstance(gpu.rows_pending, Absent)


def test_a_field_that_fails_is_unseen_and_costs_only_itself() -> None:
    gpu = one(nvmlDeviceGetTemperature=error(pynvml.NVML_ERROR_UNKNOWN))
    assert isinstance(gpu.temperature_celsius, Unseen)
    assert gpu.utilization_percent == 96


def test_a_split_card_has_no_utilisation() -> None:
    gpu = one(nvmlDeviceGetMigMode=(1, 1), nvmlDeviceGetUtilizationRates=NOT_SUPPORTED)
    assert gpu.mig is True
    assert gpu.utilization_percent == Absent("a card in MIG mode tells no utilisation")


def test_old_drivers_tell_throttling_by_another_name() -> None:
    nvml = FakeNvml({"nvmlDeviceGetCurrentClocksEventReasons": error(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)})
    nvml.nvmlDeviceGetCurrentClocksThrottleReasons = lambda _: 0x48  # type: ignore[attr-defined]
    reading = read_gpus(nvml)
    assert isinstance(reading, GpuReading)
    assert getattr(reading.gpus[0], "throttle_reasons", None) == ("hw_slowdown", "hw_thermal")


def test_unknown_throttle_bits_are_shown_as_numbers() -> None:
    assert name_reasons(0x1001) == ("idle", "0x1000")
    assert name_reasons(0) == ()


def test_processes_without_memory_make_no_false_sum() -> None:
    gpu = one(nvmlDeviceGetComputeRunningProcesses=[SimpleNamespace(pid=1, usedGpuMemory=None)])
    assert isinstance(gpu.unaccounted_bytes, Absent)


def test_a_reading_survives_its_way_through_json() -> None:
    import json

    reading = read({}, {"handle": error(pynvml.NVML_ERROR_GPU_IS_LOST)}, {"nvmlDeviceGetTotalEccErrors": NOT_SUPPORTED})
    assert reading_from_plain(json.loads(json.dumps(plain(reading)))) == reading
    assert reading_from_plain(plain(Unseen("why"))) == Unseen("why")


@pytest.mark.parametrize(
    ("expected", "devices"),
    [
        ([0, 1, 2], None),
        ([], ""),
        ([1], "1"),
        ([2, 0], "2,0"),
        ([0], "0,-1,2"),
        ([0], "0,7,1"),
        ([0], "0,0"),
        ([1], "GPU-b"),
        ([1, 0], " GPU-bbbb , GPU-a"),
        ([], "no-such"),
        ([2], "MIG-1234"),
    ],
)
def test_cuda_visible_devices_is_read_as_cuda_does(expected: list[int], devices: str | None) -> None:
    cards = [{"nvmlDeviceGetUUID": f"GPU-{letter * 4}"} for letter in "abc"]
    cards[2]["nvmlDeviceGetMigMode"] = (1, 1)  # type: ignore[assignment]
    assert [gpu.number for gpu in visible(read(*cards).gpus, devices)] == expected


def test_a_number_that_stands_for_no_value_is_absent() -> None:
    gpu = one(nvmlDeviceGetPowerUsage=0xFFFF_FFFF, nvmlDeviceGetTotalEccErrors=0xFFFF_FFFF_FFFF_FFFF)
    assert isinstance(gpu.power_watts, Absent)
    assert isinstance(gpu.ecc_uncorrected_total, Absent)


def test_a_card_without_rights_is_closed_and_not_broken() -> None:
    (row,) = read({"handle": error(pynvml.NVML_ERROR_NO_PERMISSION)}).gpus
    assert row == LostGpu(0, "no permission for it", closed=True)
    (concern,) = judge_gpu(row)
    assert "CUDA_VISIBLE_DEVICES" in concern.remedy


def test_device_files_without_a_listed_card_are_no_absence(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidia0").touch()
    assert isinstance(read_gpus(FakeNvml(), str(tmp_path)), Unseen)
    assert isinstance(read_gpus(FakeNvml(), str(tmp_path / "dev")), Absent)
