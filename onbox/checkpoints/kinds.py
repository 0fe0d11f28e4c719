"""How the frameworks lay out a checkpoint: one row each. Pure: names of files in, what is missing out.

What a framework writes last proves that the rest is there. A name in `last` or `weights` may hold wildcards.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection


class CheckpointKind(NamedTuple):
    """glob: how its checkpoints are called. folder: names of folders that must be laid out so where the kind is
    declared; None: its folders have no common name. signs: files that only this kind has. last: written when all else
    is there, one of them. weights: one of them must be there; () where they have no name of their own. reason: where
    that is from.
    """

    name: str
    glob: str
    folder: str | None
    signs: tuple[str, ...]
    last: tuple[str, ...]
    weights: tuple[str, ...]
    reason: str


KINDS = (
    CheckpointKind(
        "hf", "checkpoint-*", r"checkpoint-\d+",
        ("trainer_state.json", "training_args.bin"), ("trainer_state.json",),
        ("model*.safetensors", "adapter_model.*", "pytorch_model*", "tf_model.h5", "flax_model.msgpack", "global_step*",
         "*.safetensors"),
        "transformers, trainer.py: Trainer._save_checkpoint saves model, optimizer, then trainer_state.json",
    ),
    CheckpointKind(
        "orbax", "*[0-9]", r"(.{1,200}[_-])?\d{1,18}",
        ("_CHECKPOINT_METADATA", "commit_success.txt", "manifest.ocdbt"),
        ("_CHECKPOINT_METADATA", "commit_success.txt"), (),
        "orbax: a folder is renamed, or commit_success.txt written, when all items are saved",
    ),
    CheckpointKind(
        "torch", "*.pt*", None,
        (".metadata", "__0_0.distcp"), (".metadata",), (),
        "torch.distributed.checkpoint: FileSystemWriter.finish writes .metadata last",
    ),
    CheckpointKind(
        "lightning", "*.ckpt", None,
        ("zero_to_fp32.py", "meta.pt"), ("zero_to_fp32.py", "meta.pt"), (),
        "lightning: DeepSpeedStrategy and FSDPStrategy leave a folder; else a .ckpt is one file of torch.save",
    ),
    CheckpointKind(
        "metadata", "*", None,
        ("metadata.json",), ("metadata.json",), (),
        "Levanter, and many a script: metadata.json is written when the rest is",
    ),
)  # fmt: skip
PRESETS = ("hf", "lightning", "orbax", "torch")


def kind_named(name: str) -> CheckpointKind:
    """The row of a preset. Raises KeyError."""
    return {kind.name: kind for kind in KINDS}[name]


def kind_of(folder_name: str, entries: Collection[str], declared: str) -> CheckpointKind | None:
    """What a folder is a checkpoint of. declared: a preset, which holds for folders of its names; "": none."""
    wanted = kind_named(declared) if declared else None
    if wanted is not None and wanted.folder is not None and re.fullmatch(wanted.folder, folder_name):
        return wanted
    return guess_kind(folder_name, entries)


def guess_kind(folder_name: str, entries: Collection[str]) -> CheckpointKind | None:
    """What a folder is a checkpoint of, by what lies in it, then by its name; None: nothing tells."""
    for kind in KINDS:
        if any(sign in entries for sign in kind.signs):
            return kind
    for kind in KINDS:
        named = kind.folder is not None and re.fullmatch(kind.folder, folder_name) is not None
        if named and kind.weights and (not entries or _holds(entries, kind.weights)):
            return kind
    return None


def what_is_missing(kind: CheckpointKind, entries: Collection[str]) -> str:
    """`no trainer_state.json and no weights (model*.safetensors, …) in it`; "" if nothing is."""
    lacks = [] if _holds(entries, kind.last) else [f"no {' or '.join(kind.last)}"]
    if kind.weights and not _holds(entries, kind.weights):
        lacks.append(f"no weights ({', '.join(kind.weights[:3])}, …)")
    return f"{' and '.join(lacks)} in it" if lacks else ""


def _holds(entries: Collection[str], patterns: Collection[str]) -> bool:
    return any(fnmatchcase(entry, pattern) for entry in entries for pattern in patterns)
