"""GPUs as nvidia-smi tells them. What it cannot tell, and why it cannot be asked, are values of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line
from patrol.snapshot import GpuLook

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

FIELDS = (
    "index", "utilization.gpu", "memory.used", "memory.total", "temperature.gpu", "mig.mode.current",
    "ecc.errors.uncorrected.volatile.total",
)  # fmt: skip

# A driver that does not know one of the newer fields refuses them all; then the plain ones are asked for.
SHELL = r"""
p_gpus() {
  if ! command -v nvidia-smi >/dev/null; then
    [ ! -e /dev/nvidiactl ] || return 21
    return 20
  fi
  p_query() { nvidia-smi --query-gpu=$1 --format=csv,noheader,nounits 2>&1; }
  p_found=$(p_query FIELDS)
  p_code=$?
  case $p_found in
    *'valid field'*) p_found=$(p_query PLAIN); p_code=$?;;
  esac
  printf '%s\n' "$p_found"
  return $p_code
}
""".replace("FIELDS", ",".join(FIELDS)).replace("PLAIN", ",".join(FIELDS[:5]))
MIB = 1 << 20

_SICK = (
    ("version mismatch", "driver and library differ in version (an upgrade while it ran): reboot"),
    ("Unknown Error", "NVML says only 'Unknown Error': often a container that lost its devices; restart it"),
    ("couldn't communicate", "the NVIDIA driver is not loaded or does not answer"),
    ("Insufficient Permissions", "no permission for the device files"),
)  # fmt: skip


def parse(part: SectionPart) -> Maybe[tuple[GpuLook, ...]]:
    """Rows of CSV without units; any other line about a GPU is its trouble, any other answer the reason for none."""
    if part.code == 20:
        return Absent("no nvidia-smi and no NVIDIA device")
    if part.code == 21:
        return Unseen("an NVIDIA device is here, but nvidia-smi is not")
    lines = [safe_line(line).strip() for line in part.data.decode("utf-8", "replace").split("\n") if line.strip()]
    gpus = [gpu for line in lines if (gpu := _row(line)) is not None]
    lost = [line for line in lines if line.startswith("Unable to determine the device handle")]
    gpus += [_lost(len(gpus) + at, line) for at, line in enumerate(lost)]
    if gpus:
        return tuple(gpus)
    text = " ".join(lines)[:300]
    if "No devices were found" in text:
        return Absent("the driver shows no card here")
    return Unseen(next((why for sign, why in _SICK if sign in text), f"nvidia-smi: {text or 'said nothing'}"))


def _row(line: str) -> GpuLook | None:
    words = [word.strip() for word in line.split(",")]
    if len(words) not in (5, len(FIELDS)) or not words[0].isdigit():
        return None
    mig = len(words) > 5 and words[5] == "Enabled"
    busy = Absent("a card in MIG mode tells no utilisation") if mig else _number(words[1])
    used, total = _number(words[2]), _number(words[3])
    return GpuLook(
        int(words[0][:6]),
        busy,
        used * MIB if isinstance(used, int) else used,
        total * MIB if isinstance(total, int) else total,
        _number(words[4]),
        _trouble(words),
    )


def _number(word: str) -> Maybe[int]:
    if word.isdigit() and len(word) < 16:
        return int(word)
    if word in ("N/A", "[N/A]", "[Not Supported]"):
        return Absent("not supported here")
    return Unseen(word.strip("[]")[:80] or "not told")


def _trouble(words: list[str]) -> str:
    for word in words[1:]:
        if "lost" in word.lower() or "unknown error" in word.lower() or "requires reset" in word.lower():
            return word.strip("[]")[:80]
    errors = words[6] if len(words) > 6 else ""
    return f"{errors} uncorrected memory errors since the driver was loaded" if errors.isdigit() and int(errors) else ""


def _lost(number: int, line: str) -> GpuLook:
    why = Unseen("the card does not answer")
    return GpuLook(number, why, why, why, why, line[:200])
