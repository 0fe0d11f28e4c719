"""[gates], and `gates` of a stage: what must be free before a stage starts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onbox.config import values
from onbox.config.fields import Table
from onbox.config.keys import Key, Keys, OwnKey
from onbox.model.manifest import CheckpointGate, Gates, GpuGate

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class GpuKeys(Keys):
    """`gpu` of [gates]."""

    count = Key(values.count_from(1), 1, "At least this many GPUs.", "1", usual="1")
    max_used_mib = Key(values.count_from(0), None, "Each with at most this many MiB in use.", "500", usual="any use")


class CheckpointGateKeys(Keys):
    """`checkpoints` of [gates]."""

    path = Key(values.text, ".", "Where they are. Files already there count.", '"ckpt"', usual='"."')
    size = Key(values.size, 0, "The size of one checkpoint.", '"4GB"', wanted="the size of one checkpoint, such as 4GB")
    keep = Key(
        values.count_from(1), 1, "How many of them are kept.", "3", wanted="how many checkpoints are kept there at once"
    )
    scratch = Key(values.size, 0, "Room beside them.", '"10GB"', usual="none")
    files = Key(values.count_from(1), 1, "How many files one checkpoint has.", "1", usual="1")


class GatesKeys(Keys):
    """[gates], and `gates` of a stage."""

    HEADER = "[gates]"
    HELP = "Checked before each stage. A gate that refuses starts nothing and loses nothing."
    disk_free = OwnKey('Free space where the run works: a size, or a share such as "5%".', '"5GB"', usual="no gate")
    inodes_free = OwnKey(
        'Free inodes there: a count such as 200000 or "200k", or a share. A disk can be full of files while it still has '
        "room for bytes.",
        '"5%"',
        usual="no gate",
    )
    memory_free = OwnKey(
        "Free memory within the limit of the container: a size, or a share of that limit.", '"2GB"', usual="no gate"
    )
    gpu = OwnKey(
        "GPUs: at least count (default 1), each with at most max_used_mib MiB in use (default: any use).",
        "{ count = 1, max_used_mib = 500 }",
        usual="no gate",
    )
    checkpoints = OwnKey(
        'Room for the checkpoints that will be written: keep of size, files (default 1) each, where path (default ".") '
        "lies, and scratch beside them.",
        '{ path = "ckpt", size = "4GB", keep = 3, scratch = "10GB", files = 1 }',
        usual="no gate",
    )


def read_stage_gates(stage: Table, inherited: Gates) -> Gates:
    if "gates" not in stage:
        return inherited
    return read_gates(Table(stage.path_of("gates"), stage.values.get("gates", {}), GatesKeys, stage.errors), inherited)


def read_gates(table: Table, inherited: Gates) -> Gates:
    """The gates of a table: a key overrides the inherited gate, `false` switches it off."""
    return Gates(
        disk_free=_gate(table, "disk_free", values.byte_amount, inherited.disk_free),
        inodes_free=_gate(table, "inodes_free", values.inode_amount, inherited.inodes_free),
        memory_free=_gate(table, "memory_free", values.byte_amount, inherited.memory_free),
        gpu=_gate(table, "gpu", lambda value: _gpu(table, value), inherited.gpu),
        checkpoints=_gate(table, "checkpoints", lambda value: _checkpoints(table, value), inherited.checkpoints),
    )


def _gate(table: Table, key: str, parse: Callable[[object], T], inherited: T | None) -> T | None:
    return None if table.values.get(key) is False else table.read(key, parse, inherited)


def _gpu(gates: Table, value: object) -> GpuGate:
    table = Table(gates.path_of("gpu"), value, GpuKeys, gates.errors)
    return GpuGate(
        number=table.get(GpuKeys.count),
        max_used_mib=table.get(GpuKeys.max_used_mib),
    )


def _checkpoints(gates: Table, value: object) -> CheckpointGate:
    table = Table(gates.path_of("checkpoints"), value, CheckpointGateKeys, gates.errors)
    return CheckpointGate(
        size_bytes=table.get(CheckpointGateKeys.size),
        keep=table.get(CheckpointGateKeys.keep),
        scratch_bytes=table.get(CheckpointGateKeys.scratch),
        files=table.get(CheckpointGateKeys.files),
        path=table.get(CheckpointGateKeys.path),
    )
