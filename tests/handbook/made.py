"""Made-up facts: as many runs as a test wants, each of another kind."""

from __future__ import annotations

from handbook.page.facts import (
    BoxFacts,
    FailureFacts,
    HandbookFacts,
    IdentityFacts,
    LaunchFacts,
    MarkerFacts,
    ResumeFacts,
    RunFacts,
    StageFacts,
    WatchFacts,
)
from onbox.contract.readings import Absent, Unseen
from patrol.decide.remote_command import Way

AS_OF = 1_795_237_380.0  # 2026-11-21 05:03 UTC
KINDS = (
    ("running", "healthy", "ok"),
    ("failed", "failed", "critical"),
    ("interrupted", "interrupted", "critical"),
    ("unknown", "unreachable", "unknown"),
    ("done", "done", "ok"),
)
SIGNS = {"failed": ("NO_REPEAT",), "unreachable": ("NO_CONTACT",)}  # as the patrol sees them with these rules


def run_facts(number: int = 0, **changes: object) -> RunFacts:
    """One managed run with a chain of two stages."""
    state, rule, severity = KINDS[number % len(KINDS)]
    place = f"/root/p{number}/.onbox/digits"
    stages = tuple(
        StageFacts(
            name, f"python {name}.py", "pending", ("disk free 5.0 GB",), ("timeout 12h00m",), (f"{name}.npz",), "ab12"
        )
        for name in ("train", "eval")
    )
    markers = tuple(
        MarkerFacts(f"{place}/markers/{name}", "what it means", name.startswith("train"))
        for name in ("CHAIN_DONE", "CHAIN_FAILED", "train_DONE", "train_FAILED", "eval_DONE", "eval_FAILED")
    )
    failed = FailureFacts("train", "code_error", "NameError: x", "Stop; mend it.", "train.py:3", retry_allowed=False)
    facts = RunFacts(
        box=f"gpu{number}",
        run="digits",
        managed=True,
        state=state,
        rule=rule,
        says=f"what the rule {rule} says",
        severity=severity,
        since=AS_OF - 3600,
        seen_at=None if number == 3 else AS_OF,
        remedy="do what is to be done",
        look=f"patrol check gpu{number}",
        signs=SIGNS.get(rule, ()),
        way=Way(f"gpu{number}", f"gpu{number}", f"/root/p{number}"),
        place=place,
        run_id=f"20261121-0000000{number}",
        project=f"/root/p{number}",
        stage="train",
        attempt=1,
        stages_done=0,
        stages_total=2,
        progress="~4600/5155 (89%)" if number % 2 else Unseen("the link was cut"),
        failure=failed if state == "failed" else Absent("none"),
        log=f"{place}/logs/train.1.log",
        stages=stages,
        markers=markers,
        launches=(LaunchFacts(1, "2026-11-21T04:00:00Z", "gpu", "0123456789ab", ("train cmd: a → b",)),),
        identity=IdentityFacts(
            "0123456789ab", "feedbeef", "/root/onbox.toml", "gpu", "0.1.0", ("PATH", "WANDB_API_KEY")
        ),
        resume=ResumeFacts(
            "start", "a resume starts stage train again", "train", "step 10, ckpt/step-10.npz: whole", whole=True
        ),
        notify="url1 on stage_done",
        waiting=0,
        records_at=AS_OF,
    )
    return facts._replace(**changes)  # type: ignore[arg-type]


def made_facts(count: int = 3, **changes: object) -> HandbookFacts:
    runs = tuple(run_facts(number) for number in range(count))
    boxes = tuple(BoxFacts(run.box, run.box, run.project, "ssh", "ann", "never", AS_OF, "") for run in runs)
    watch = WatchFacts("3,33 * * * *", "3,33 * * * * patrol tick", AS_OF, AS_OF + 1800, stale=False, waiters=())
    facts = HandbookFacts(
        "digits", "/home/ann/digits", AS_OF, AS_OF + 3600, "", here=False, boxes=boxes, runs=runs, watch=watch
    )
    return facts._replace(**changes)  # type: ignore[arg-type]
