"""The stack that a verdict shows: of every language, bounded, with the user's own frame."""

from __future__ import annotations

import pytest

from onbox.commands.show.status_text import traceback_lines
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

LIBRARY = "/v/lib/python3.11/site-packages/hub/http.py"
DEEP_JAVA = "".join(f"\tat java.base/java.util.Spliterators.each(Spliterators.java:{at})\n" for at in range(40))
# What a program prints as it dies, and the lines that a person has to see of it.
STACKS = {
    "Java": (
        ('Exception in thread "main" java.lang.IllegalStateException: no shard\n'
        "\tat acme.Load.one(Load.java:7)\n\tat acme.Main.main(Main.java:3)\n"),
        ('Exception in thread "main" java.lang.IllegalStateException: no shard', "    at acme.Load.one(Load.java:7)"),
    ),
    "Java, deep in its library": (
        f'Exception in thread "main" java.io.IOException: no shard\n{DEEP_JAVA}\tat acme.Load.one(Load.java:7)\n',
        ("  ... 28 lines left out", "    at acme.Load.one(Load.java:7)"),
    ),
    "Node": (
        ('/app/train.js:3\n  throw new Error("no shard");\n  ^\n\nError: no shard\n    at load (/app/train.js:3:9)\n'
        "    at node:internal/main/run_main_module:28:49\n\nNode.js v18.19.0\n"),
        ("Error: no shard", "    at load (/app/train.js:3:9)"),
    ),
    "PHP": (
        ("PHP Fatal error:  Uncaught RuntimeException: no shard in /app/t.php:5\nStack trace:\n"
        "#0 /app/t.php(9): load(7)\n#1 {main}\n  thrown in /app/t.php on line 5\n"),
        ("Stack trace:", "#0 /app/t.php(9): load(7)", "  thrown in /app/t.php on line 5"),
    ),
    "Go": (
        ("panic: no shard\n\ngoroutine 1 [running]:\nmain.load(...)\n\t/app/main.go:7\nmain.main()\n"
        "\t/app/main.go:12 +0x1d\nexit status 2\n"),
        ("panic: no shard", "main.load(...)", "    /app/main.go:7"),
    ),
    "Ruby": (
        "train.rb:3:in `load': no shard (RuntimeError)\n\tfrom train.rb:7:in `main'\n\tfrom train.rb:9:in `<main>'\n",
        ("train.rb:3:in `load': no shard (RuntimeError)", "    from train.rb:7:in `main'"),
    ),
    "R": (
        "Error in load(7) : no shard\nCalls: main -> load\nExecution halted\n",
        ("Error in load(7) : no shard", "Calls: main -> load"),
    ),
    "Rust": (
        ("thread 'main' panicked at src/main.rs:4:5:\nno shard\nnote: run with `RUST_BACKTRACE=1` environment"
        " variable to display a backtrace\n"),
        ("thread 'main' panicked at src/main.rs:4:5:", "no shard"),
    ),
    "Rust with a backtrace": (
        ("thread 'main' panicked at src/main.rs:4:5:\nno shard\nstack backtrace:\n   0: rust_begin_unwind\n"
        "             at /rustc/abc/library/std/src/panicking.rs:597:5\n   1: train::load\n"
        "             at ./src/main.rs:4:5\n"),
        ("thread 'main' panicked at src/main.rs:4:5:", "             at ./src/main.rs:4:5"),
    ),
    "C++": (
        ("terminate called after throwing an instance of 'std::runtime_error'\n  what():  no shard\n"
        "Aborted (core dumped)\n"),
        ("terminate called after throwing an instance of 'std::runtime_error'", "  what():  no shard"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", STACKS)
def test_the_stack_of_any_language_is_shown(language: str) -> None:
    log, wanted = STACKS[language]
    verdict = classify(f"epoch 1/5 loss 0.4\n{log}".encode(), Evidence(exit_code=1))
    assert set(wanted) <= set(verdict.traceback)
    assert "epoch 1/5 loss 0.4" not in verdict.traceback
    assert len(verdict.traceback) <= 16


@pytest.mark.parametrize("deep", [1, 4, 30])
def test_the_own_frame_is_among_the_shown_lines_wherever_the_cut_is(deep: int) -> None:
    library = "".join(f'  File "{LIBRARY}", line {at}, in get\n    return call({at})\n' for at in range(deep))
    log = (
        'Traceback (most recent call last):\n  File "/w/export.py", line 22, in <module>\n    main()\n'
        f'  File "/w/export.py", line 8, in main\n    push()\n{library}requests.HTTPError: 401 Unauthorized\n'
    )
    verdict = classify(log.encode(), Evidence(exit_code=1))
    assert verdict.where == "/w/export.py:8"
    at = verdict.traceback.index('  File "/w/export.py", line 8, in main')
    assert verdict.traceback[at + 1] == "    push()"
    assert verdict.traceback[-1] == "requests.HTTPError: 401 Unauthorized"
    told = sum(int(line.split()[1]) for line in verdict.traceback if "left out" in line)
    shown = sum(1 for line in verdict.traceback if "left out" not in line)
    assert told + shown == 6 + 2 * deep


@pytest.mark.parametrize("deep", [1, 4, 30])
def test_status_shows_few_lines_of_it_and_the_own_frame_is_one_of_them(deep: int) -> None:
    library = [line for at in range(deep) for line in (f'  File "{LIBRARY}", line {at}, in get', f"    call({at})")]
    own = ['  File "/w/export.py", line 8, in main', "    push()"]
    told = ["Traceback (most recent call last):", *own, *library, "requests.HTTPError: 401 Unauthorized"]
    lines = traceback_lines({"failure": {"traceback": told, "where": "/w/export.py:8"}}, wide=False)
    shown = [line.strip() for line in lines]
    assert {own[0].strip(), own[1].strip(), told[-1]} <= set(shown)
    assert len(shown) <= 6


def test_status_shows_the_first_lines_where_the_innermost_frame_stands_first() -> None:
    told = ["panic: no shard", "goroutine 1 [running]:", *(f"main.f{at}(...)" for at in range(9))]
    shown = [line.strip() for line in traceback_lines({"failure": {"traceback": told}}, wide=False)]
    assert shown == [*told[:5], "... 6 lines left out"]
