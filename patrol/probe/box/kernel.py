"""Lines of the kernel's log that tell of a sick GPU (Xid) or of the OOM killer, where it may be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.readings import Absent, Unseen
from onbox.outside import safe_line
from onbox.regex import lazy
from patrol.snapshot import KernelFault

if TYPE_CHECKING:
    from onbox.contract.readings import Maybe
    from patrol.probe.frames import SectionPart

FIRST_SECONDS = 3600.0  # at first sight, what is older is not news

# p_kernel SINCE: only lines from that second of the uptime on, at most 20. Where the kernel restricts its log, whoever
# may not open the device may not ask either.
SHELL = r"""
p_kernel() {
  p_line=
  read -r p_line </proc/sys/kernel/dmesg_restrict
  [ "$p_line" != 1 ] || true </dev/kmsg || return 20
  { dmesg || echo '[0] dmesg says no'; } | awk -v since=$1 '
    /NVRM: Xid|[Oo]ut of memory: Kill|dmesg says no/ {
      at = $0
      sub(/^[^[]*\[ */, "", at)
      if (at + 0 >= since || at + 0 == 0) kept[n++ % 20] = $0
    }
    END { for (i = n > 20 ? n - 20 : 0; i < n; i++) print kept[i % 20] }'
}
"""
_LINE = lazy(r"^(?:<\d+>)?\[\s*(\d{1,12}(?:\.\d{1,9})?)\]\s*(.*)$")
_XID = lazy(r"NVRM: Xid \([^)]*\):\s*(\d{1,4})")


def parse(part: SectionPart, since: float | None, uptime: float | None) -> Maybe[tuple[KernelFault, ...]]:
    """since: uptime of the last look, in seconds; None: the first look of this boot."""
    text = part.data.decode("utf-8", "replace")
    if part.code == 20 or "dmesg says no" in text:
        return Unseen("the kernel's log may not be read by this account")
    if part.code != 0:
        return Unseen(f"the kernel's log could not be searched (code {part.code})")
    oldest = since if since is not None else (uptime or 0.0) - FIRST_SECONDS
    faults = []
    for line in text.split("\n"):
        found = _LINE.match(line)
        at = float(found[1]) if found else None
        if not line.strip() or (at is not None and at <= oldest):
            continue
        shown = safe_line(found[2] if found else line, 300)
        xid = _XID.search(line)
        faults.append(
            KernelFault(
                "xid" if xid else "oom",
                shown,
                Absent("the kernel stamps no times") if at is None else at,
                int(xid[1]) if xid else Absent("no Xid"),
            )
        )
    return tuple(faults)
