"""The tree of `onbox` commands, as argparse knows it. A command's module is imported only when it is asked for."""

from __future__ import annotations

from onbox.arguments import Program
from onbox.contract.exits import EXIT_MEANINGS

PROGRAM = Program(
    "onbox",
    "Run long jobs on a box you do not own: stages behind success gates, detached, resumable, never half done.",
    "onbox chain 'train=python train.py' 'eval=python eval.py'",
    EXIT_MEANINGS,
    "onbox.commands",
    {
        "init": "init",
        "chain": "chain",
        "resume": "chain",
        "sweep": "sweep",
        "attach": "attach",
        "boot": "boot",
        "stop": "stop",
        "status": "status",
        "runs": "status",
        "check": "check",
        "stats": "stats",
        "logs": "logs",
        "triage": "triage",
        "progress": "progress",
        "stages": "stages",
        "trust": "trust",
        "notify": "notify",
        "completion": "completion",
    },
)
