"""Small files of results, byte for byte: what a person wants to read when a run is done. Shell text and parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.outside import safe_line
from patrol.snapshot import ResultFile

if TYPE_CHECKING:
    from patrol.probe.frames import SectionPart

FILES_LIMIT = 4
SHOWN_BYTES = 4096

# p_results PATTERN...: globs only, as of artifacts; no more than 4 files, no more than 4 KiB of each.
SHELL = r"""
p_results() {
  IFS= p_count=0
  for p_glob in "$@"; do
    p_at "$p_glob"
    for p_file in $p_path; do
      [ -f "$p_file" ] && [ $p_count -lt 4 ] || continue
      p_count=$((p_count+1))
      p_mark file
      printf '%s\n' "$p_file"
      head -c 4097 "$p_file"
    done
  done
}
"""


def parse(part: SectionPart) -> tuple[ResultFile, ...]:
    """What was sent, the last file perhaps cut where the section was late."""
    found = []
    for block in part.blocks[:FILES_LIMIT]:
        name, _, data = block.data.partition(b"\n")
        path = safe_line(name.decode("utf-8", "replace"), 300)
        text = data[:SHOWN_BYTES].decode("utf-8", "replace")
        found.append(ResultFile(path, text, whole=len(data) <= SHOWN_BYTES and part.code == 0))
    return tuple(found)
