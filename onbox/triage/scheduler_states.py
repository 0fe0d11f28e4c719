"""What schedulers say of a job that has ended, as they print it. Pure.

Sources: squeue(1) "JOB STATE CODES", also for the short ones; the reasons of a pod in Kubernetes.
"""

from __future__ import annotations

CLASS_OF = {
    "TIMEOUT": "time_limit",
    "DEADLINE": "time_limit",
    "OUT_OF_MEMORY": "host_oom",
    "OOMKILLED": "host_oom",
    "PREEMPTED": "preempted",
    "EVICTED": "preempted",
    "NODE_FAIL": "preempted",
    "BOOT_FAIL": "preempted",
    "REQUEUED": "preempted",
}
_ENDINGS = (*CLASS_OF, "CANCELLED", "FAILED", "COMPLETED")
BAD_STATES = "|".join(word for word in _ENDINGS if word != "COMPLETED")
_SHORT = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "DL": "DEADLINE", "F": "FAILED", "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY", "PR": "PREEMPTED", "TO": "TIMEOUT",
}  # fmt: skip


def ending(text: str) -> str | None:
    """The word for how a job ended, also where it is short (`TO`), is cut to a column (`OUT_OF_ME+`) or has more behind
    it (`CANCELLED by 1000`); None if the text says nothing of an end.
    """
    first = text.upper().split()[:1]
    word = _SHORT.get(first[0], first[0]) if first else ""
    if word in _ENDINGS:
        return word
    whole = [one for one in _ENDINGS if word.endswith("+") and one.startswith(word[:-1])]
    return whole[0] if len(whole) == 1 else None
