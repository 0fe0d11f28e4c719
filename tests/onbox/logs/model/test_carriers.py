"""What carried a log here changes nothing in what is read of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from onbox.logs.model.carriers import CARRIERS, RAY, Carrier
from onbox.logs.progress import ProgressReader, read_progress
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

FRESH = Evidence(log_age_seconds=30.0)
NESTED = (
    "loading data\n"
    + "".join(f"Epoch {epoch}/3\n" + "".join(f"step {at}/40 loss 0.5\n" for at in (10, 20, 40)) for epoch in (1, 2))
    + "Epoch 3/3\nstep 10/40 loss 0.4\n"
)
DIED = (
    NESTED + "Traceback (most recent call last):\n"
    '  File "train.py", line 9, in main\n    run(cfg["lr"])\n'
    "KeyError: 'lr'\n"
)
SURVIVED = (
    "loading data\nTraceback (most recent call last):\n"
    '  File "fetch.py", line 3, in get\n    raise TimeoutError("timed out")\n'
    "TimeoutError: timed out\nretrying in 5 s\n" + NESTED
)
KILLED = NESTED + "run.sh: line 3:    77 Killed                  python train.py\n"
LOGS = {"running": NESTED, "died": DIED, "survived": SURVIVED, "killed": KILLED}
SECOND = "2026-11-28T10:00:{:02}"


def each(text: str, form: Callable[[int, str], str]) -> bytes:
    return "".join(form(at % 60, line) + "\n" for at, line in enumerate(text.splitlines())).encode()


def docker(at: int, line: str) -> str:
    return json.dumps(
        {"log": line + "\n", "stream": "stderr", "time": SECOND.format(at) + ".123456789Z"}, separators=(",", ":")
    )


FORMS: dict[str, Callable[[int, str], str]] = {
    "json-file": docker,
    "google cloud": lambda at, line: json.dumps({"insertId": f"a{at}", "severity": "ERROR", "textPayload": line}),
    "cri": lambda at, line: f"{SECOND.format(at)}.123456789+00:00 stderr F {line}",
    "kubectl logs --timestamps": lambda at, line: f"{SECOND.format(at)}.123456789Z {line}",
    "github": lambda at, line: f"train\tRun it\t{SECOND.format(at)}.1234567Z {line}",
    "gitlab": lambda at, line: f"{SECOND.format(at)}.123456Z 01O {line}",
    "airflow": lambda at, line: f"[{SECOND.format(at)}.123+0000] {{subprocess.py:93}} INFO - {line}",
    "cloudwatch": lambda at, line: f"{SECOND.format(at)}+00:00 train/default/a1 {line}",
    "journald": lambda at, line: f"Nov 28 10:00:{at:02} gpu-3 python3[4242]: {line}",
    "ts": lambda at, line: f"Nov 28 10:00:{at:02} {line}",
    "docker compose": lambda _, line: f"trainer-1  | {line}",
    "stern": lambda _, line: f"train-7f9c8-xk2lp main {line}",
    "srun --label": lambda _, line: f"0: {line}",
    "mpirun --tag-output": lambda _, line: f"[1,0]<stderr>:{line}",
    "sagemaker": lambda _, line: f"[1,mpirank:0,algo-1]<stdout>:{line}",
    "torchrun --tee": lambda _, line: f"[default0]:{line}",
    "two of them": lambda at, line: f"{SECOND.format(at)}.123456789Z 0: {line}",
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_verdict_and_progress_are_those_of_the_bare_log(form: Callable[[int, str], str], log: str) -> None:
    carried, bare = each(log, form), log.encode()
    assert classify(carried, FRESH) == classify(bare, FRESH)
    assert read_progress(carried) == read_progress(bare)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_script_may_speak_before_its_task_is_started(form: Callable[[int, str], str]) -> None:
    before = "module load cuda\nstarting on gpu-3\n"
    carried = before.encode() + each(DIED, form)
    assert classify(carried, FRESH)._replace(line_number=None) == classify(DIED.encode(), FRESH)._replace(
        line_number=None
    )
    assert read_progress(carried) == read_progress(DIED.encode())


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("cut", [7, 150, 600, 1100])
def test_it_does_not_depend_on_how_the_bytes_come(form: Callable[[int, str], str], cut: int) -> None:
    carried = each(NESTED, form)
    reader = ProgressReader()
    reader.feed(carried[:cut])
    reader.result()
    reader = ProgressReader.from_state(json.loads(json.dumps(reader.state())))
    reader.feed(carried[cut:])
    assert reader.result() == read_progress(NESTED.encode())


@pytest.mark.parametrize("label", ["{}: ", "[1,{}]<stdout>:", "[default{}]:"])
def test_of_several_ranks_each_keeps_its_name(label: str) -> None:
    """Rank 1 dies; what its colleague prints a moment later is no life sign of it."""
    both = "".join(
        label.format(rank) + f"step {step}/90 loss 0.5\n" for step in range(1, 9) for rank in (0, 1)
    ) + "".join(label.format(1) + line + "\n" for line in DIED.splitlines()[-4:])
    died = (both + label.format(0) + "step 9/90 loss 0.5\n").encode()
    assert classify(died, FRESH).failure_class == "code_error"
    assert read_progress(died).current == 9


def test_of_several_services_no_line_loses_its_name() -> None:
    log = "".join(f"trainer-1  | step {at}/9 loss 0.5\nredis-1    | DB saved on disk\n" for at in range(1, 5))
    assert classify(log.encode(), FRESH).line == "redis-1    | DB saved on disk"
    assert read_progress(log.encode()).current == 4


@pytest.mark.parametrize("carrier", [*CARRIERS, RAY], ids=lambda carrier: carrier.what)
def test_each_example_is_what_it_says(carrier: Carrier) -> None:
    found = carrier.form.fullmatch(carrier.example.encode())
    assert found is not None
    assert carrier.bare(found).strip() == b"step 3/9"


LOOKALIKES = {
    "steps of one's own": "".join(f"{at}: loss {1 / at:.3f}\n" for at in range(1, 9)),
    "a clock": "".join(f"01:{at:02}  model {at} of 9 OK\n" for at in range(1, 9)),
    "a table": "epoch | loss\n" + "".join(f"{at} | 0.5\n" for at in range(1, 9)),
    "a logger's time": "".join(f"2026-11-28T10:00:{at:02}.123456Z  INFO train: step {at}/9\n" for at in range(1, 9)),
}


@pytest.mark.parametrize("log", LOOKALIKES.values(), ids=LOOKALIKES)
def test_what_a_program_writes_itself_stays(log: str) -> None:
    assert classify(log.encode(), FRESH).line == log.splitlines()[-1]


def test_a_line_that_is_no_whole_record_stays_as_it_is() -> None:
    carried = each(NESTED, docker)
    assert read_progress(carried + b'{"log":"step 20/40 lo').current == 3
    assert read_progress(carried + b'{"log":"\\ud8","stream":"stdout"}\nstep 20/40 loss 0.3\n').inner_current in (
        10,
        20,
    )
