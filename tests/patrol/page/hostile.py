"""A history in which every text of a box, a log or a person tries to become markup, script, or to read as another."""

from __future__ import annotations

from onbox.contract.events import Event
from onbox.contract.readings import Unseen
from onbox.contract.states import RunState
from onbox.system.clock import utc_text
from patrol.memory.rows import Flip, LastWord, PatrolAct, TickPoint
from patrol.page.model import PageHead, PageHistory, RunHistory
from patrol.snapshot import BoxIdentity, Cells, ResultFile
from patrol.verdict import Finding, Severity, Verdict
from tests.patrol.makers import HEALTHY_PROGRESS, NOW, box, dead, disk, failure, log

HOSTILE = (
    "</script></textarea><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"
    "'\"&amp;{{7*7}}{%x%} javascript:window.pwned=1 \u202egnp.exe\u2066\x1b[31mred\x00"
)
SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


def hostile_history(now: float = NOW) -> PageHistory:
    """One run of which everything is hostile, and its points."""
    finding = Finding(HOSTILE, Severity.CRITICAL, HOSTILE, HOSTILE, HOSTILE)
    verdict = Verdict(
        HOSTILE, HOSTILE, RunState.FAILED, finding, (finding,), since=now, asked=((HOSTILE, HOSTILE),),
        last_known=HOSTILE, then=HOSTILE, acknowledged=True, acknowledged_by=HOSTILE,
    )  # fmt: skip
    look = dead(
        run=HOSTILE,
        place=HOSTILE,
        run_id=HOSTILE,
        stage=HOSTILE,
        reason=HOSTILE,
        failure=failure(proof=HOSTILE, where=HOSTILE, traceback=(HOSTILE, HOSTILE)),
        log=log(last_line=HOSTILE),
        cells=Cells(HOSTILE, 1, 2, ((HOSTILE, HOSTILE, HOSTILE),)),
        results=(ResultFile(HOSTILE, f"{HOSTILE}\n{HOSTILE}", whole=False),),
    )
    look = look._replace(progress=HEALTHY_PROGRESS._replace(unit=HOSTILE, loss=HOSTILE))
    seen = box(
        runs=(look,),
        at=now,
        identity=BoxIdentity(HOSTILE, "b", 1.0, now, 0.0),
        memory=Unseen(HOSTILE),
        disks=(disk(mount=HOSTILE),),
    )
    event = {
        "at": utc_text(now - 600), "event": Event.STAGE_FAILED, "stage": HOSTILE, "attempt": 1, "reason": HOSTILE,
        "proof": HOSTILE, "where": HOSTILE, "rule": "exception", "duration_seconds": 60,
    }  # fmt: skip
    done = {
        "at": utc_text(now - 900), "event": Event.STAGE_DONE, "stage": HOSTILE, "attempt": 1, "exit_code": HOSTILE,
        "artifacts": [{"path": HOSTILE, "bytes": 1, "mtime": 1}], "duration_seconds": 60,
    }  # fmt: skip
    run = RunHistory(
        word=LastWord(HOSTILE, HOSTILE, now, HOSTILE, "{}"),
        verdict=verdict,
        look=look,
        box=seen,
        seen_at=now,
        seen_now=True,
        points=tuple(
            (int(now) - 60 * n, HOSTILE, 2, TickPoint(float(n), 1.0 / n, 5, 6, 7, 8)) for n in range(20, 0, -1)
        ),
        flips=(Flip(now, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 2, HOSTILE, HOSTILE),),
        acts=(PatrolAct(now, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, f"{HOSTILE} {SECRET}"),),
        events=(done, event),
        tail=(HOSTILE, HOSTILE, f"token {SECRET}"),
    )
    standing = PageHead(now, now, now + 1800, 1800.0)
    return PageHistory(HOSTILE, HOSTILE, 0.0, standing, (run,), (HOSTILE,))
