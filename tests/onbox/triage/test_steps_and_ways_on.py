"""Scripts that go on after a dead step, tools that get over a trouble, and ends that only their own words tell."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)
YESTERDAY = Evidence(log_age_seconds=86400.0)
DIED = (
    'Traceback (most recent call last):\n  File "/w/prep.py", line 5, in <module>\n    r["text"]\nKeyError: \'text\'\n'
)
LOGURU = (
    "03:17:45.114 | ERROR    | main:22 - drawing the tree failed, continuing without it\nTraceback (most recent call "
    'last):\n\n  File "/w/t.py", line 23, in <module>\n    main()\n    └ <function main at 0x7f>\n\n> File "/w/t.py", '
    'line 22, in main\n    plot(b)\n    └ <function plot at 0x7f>\n\n  File "/w/t.py", line 15, in plot\n    import '
    "graphviz\n\nModuleNotFoundError: No module named 'graphviz'\n03:17:45.132 | SUCCESS  | main:22 - model with 60 "
    "trees saved to o/m.json\n"
)
WATCHDOG = (
    "rank 0 tokenizes: 10/90\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  [Rank 1] "
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for "
    "1807295 milliseconds before timing out.\nrank 0 tokenizes: 20/90\nrank 0 tokenizes: 30/90\nERROR:torch."
    "distributed.elastic.multiprocessing.api:failed (exitcode: -6) local_rank: 1 (pid: 182046) of binary: /py\n"
)
JULIA = (
    'ERROR: SystemError: opening file "/w/monitor.jl": No such file or directory\nStacktrace:\n  [1] systemerror(p::'
    "String, errno::Int32)\n    @ Base ./error.jl:176\n  [2] open(fname::String)\n    @ Base ./iostream.jl:293\n  [3] "
    "include(mod::Module, _path::String)\n    @ Base ./Base.jl:495\n  [4] _start()\n    @ Base ./client.jl:552\n"
)
FAILED = {
    "a step that died above the next one, and a script that says it is over": (
        "code_error",
        f"== 03:13 step 1 prep\n{DIED}== 03:13 step 2 train\nepoch 0 nll 0.0\n== 03:13 pipeline over, b.tgz is ready\n",
    ),
    "a watchdog's word above the launcher's": ("nccl_or_distributed", WATCHDOG),
    "an error of Julia with nothing but its stack behind": ("config_error", JULIA),
    "an interrupt that is met gracefully": (
        "user_interrupt",
        "lane 1 clear\nlane 2 clear\nInterrupt signal received, trying to exit gracefully.\n",
    ),
    "a signal, and what was kept before it left": (
        "preempted",
        (
            "step 40 loss 0.6\nstep 60 loss 0.5\nW got signal 15: the node is taken back, will checkpoint and leave\n"
            "checkpoint o/m.pkl at step 67\n"
        ),
    ),
    "a list of samples that is no checkpoint": (
        "data_error",
        (
            'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    d = SceneDataset(a)\n  '
            'File "/w/datasets/scenes.py", line 79, in load_infos\n    infos = pickle.load(f)\nEOFError: Ran out of '
            "input\n"
        ),
    ),
    "rows of nothing": (
        "data_error",
        "scanning in/ for *.parquet\nprep: wrote features.csv (0 rows)\nprep: finished.\n",
    ),
}
HEALTHY = {
    "a server that came up": (
        "curl: (7) Failed to connect to 127.0.0.1 port 9000: Connection refused\n" * 2 + "server up after 6 s\n"
    ),
    "room that was made": (
        "cp: error writing '/mnt/s/a.tar': No space left on device\nfreed 212 GB, copying again\ncopy verified\n"
    ),
    "a step that the script knows of": (
        f"== step 1 dedup\n{DIED}== step 1 dedup failed, see above\n== step 2 pack\nwrote c.zst\n== all done, c.zst is "
        "ready\n"
    ),
    "an error that loguru's own traceback shows": LOGURU,
    "a trial that was rejected": (
        "sweep: lr=0.4 start\n   final error 1.76e-27\nsweep: lr=2.5 start\n   blew up at iter 3\nsweep: over: 1 kept, "
        "1 rejected\n"
    ),
    "an error that is a figure": "dims 2 2\nStandard: -1.892\nError: 1.5107408657399901e-09\n",
    "the last line of a job script": "IMove: 100\nIMove: 200\nIMove: 300\nEnd   Job: Thu Jun 23 17:08:46 CEST 2022\n",
    "nothing to do": "No new files since yesterday, so nothing to do.\nLeaving the index as it is.\n",
    "a supervisor's last word": "attempt 1\n450 | loss 0.2\n500 | loss 0.1\n>>> trainer ended well in attempt 2\n",
}
ENDED = {
    "an import behind its loop": "imported 300\nimported 600\nimported 900\nimport committed: 998 rows, 2 rejected\n",
    "each of some ranks": "[rank0] step 6 loss 0.3\n[rank0] step 7 loss 0.2\n[rank1] done\n[rank0] done\n",
    "all that was fetched": "part-05 57000B\npart-06 57000B\npart-07 57000B\nfetched all shards\n",
}


@pytest.mark.parametrize(("failure_class", "log"), FAILED.values(), ids=FAILED)
def test_it_has_failed(failure_class: str, log: str) -> None:
    assert classify(log.encode(), FRESH).failure_class == failure_class


@pytest.mark.parametrize("log", HEALTHY.values(), ids=HEALTHY)
def test_it_is_well(log: str) -> None:
    assert classify(log.encode(), FRESH).failure_class == "success_healthy"


@pytest.mark.parametrize("log", ENDED.values(), ids=ENDED)
def test_what_ended_long_ago_does_not_hang(log: str) -> None:
    verdict = classify(log.encode(), YESTERDAY)
    assert (verdict.failure_class, verdict.state) == ("success_healthy", "done")


def test_a_level_of_npms_own_log_is_one() -> None:
    log = "".join(f"{at} silly mapToRegistry uri x{at}\n" for at in range(40))
    verdict = classify(f"{log}40 warn docs No license field.\n".encode(), FRESH)
    assert verdict.failure_class == "success_healthy"
