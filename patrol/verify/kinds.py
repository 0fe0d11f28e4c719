"""Which loader a file gets: an ordered table by the end of its name. The first row that fits is taken."""

from __future__ import annotations

import importlib

from onbox.named_tuple import NamedTuple


class Kind(NamedTuple):
    """endings: of a file's name, in small letters. loader: `module:function`, loaded when it is needed. loads: what it
    does, for people.
    """

    name: str
    endings: tuple[str, ...]
    loader: str
    loads: str


KINDS: tuple[Kind, ...] = (
    Kind("npz", (".npz",), "arrays:load_npz", "each array's checksum, and its bytes against its head"),
    Kind("npy", (".npy",), "arrays:load_npy", "its bytes against its head"),
    Kind("safetensors", (".safetensors",), "arrays:load_safetensors", "its head, and each tensor's place and length"),
    Kind("torch", (".pt", ".pth", ".ckpt", ".bin"), "pickles:load_torch", "each part's checksum; its pickle step by step, never run"),
    Kind("pickle", (".pkl", ".pickle", ".joblib"), "pickles:load_pickle", "step by step, never run"),
    Kind("tar", (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"), "archives:load_tar", "each member to its end"),
    Kind("zip", (".zip", ".keras", ".whl"), "archives:load_zip", "each part's checksum"),
    Kind("gzip", (".gz",), "archives:load_gzip", "unpacked to its checksum"),
    Kind("jsonl", (".jsonl", ".ndjson"), "tables:load_jsonl", "each line"),
    Kind("json", (".json",), "tables:load_json", "the whole value"),
    Kind("csv", (".csv", ".tsv"), "tables:load_csv", "each row"),
    Kind("parquet", (".parquet",), "tables:load_parquet", "each row with pyarrow, else its foot"),
)  # fmt: skip
MARKERS = Kind("marker", ("_DONE", "_FAILED"), "tables:load_json", "the whole value")


def kind_of(path: str) -> Kind | None:
    """None: its format is not known here; its checksum has to do. Pure."""
    if path.startswith(".onbox/") and "/markers/" in path and path.endswith(MARKERS.endings):
        return MARKERS
    name = path.lower()
    return next((kind for kind in KINDS if name.endswith(kind.endings)), None)


def load(kind: Kind, path: str) -> str:
    """Load a file once; what was seen of it. Raises Broken, TooLong, OSError."""
    module, _, function = kind.loader.partition(":")
    found = getattr(importlib.import_module(f"patrol.verify.{module}"), function)
    return str(found(path))
