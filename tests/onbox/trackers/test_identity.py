"""Which run a stage logs to, and how it can differ from the one that is meant."""

from __future__ import annotations

import pytest

from onbox.logs.progress import ProgressReader
from onbox.model.tracker import (
    Intent,
    TrackerIdentity,
    describe_identity,
    identity_from_record,
    intent_from_dict,
    intent_to_dict,
)
from onbox.trackers.identity import (
    TABLE,
    Case,
    find_drift,
    identity_of,
    identity_of_folder,
    known_before,
    merge,
)

FIRST = TrackerIdentity("wandb", "abc12345", "try-7", "lab", "digits", stage="train", attempt=1)
SECOND = FIRST._replace(attempt=2)
MEANT = Intent("wandb", "lab", "digits", "abc12345", "try-7", "must")

DRIFTS = {
    "other-tracker": Case(MEANT, FIRST._replace(tracker="mlflow")),
    "other-id": Case(MEANT, FIRST._replace(run_id="xyz")),
    "other-entity": Case(MEANT, FIRST._replace(entity="me")),
    "other-project": Case(MEANT, FIRST._replace(project="mnist")),
    "other-name": Case(MEANT, FIRST._replace(name="try-8")),
    "wrong-resume": Case(Intent(resume="must"), SECOND._replace(run_id="xyz", name="n"), (FIRST,)),
    "name-reused": Case(Intent(), SECOND._replace(run_id="xyz"), (FIRST,)),
    "stale-link": Case(Intent(), FIRST, log_id="old"),
}


def identity_of_log(log: bytes) -> TrackerIdentity | None:
    """What a reader of the whole log knows."""
    reader = ProgressReader()
    reader.feed(log)
    return identity_of(reader.links())


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.kind)
def test_each_way_to_differ_is_told_alone(row: object) -> None:
    case = DRIFTS[row.kind]  # type: ignore[attr-defined]
    assert [one.kind for one in TABLE if one.text(case)] == [row.kind]  # type: ignore[attr-defined]
    assert len(find_drift(case)) == 1


def test_the_run_that_is_meant_is_no_drift() -> None:
    assert find_drift(Case(MEANT, FIRST)) == ()
    assert find_drift(Case(MEANT, SECOND, (FIRST,))) == ()
    assert find_drift(Case(MEANT._replace(run_id=None), TrackerIdentity("wandb"))) == ()


def test_a_new_run_each_time_is_drift_only_where_it_is_not_meant() -> None:
    new = SECOND._replace(run_id="xyz", name="other")
    assert find_drift(Case(Intent(), new, (FIRST,))) == ()
    assert find_drift(Case(Intent(resume="never"), new._replace(name="try-7"), (FIRST,))) == ()
    (told,) = find_drift(Case(Intent(resume="never"), SECOND, (FIRST,)))
    assert 'resume = "never"' in told


def test_the_intent_is_that_of_its_stages_alone() -> None:
    other = FIRST._replace(stage="eval", run_id="xyz")
    assert find_drift(Case(MEANT._replace(stages=("train",)), other)) == ()
    assert find_drift(Case(MEANT._replace(stages=("eval",)), other)) != ()


# The lines of a start, as wandb 0.10 to 0.31 prints them; of two releases each where nothing changed.
STARTS = {
    "0.10": "wandb: Syncing run misty-sun-7\nwandb: ⭐️ View project at https://wandb.ai/lab/digits\n"
    "wandb: 🚀 View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "0.12": "wandb: Tracking run with wandb version 0.12.21\n"
    "wandb: Run data is saved locally in /data/wandb/run-20261121_033423-abc12345\n"
    "wandb: Run `wandb offline` to turn off syncing.\nwandb: Syncing run misty-sun-7\nwandb: ⭐️ View project at https://wandb.ai/lab/digits\n"
    "wandb: 🚀 View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "0.13 end": "wandb: 🚀 View run misty-sun-7 at: https://wandb.ai/lab/digits/runs/abc12345\n",
    "resumed": "wandb: Resuming run misty-sun-7\nwandb: 🚀 View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "no emoji": "wandb: Syncing run misty-sun-7\nwandb:  View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "mojibake": "wandb: Syncing run misty-sun-7\nwandb: ðŸš€ View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "latin mojibake": "wandb: Syncing run misty-sun-7\nwandb: ???? View run at https://wandb.ai/lab/digits/runs/abc12345\n",
    "ansi": "\x1b[34m\x1b[1mwandb\x1b[0m: Syncing run \x1b[33mmisty-sun-7\x1b[0m\n"
    "\x1b[34m\x1b[1mwandb\x1b[0m: 🚀 View run at \x1b[34m\x1b[4mhttps://wandb.ai/lab/digits/runs/abc12345\x1b[0m\n",
    "carriage returns": "wandb: Syncing run misty-sun-7\r\nwandb: 🚀 View run at https://wandb.ai/lab/digits/runs/abc12345\r\n",
}


