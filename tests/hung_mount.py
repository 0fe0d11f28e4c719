"""A real file system that never answers: FUSE with a silent user-space side. Who looks at it hangs in the kernel."""

from __future__ import annotations

import ctypes
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def hung_mount(point: Path) -> Iterator[Path]:
    """Mount it at `point`. Skips the test where that cannot be done. At the end everybody who hangs there is let go."""
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        pytest.skip("needs root and /dev/fuse")
    point.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"onbox-hung", os.fsencode(point), b"fuse.hung", 0, options):
        os.close(fd)
        pytest.skip(f"cannot mount FUSE: {os.strerror(ctypes.get_errno())}")
    try:
        yield point
    finally:
        os.close(fd)  # aborts the connection: every waiting call fails
        subprocess.run(["umount", "-l", os.fspath(point)], check=False)
