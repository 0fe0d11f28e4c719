"""Which disk was full: the folder that the proving line names, and nothing that only stands near it."""

from __future__ import annotations

import pytest

from onbox.triage.case_remedies import remedy_of
from onbox.triage.full_disk import full_folder


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("tee: /mnt/small/out: No space left on device", "/mnt/small"),
        ("OSError: [Errno 28] No space left on device: '/mnt/big disk/ckpt_3.pt'", "/mnt/big disk"),
        ("cp: error writing '/data/a.bin': No space left on device", "/data"),
        ("mkdir: cannot create directory ‘/scratch/u/run’: Disk quota exceeded", "/scratch/u"),  # noqa: RUF001 - as GNU says it
        ("open /out/x.json: no space left on device", "/out"),
        ("write failed: /x: no space left on device", "/"),
        ("/app/train.py:33: OSError: No space left on device", ""),
        ("/usr/bin/train.sh: line 3: echo: write error: No space left on device", ""),
        ("tee: out/log: No space left on device", ""),
        ("OSError: [Errno 28] No space left on device", ""),
        ("error writing '/mnt/$(reboot)/x': No space left on device", ""),
        (None, ""),
    ],
)
def test_the_folder_that_the_line_names(line: str | None, folder: str) -> None:
    assert full_folder(line) == folder


@pytest.mark.parametrize("failure_class", ["disk_full", "inode_exhausted", "quota_exceeded"])
def test_the_remedy_names_the_disk_that_was_full(failure_class: str) -> None:
    line = "tee: /mnt/small/out: No space left on device"
    assert "/mnt/small " in remedy_of(failure_class, "no-space", line).replace(",", " ")
    assert "/mnt" not in remedy_of(failure_class, "no-space", "No space left on device")