@pytest.mark.parametrize("release", STARTS)
def test_a_start_tells_id_name_entity_project_and_link(release: str) -> None:
    found = identity_of_log(STARTS[release].encode())
    assert found is not None
    assert found[:6] == (
        "wandb", "abc12345", "misty-sun-7", "lab", "digits", "https://wandb.ai/lab/digits/runs/abc12345",
    )  # fmt: skip


def test_an_offline_run_is_known_by_its_directory() -> None:
    line = b"wandb: Run data is saved locally in /data/wandb/offline-run-20261121_033045-cslapxeo\n"
    found = identity_of_log(line)
    assert found is not None
    assert (found.run_id, found.url, found.place) == (
        "cslapxeo",
        None,
        "/data/wandb/offline-run-20261121_033045-cslapxeo",
    )


def test_a_trackio_run_is_known_by_project_name_and_database() -> None:
    log = (
        b"* Trackio project initialized: my.digits\n* Trackio metrics logged to: /data/trackio\n"
        b'\x1b[1m\x1b[38;5;208mtrackio show --project "my.digits"\x1b[0m\n* Created new run: dainty-sunset-0\n'
    )
    found = identity_of_log(log)
    assert found == TrackerIdentity(
        "trackio", None, "dainty-sunset-0", None, "my.digits", None, "/data/trackio/mydigits.db"
    )


@pytest.mark.parametrize("log", [b"", b"see https://example.com/blog\n", b"* Trackio project initialized: lm\n"])
def test_a_log_without_a_run_names_none(log: bytes) -> None:
    assert identity_of_log(log) is None


def test_the_files_are_believed_where_the_log_names_another_run() -> None:
    disk = identity_of_folder("/data/wandb/run-20261121_033423-new12345")
    assert disk is not None
    assert merge(FIRST, disk) == (disk, "abc12345")
    assert merge(None, disk) == (disk, None)
    assert merge(FIRST, None) == (FIRST, None)
    both, stale = merge(FIRST, identity_of_folder("/data/wandb/run-20261121_033423-abc12345"))
    assert (both, stale) == (FIRST._replace(place="/data/wandb/run-20261121_033423-abc12345"), None)
    assert identity_of_folder("/data/wandb/latest-run") is None


def test_one_record_for_each_attempt() -> None:
    assert known_before([FIRST], FIRST._replace(url="https://wandb.ai/x"))
    assert not known_before([FIRST], SECOND)
    assert not known_before([FIRST], FIRST._replace(run_id="xyz"))


def test_hostile_text_stays_one_bounded_line() -> None:
    links = {"tracker": "wandb", "run_id": "a" * 10_000, "run_name": "x\x1b[31m\nsk-" + "a" * 40, "run_url": None}
    found = identity_of(links)
    assert found is not None
    told = describe_identity(found)
    assert "\n" not in told
    assert "\x1b" not in told
    assert len(told) < 1200


def test_damaged_records_are_read_as_far_as_they_go() -> None:
    assert identity_from_record({}) is None
    assert identity_from_record({"tracker": 7}) is None
    assert identity_from_record({"tracker": "wandb", "run_id": 7, "attempt": True}) == TrackerIdentity("wandb")
    assert intent_from_dict("x") == Intent()
    assert intent_from_dict({"kind": 3, "run_id": "a", "resume": None, "stages": "train"}) == Intent(run_id="a")


def test_the_key_stays_on_the_local_side() -> None:
    intent = MEANT._replace(key="env:WANDB_API_KEY", api="https://api.wandb.ai", stages=("train",))
    kept = intent_to_dict(intent)
    assert "key" not in kept
    assert "api" not in kept
    assert intent_from_dict(kept) == intent._replace(key=None, api=None)
