"""Who went on after a complaint, by what stands around it, and whose output had only waited in a buffer."""

from __future__ import annotations

import pytest

from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

FRESH = Evidence(log_age_seconds=30.0)


def trace(*functions: str) -> str:
    frames = "".join(f'  File "/w/t.py", line {at}, in {name}\n    f{at}()\n' for at, name in enumerate(functions, 3))
    return f"Traceback (most recent call last):\n{frames}ValueError: no column w\n"


MODULE = trace("<module>", "load")  # as Python shows what nobody caught; a `try` in no function looks alike
JVM = "java.lang.IllegalStateException: no index for 2\n\tat A.read(A.java:2)\n\tat A.main(A.java:3)\n"
NODE = "TypeError: fetch failed\n    at get (/w/a.js:1:49)\n    at /w/a.js:4:7\n"

WENT_ON = {
    "one error beside each step, and the last one behind the last step": "".join(
        f"step {at}/50 loss {2 - at / 50:.3f}\nERROR: KeyError: {at % 7}\n" for at in range(1, 51)
    ),
    "one traceback beside each epoch": "".join(
        f"epoch {at} loss {1 / (at + 1):.3f}\n{trace('load')}" for at in range(30)
    ),
    "the same is printed below as above": (
        f"shop A: 3 orders written\nshop B: 1 order written\n{MODULE}shop D: 5 orders written\n11 orders in all\n"
    ),
    "rows of one table": f"name        rate\nalpha     12.000\n{MODULE}gamma      3.000\n",
    "stages of one script": f"== 1 prepare\n== 2 convert\n{MODULE}== 3 pack\n",
    "results below what was printed first": f"report on points\n3 points\n{MODULE}slope 1.5 r2 0.96\nreport: r.html\n",
    "a logger's traceback, and a result that is saved last": (
        f"2026-01-02 03:04:05 ERROR app: one is left out\n{trace('part')}wrote 3 values to out.json\n"
    ),
    "a traceback that begins in a function, and a sum at the end": f"{trace('main', 'load')}mean of 4 folds: 0.81\n",
    "a traceback that begins in a function, and a figure at the end": f"{trace('main')}settings a\nresidual: 0.03\n",
    "a tally of as many failures": f"{trace('run')}3 ok, 1 failed\n",
    "a server's request": (
        '127.0.0.1 - - [1/Jan/2026 01:02:03] "GET /a HTTP/1.1" 200 -\n'
        "Exception occurred during processing of request from ('127.0.0.1', 4954)\n"
        f'{trace("finish", "do_GET")}127.0.0.1 - - [1/Jan/2026 01:02:03] "GET /b HTTP/1.1" 200 -\n'
    ),
    "an error told with what is done instead": "points 5\nsolve failed: singular - least squares instead\nresidual 3\n",
    "a traceback whose code speaks of errors": (
        "mirror a\n" + trace("main").replace("f0()", 'raise TimeoutError("read timed out")') + "trying again\n9 bytes\n"
    ),
    "a standard error of R": "samples: 24\n            Estimate Std. Error\nx              0.551      0.021\n",
    "a logger that tells of more work below its traceback": (
        f"01:02:03 ERROR app: no picture\n{MODULE}"
        + "".join(f"01:02:0{at} INFO app: part {at}\n" for at in range(4, 9))
    ),
    "an error told with what is done instead of it": "points 5\nERROR: starting from scratch\nfit 2\n",
    "a clause that tells what is done next": "cannot allocate 9 GiB: out of memory; halving the tile\ntile of 4\n",
    "a clause that tells what will be done": "Error: a.example does not answer - will try b.example\n9 bytes\n",
    "two complaints, and what is done instead of both": (
        "error: patch failed: a.c:3\nerror: a.c: patch does not apply\nFalling back to a merge\nApplying: a\n"
    ),
    "a try that worked": "points 5\nERROR: cannot reach the store\nstore: worked on the second attempt\nkept\n",
    "a helper that is there again": "part 1\nSegmentation fault (core dumped)\nhelper died, started it again\npart 2\n",
    "a check that did as it should": "check: a truncated archive is refused ... ok\nready\n",
    "a traceback that begins in a function, and more": f"reading parts\n{trace('main')}all that is left\n",
    "a way on in a line of its own": "ERROR: no parser for b.ini\nusing the bundled one\n",
    "a traceback of the module, and a way on below it": f"reading\n{MODULE}we go on without\n",
    "the next piece of a loop": f"fold 1 auc 0.8\nfold 2 is left:\n{MODULE}fold 3 auc 0.7\n",
    "a later request": (
        '1.2.3.4:5 - "POST /a HTTP/1.1" 500 Internal Server Error\nERROR: Exception in the application\n'
        f'{trace("main")}INFO: 1.2.3.5:6 - "POST /a HTTP/1.1" 200 OK\n'
    ),
    "R's try": 'Error in try(fit(x)) : singular\n[1] "second model"\n',
    "steps behind a bare exception": "ModuleNotFoundError: no module fast\nstep 1 loss 3\nstep 2 loss 2\n",
    "a tool that clears what is not there": "tidying\nrm: cannot remove 'a': No such file or directory\nb is built\n",
    "a shell that shows its commands": f"+ mkdir out\n+ python t.py\n{MODULE}+ tar cf out.tar out\n",
    "a prompt": "u@h:~/w$ cp a b\ncp: cannot stat 'a': No such file or directory\nu@h:~/w$ ls out\nc\n",
    "a small tool far above": (
        "preparing\nln: failed to create symbolic link 'a': File exists\n"
        + "".join(f"set n{at} = on\n" for at in range(90))
        + "if ( $status ) echo error\nexit\n"
    ),
    "a small tool in a script": "preparing\ncp: cannot stat 'a': No such file or directory\nsecond part\nthird part\n",
    "a command that may fail": "ls /d || true\nls: cannot access '/d': No such file or directory\ncat b\nb is built\n",
    "an exception that a program of the JVM shows": f"opened\n{JVM}sum 24\n",
    "an exception that Node shows": f"asking\n{NODE}orders: 5\n",
    "a panic that was caught": (
        "thread 'main' panicked at src/m.rs:1:29:\nbad tile\nnote: run with `RUST_BACKTRACE=1`\nall tiles but one\n"
    ),
    "an error of R that was caught": "Error in fit(x) : singular\nmodel 2 of 3\ncoefficients in c.csv\n",
}
ENDED = {
    "one error beside each step, and then it gives up": "".join(
        f"step {at} loss_D nan: batch dropped ({at} so far)\n" for at in range(1, 52)
    )
    + "too many dropped batches; training collapsed, nothing to save\n",
    "the same error in each try of a supervisor": "".join(
        f"try {at}: starting\nepoch 0 loss 1.00\nepoch 1 loss 0.90\n{MODULE}" for at in range(1, 9)
    ),
    "a tally of more failures": f"{trace('run')}1 ok, 3 failed\n",
    "a shell that shows what its trap does": f"+ python t.py\n{MODULE}+ ls\na\n+ du -sh .\n8K .\n",
    "a last remark of what it had open": f"opening 3 files\n{MODULE}closing 3 files\n",
    "a counted thing that a thread of the JVM missed": f'part 1 ok\npart 2 ok\nException in thread "main" {JVM}',
    "a buffer": f"{MODULE}loading points\n3 points\nslope 1.5\n",
    "a buffer behind a scheduler's words": f"Job 7 on node n3\n{MODULE}loading points\ncleaning 3 points\n",
    "a buffer behind a traceback that was shown before leaving": f"{trace('main')}reading the settings\n",
    "a full buffer": f"shop A has 3 orders\nshop B h{MODULE}as 4 orders\nshop C has 5 orders\n",
    "a remark of a script behind the death": f"trainer is up\n{MODULE}the image holds release 12.4\n",
    "a traceback that begins in a function, and a farewell": f"reading parts\n{trace('main')}giving up\n",
    "the last of its tries": "points 5\nERROR: no store; one more try\nERROR: no store; that was the last try\n",
    "an interpreter that ends": "error: op1 is 5x5, op2 is 6x8\nerror: ignoring an exception while preparing to exit\n",
    "a shell that leaves": f"+ mkdir out\n+ python t.py\n{MODULE}+ rc=1\n+ tar cf out.tar out\n+ exit 1\n",
    "a shell that only cleans up": f"+ mkdir out\n+ python t.py\n{MODULE}+ rm -r tmp\n+ date\nMon\n",
    "another one later on": f"shop A has 3 orders\n{MODULE}shop C has 5 orders\n{MODULE}",
    "an exception that nobody of the JVM caught": f'opened\nException in thread "main" {JVM}',
    "an exception that nobody of Node caught": f"asking\n/w/a.js:1\nthrow e\n^\n\n{NODE}\nNode.js v20.20.2\n",
    "an error of R": "model 1 of 3\nError in fit(x) : singular\nCalls: main -> fit\nExecution halted\n",
}


@pytest.mark.parametrize("log", WENT_ON.values(), ids=WENT_ON)
def test_it_went_on(log: str) -> None:
    assert classify(log.encode(), FRESH).failure_class == "success_healthy"


@pytest.mark.parametrize("log", ENDED.values(), ids=ENDED)
def test_it_ended(log: str) -> None:
    assert classify(log.encode(), FRESH).terminal


@pytest.mark.parametrize("log", WENT_ON.values(), ids=WENT_ON)
def test_a_bad_exit_code_says_more(log: str) -> None:
    assert classify(log.encode(), Evidence(exit_code=1)).terminal
