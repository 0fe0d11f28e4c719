"""What the same exception means while a setting, a checkpoint or a sample is being read, by its traceback. Pure."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.reading.match import BY_ID, DAMAGED
from onbox.triage.reading.tracebacks import CHECKPOINT_READ, DATA_READ, READS_CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.triage.reading.tracebacks import Trace
    from onbox.triage.rules.rows import RuleRow

_SHARED_MEMORY = lazy(
    r"SemLock|shared_memory|_new_shared|multiprocessing/synchronize|/dev/shm|shm_open|torch/multiprocessing"
)
_UNPICKLING = lazy(r"pickle\.load\(")
_ASKS_FOR_CARD = lazy(
    r"(?:cuda|xpu|npu|hip|mps|accelerator)\.(?:is_available|device_count)\(|list_physical_devices\(|nvmlInit"
    r"|_default_backend is not None"
)
_OWN_PIPE = lazy(r"multiprocessing[\\/](?:connection|managers|queues|reduction|pool|resource_sharer)")
_OVER_A_WIRE = lazy(
    r"distributed|c10d|nccl|socket|ssl\.py|http|urllib|requests|grpc|/ray/|mpi|store|rpc|zmq|paramiko", re.IGNORECASE
)
_ENVIRON = lazy(r"\bos\.environ\b|\benviron\[|<frozen os>|/os\.py __getitem__")
_OF_RECORD = lazy(  # `Record.model_validate_json(line)`, `Sample(**row)`
    r"\b(?:model_validate\w{0,8}|parse_obj|parse_raw|validate_\w{2,8}|(?!Setting|Config)[A-Z]\w{1,40})"
    r"\((?:\*\*|json\.loads\()?(?:row|rec|record|line|item|sample|entry|doc|raw|example|event)\b"
)
_OF_STATE = lazy(r"load_state_dict\(|\b(?:ckpt|checkpoint|snapshot|state_dict)\w{0,8}\[")
# What somebody typed: options, the environment, a configuration that was read before.
_TYPED = lazy(
    r"\bsys\.argv\b|\bargs\.|\bargv\[|\bos\.environ\b|\bgetenv\("
    r"|\b(?:cfg|conf(?:ig)?|opts?|options|params|settings|hparams|hp|FLAGS|flags)(?:\.\w|\[['\"]|\.get\()"
)
_PARSER = lazy(r"[/\\](?:json|yaml|toml\w{0,8}|configparser|ruamel)[/\\.]")
_LOADING = lazy(r"__getitem__|_utils/fetch|collate")
_BROKEN = lazy(
    r"corrupt|truncat|mismatch|expect(?:ed|ing):? .{0,60}(?:but|got|received|found)"
    r"|less bytes than|unexpected end|magic|bad header|checksum|crc"
    r"|errno 22\b|invalid argument|incomplete input|could not parse|failed to parse"
    r"|not valid for (?:value|size)|malformed|short read"
    r"|could not convert|can ?not (?:read|parse|decode)|does not start with|unparsable|out_of_range|data_loss"
    r"|(?:greater|larger|longer) than (?:the )?file|(?:beyond|past) (?:the )?end of file",
    re.IGNORECASE,
)
_RESUMES = lazy(r"\b(?:resum|restor)\w{1,8}\b.{0,40}\b(?:from|at|state|step|epoch|checkpoint)\b", re.IGNORECASE)
_OF_READERS = ("IndexError", "AssertionError")  # defects that a reader of a broken file ends with


def _of_parser(trace: Trace) -> int:
    """How many of the innermost frames are those of the parser that was called."""
    inner = takewhile(lambda frame: frame.is_library and _PARSER.search(frame.file), reversed(trace.frames))
    return sum(1 for _ in inner)


# (rules, names of exceptions or none for any, what the traceback is about, the rule that is meant then)
_CONTEXTS: tuple[tuple[tuple[str, ...], tuple[str, ...], Callable[[Trace], bool], str], ...] = (
    (
        ("record-damaged", "no-such-file", "no-number", "exception"),
        (),
        lambda trace: trace.mentions(READS_CONFIG, last=2 + _of_parser(trace)),
        "settings-library",
    ),
    (("settings-library",), ("ValidationError",), lambda trace: trace.mentions(_OF_RECORD), "record-damaged"),
    (("defect",), ("KeyError",), lambda trace: trace.mentions(_ENVIRON, last=1), "settings-library"),
    (("defect",), ("KeyError",), lambda trace: trace.mentions(_OF_STATE, last=1), "state-dict"),
    (("no-number",), (), lambda trace: trace.mentions(_TYPED, last=1), "settings-library"),
    (("no-space",), (), lambda trace: trace.mentions(_SHARED_MEMORY), "shm-no-space"),
    (
        ("defect", "exception", "bad-setting"),
        ("AssertionError", "RuntimeError", "SystemExit", "EnvironmentError", "OSError"),
        lambda trace: trace.mentions(_ASKS_FOR_CARD, last=1),
        "no-card",
    ),
    (
        DAMAGED,
        (),
        lambda trace: trace.mentions(CHECKPOINT_READ, last=7) and not trace.mentions(DATA_READ, last=3),
        "checkpoint-damaged",
    ),
    (DAMAGED, (), lambda trace: trace.follows(_RESUMES), "checkpoint-damaged"),
    (("checkpoint-damaged", "torch-reader"), (), lambda trace: trace.mentions(_LOADING), "record-damaged"),
    (("exception",), ("OSError", "EOFError"), lambda trace: trace.mentions(_OWN_PIPE, last=2), "helper-gone"),
    (
        ("exception",),
        ("EOFError", "error"),
        lambda trace: (
            trace.mentions(CHECKPOINT_READ) or (trace.mentions(_UNPICKLING) and not trace.mentions(DATA_READ, last=6))
        ),
        "checkpoint-damaged",
    ),
    (
        ("checkpoint-damaged",),
        ("OSError",),
        lambda trace: trace.mentions(DATA_READ, last=3) and not trace.mentions(CHECKPOINT_READ),
        "record-damaged",
    ),
    (("exception",), ("EOFError", "error"), lambda trace: True, "record-damaged"),
    (
        ("exception",),
        ("XGBoostError", "LightGBMError", "CatBoostError"),
        lambda trace: trace.mentions(CHECKPOINT_READ, last=3),
        "checkpoint-damaged",
    ),
    (("connection-lost", "broken-pipe"), (), lambda trace: trace.mentions(_OWN_PIPE), "helper-gone"),
    (("broken-pipe",), ("BrokenPipeError",), lambda trace: not trace.mentions(_OVER_A_WIRE), "reader-gone"),
    (("no-such-file",), ("FileNotFoundError",), lambda trace: trace.mentions(_LOADING), "record-damaged"),
)


def in_context(row: RuleRow, named: tuple[str, str] | None, trace: Trace | None) -> RuleRow:
    """The same exception means another thing while a setting, a checkpoint or a sample is being read."""
    if trace is None or named is None:
        return row
    name = named[0].rsplit(".", 1)[-1]
    may_be_broken = row.id in ("exception", "usage", "bad-setting", "shape-or-device") or name in _OF_READERS
    if may_be_broken and _BROKEN.search(named[1]):
        if trace.mentions(CHECKPOINT_READ, last=6) and not trace.mentions(DATA_READ, last=3):
            return BY_ID["checkpoint-damaged"]
        if trace.mentions(DATA_READ, last=4) and row.id in ("exception", "usage"):
            return BY_ID["record-damaged"]
    return next(
        (
            BY_ID[meant]
            for rows, names, holds, meant in _CONTEXTS
            if row.id in rows and (not names or name in names) and holds(trace)
        ),
        row,
    )
