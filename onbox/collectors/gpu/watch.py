"""NVML in a child of its own: a sick card may hang or crash the child, never who asks. No GPU: no child.

The child is a plain interpreter with its site-packages, because the binding lives there; the runner has none of them.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from onbox.collectors.gpu.nvml import NO_DEVICE, GpuCard, GpuProcess, GpuReading, LostGpu, may_have_gpu, read_gpus
from onbox.contract.readings import Absent, Unseen, plain, unplain
from onbox.system.child_query import ChildQuery, Silence
from onbox.system.self_exec import PACKAGE_ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.readings import Maybe

FIRST_ANSWER_SECONDS = 12.0  # a driver without persistence mode takes some seconds to wake its cards up
NO_BINDING = Unseen("the Python package nvidia-ml-py is not installed beside onbox: pip install nvidia-ml-py")

_BOOT = "import sys; sys.path.append(sys.argv[1]); from onbox.collectors.gpu.watch import serve; serve()"


def gpu_words() -> tuple[str, ...]:
    """The argv of the child."""
    return (sys.executable, "-I", "-X", "utf8", "-c", _BOOT, PACKAGE_ROOT)


def serve() -> None:
    """The child: a line in, a reading (JSON) per line out, until the input ends."""
    for _ in sys.stdin.buffer:
        sys.stdout.write(json.dumps(plain(_read())) + "\n")
        sys.stdout.flush()


def _read() -> Maybe[GpuReading]:
    try:
        import pynvml  # noqa: PLC0415 - only in this child
    except ImportError:
        return NO_BINDING
    return read_gpus(pynvml)


class GpuWatch:
    """Asks the child. argv: its words (a stand-in in tests)."""

    def __init__(self, argv: Sequence[str] | None = None, root: str = "/") -> None:
        self._asker = ChildQuery(argv or gpu_words(), name="NVML") if argv or may_have_gpu(root) else None

    @property
    def fd(self) -> int | None:
        """Becomes readable with an answer; None while none is awaited."""
        return None if self._asker is None else self._asker.fd

    def has_answer(self) -> bool:
        """Whether `answer(0)` would not have to wait."""
        return self._asker is None or self._asker.has_answer()

    def ask(self) -> None:
        """Put the question; without a GPU there is none."""
        if self._asker is not None:
            self._asker.ask()

    def answer(self, timeout_seconds: float) -> Maybe[GpuReading]:
        """The reading, waited for at most so long."""
        if self._asker is None:
            return NO_DEVICE
        answer = self._asker.answer(timeout_seconds)
        if isinstance(answer, Silence):
            return Unseen(answer.why)
        try:
            return reading_from_plain(json.loads(answer))
        except (ValueError, TypeError, KeyError):
            return Unseen("the look at the GPUs gave no reading")

    def close(self) -> None:
        if self._asker is not None:
            self._asker.close()


def read_once(timeout_seconds: float = FIRST_ANSWER_SECONDS) -> Maybe[GpuReading]:
    """A single bounded look, for commands that end soon and for the gate."""
    watch = GpuWatch()
    try:
        watch.ask()
        return watch.answer(timeout_seconds)
    finally:
        watch.close()


def reading_from_plain(data: Any) -> Maybe[GpuReading]:
    """The inverse of `plain(reading)`. Raises KeyError, TypeError, ValueError for anything else."""
    whole = unplain(data)
    if isinstance(whole, Absent | Unseen):
        return whole
    return GpuReading(unplain(data["driver"]), tuple(map(_gpu_from_plain, data["gpus"])))


def _gpu_from_plain(data: dict[str, Any]) -> GpuCard | LostGpu:
    if "why" in data:
        return LostGpu(int(data["number"]), str(data["why"]), bool(data["closed"]))
    values = {key: unplain(data[key]) for key in GpuCard._fields}
    if isinstance(values["throttle_reasons"], list):
        values["throttle_reasons"] = tuple(values["throttle_reasons"])
    if isinstance(values["processes"], list):
        values["processes"] = tuple(
            GpuProcess(int(one["pid"]), unplain(one["used_bytes"])) for one in values["processes"]
        )
    return GpuCard(**values)
