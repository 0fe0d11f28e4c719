"""What the tests of whole programs may use beside a box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.slurm_cluster import SlurmCluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    """A real Slurm of one host; only where `slurm_cluster.why_not` has nothing against it."""
    made = SlurmCluster()
    yield made
    made.close()
