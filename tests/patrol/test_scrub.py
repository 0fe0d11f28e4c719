"""What is kept of a box's records holds no secret, and is still the same record."""

from __future__ import annotations

import json

import pytest

from handbook.box.records import RawRecords, parse, read
from onbox.contract.runfile import render_runfile
from onbox.model.manifest import stage_from_dict

SECRET = "hunter2secret"
MARK = "<<<0123>>>"
HEAD = {
    "run": "digits", "run_id": "20261121-00000001", "project": "/root/digits", "chain_fingerprint": "ab",
    "stage_count": 2, "environment": {"PATH": "/bin", "PLAIN": SECRET},
}  # fmt: skip


def kept(*commands: object) -> RawRecords:
    stages = [
        (stage_from_dict({"name": f"s{number}", "cmd": command, "env": [["PLAIN", SECRET]]}), "ab")
        for number, command in enumerate(commands)
    ]
    manifest = render_runfile(HEAD, stages).decode()
    failed = json.dumps(
        {"schema": 1, "event": "stage_failed", "stage": "s0", "reason": f"--password {SECRET} is wrong"}
    )
    pieces = (
        ("run", "digits"), ("manifest", manifest), ("events", failed + "\n"), ("marker s0_FAILED", f"--token={SECRET}"),
        ("forecast", json.dumps({"would": "start", "says": f"password={SECRET}"})), ("end", ""),
    )  # fmt: skip
    text = "".join(f"\n{MARK} {kind}\n{said}" for kind, said in pieces)
    return parse(text.encode(), MARK, ["digits"]).runs["digits"]


@pytest.mark.parametrize(
    "command",
    [
        f"python t.py --password {SECRET}",
        ["python", "t.py", "--password", SECRET],
        f"curl -su bob:{SECRET} http://x/ && WANDB_API_KEY={SECRET} python t.py",
    ],
)
def test_no_secret_of_a_box_is_kept_here(command: object) -> None:
    raw = kept(command, "true")
    assert SECRET not in repr(raw)
    record = read(raw)
    assert record.trouble == ""
    assert record.head is not None
    assert [one.stage.name for one in record.stages] == ["s0", "s1"]
    assert [one.fingerprint for one in record.stages] == ["ab", "ab"]
    assert [name for name, _ in record.stages[0].stage.env] == ["PLAIN"]
    assert record.events[0]["stage"] == "s0"
    assert record.forecast["would"] == "start"


def test_lines_that_are_no_json_are_redacted_as_text() -> None:
    text = f"\n{MARK} run\ndigits\n{MARK} manifest\ncut off --password {SECRET}\n{MARK} end\n"
    assert SECRET not in repr(parse(text.encode(), MARK, ["digits"]))
