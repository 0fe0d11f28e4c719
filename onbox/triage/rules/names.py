"""What the name of an exception says by itself, where its sentence names no thing with its trouble. Pure.

Programs call their own exceptions after what went wrong: `DownloadError`, `UsageError`, `CheckpointMissing`. The last
word that tells decides; words that all exceptions have (Error, Failed, Invalid) tell nothing.
"""

from __future__ import annotations

from onbox.regex import lazy

NAMES: dict[str, str] = {
    "auth_error": "Auth Authentication Authorization Credential Credentials Login Unauthorized Forbidden License",
    "permission_error": "Permission",
    "quota_exceeded": "Quota",
    "port_in_use": "Port",
    "preempted": "Preempted Preemption Preempt Evicted Eviction Reclaimed Spot",
    "divergence": "Divergence Diverged NaN Nan NonFinite Convergence",
    "checkpoint_corrupt": "Protobuf Checkpoint Ckpt Snapshot Restore Safetensors Weights",
    "nccl_or_distributed": "Rendezvous Collective Barrier Communicator Rank Peer",
    "network_blip": "Network Connection Connect Unreachable Disconnected Disconnect Http Download Upload Dns"
    " Transport Socket Throttled Throttling Unavailable Retrieval Fetch Server Gateway",
    "data_error": "Data Dataset Corrupt Corrupted Corruption Decode Decoding Checksum Integrity Record Image Audio",
    "config_error": "Usage Option Parameter Param Hyperparameter Hyper Config Configuration Misconfiguration"
    " Setting Settings Requirement Requirements Installation Interpolation",
}
_CLASS_OF = {word.lower(): failure_class for failure_class, words in NAMES.items() for word in words.split()}
_WORD = lazy(r"[A-Z]+(?=[A-Z][a-z]|\b|\d)|[A-Z][a-z]+")


def class_of_name(name: str) -> str | None:
    """The class that the name of an exception tells, None if it tells none or two."""
    told = {_CLASS_OF[word.lower()] for word in _WORD.findall(name.rsplit(".", 1)[-1]) if word.lower() in _CLASS_OF}
    return told.pop() if len(told) == 1 else None
