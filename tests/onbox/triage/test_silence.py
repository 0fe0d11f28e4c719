"""A log that has not grown for long: it hangs, or it has ended and says so in its last lines."""

from __future__ import annotations

import pytest

from onbox.contract.progress import Progress
from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress
from onbox.triage.classify import classify
from onbox.triage.evidence import Evidence

YESTERDAY = Evidence(log_age_seconds=86400.0)
STEPS = "".join(f"step {at}/900 loss 2.{999 - at}\n" for at in range(100, 120))
ENDED = {
    "a last line that tells of a result in words of its own": "part 1 packed\npart 2 packed\nmedian 0.03 s\n",
    "a last line that is no step": f"{STEPS.replace('/900', '/119')}archive verified, no errors\n",
    "a file that was written": "fold 0: rmse 0.0031\nmean rmse over folds 0.0033; wrote model.txt\n",
    "a summary below it": "indexing\nmerge finished: 32/32 shards, 16824 docs, 0 failed\ncache 12 MB\n",
    "all of a number": "relance 3\nbalayage termine : 8/8 graines, 1 relance\n",
    "capital letters": "accuracy 0.97\nJOB_FINISHED\n",
    "a status": "scrub started on /data\nscrub status: finished\nRate:  512 MiB/s\nError summary:  no errors found\n",
    "another language": "Fold 3 von 3\nModell in modelle/logit.joblib gespeichert\n",
}
STANDING = {
    "the middle of its loop": STEPS,
    "each round says that it is done": "".join(f"worker 2 rendered scene batch {at}\n" for at in range(9)),
    "part of a number": "1700/9000 prompts left\nprocessed 2200/9000 prompts, 3094.1 tok/s\n",
    "a step of its start": "> setting up the tensor groups ... done\n> setting up rendezvous of groups ... done\n",
    "what it loaded, and then began": "Loading checkpoint shards: 100%|####| 4/4 [00:10<00:00]\nStarting training\n",
    "what it loaded": "Loading checkpoint shards: 100%|####| 4/4 [00:10<00:00,  2.5s/it]\n",
    "a layer that it has, and one that it fetches": "b2: Pull complete\nDownloading model weights from hub\n",
    "what it saved on its way": "Tokenizer saved to tok/\nDataset cached in /data\ninit_process_group: rank 0\n",
    "a bar at its beginning": "r3 wrapping\nr2 wrapping\nr0 train:   0%|          | 0/12000 [00:00<?, ?it/s]\n",
    "a server that waits": "INFO: loading the model\nINFO: Application startup complete.\nINFO: on 127.0.0.1:80\n",
}


@pytest.mark.parametrize("case", ENDED)
def test_what_says_that_its_work_is_there_has_ended(case: str) -> None:
    verdict = classify(ENDED[case].encode(), YESTERDAY)
    assert (verdict.failure_class, verdict.state) == ("success_healthy", "done")


@pytest.mark.parametrize("case", STANDING)
def test_what_stands_somewhere_else_hangs(case: str) -> None:
    verdict = classify(STANDING[case].encode(), YESTERDAY)
    assert verdict.failure_class == "hang_stall"
    assert verdict.confidence == "low"
    assert verdict.remedy.startswith("Nothing was written for 1d00h: see whether its process runs.")


@pytest.mark.parametrize("case", ENDED)
def test_a_process_that_lives_on_hangs_whatever_its_last_words(case: str) -> None:
    verdict = classify(ENDED[case].encode(), YESTERDAY._replace(process_alive=True))
    assert verdict.failure_class == "hang_stall"


def test_a_counter_at_its_end_has_ended() -> None:
    log = STEPS.replace("/900", "/119").encode()
    silent = classify(log, YESTERDAY)
    assert silent.failure_class == "hang_stall"
    assert with_progress(silent, Progress(current=119, exact_max=119)).state == "done"
    assert with_progress(silent, Progress(current=118, exact_max=119)).failure_class == "hang_stall"


LOST = "epoch 1/3 loss 0.5\nepoch 2/3 loss nan\nepoch 3/3 loss nan\n"


@pytest.mark.parametrize(("age_seconds", "state"), [(30.0, "running"), (86400.0, "unknown")])
def test_who_lost_its_loss_long_ago_is_not_said_to_run(age_seconds: float, state: str) -> None:
    verdict = classify(LOST.encode(), Evidence(log_age_seconds=age_seconds))
    assert (verdict.failure_class, verdict.state) == ("divergence", state)


def test_who_lost_its_loss_and_came_to_its_end_is_done() -> None:
    verdict = classify(LOST.encode(), Evidence(log_age_seconds=30.0))
    ended = with_progress(verdict, Progress(3, 3, "epoch", finished=True))
    assert (ended.failure_class, ended.state) == ("divergence", "done")


def test_who_says_that_a_part_is_done_and_counts_on_may_hang_all_the_same() -> None:
    log = b"loading data\ntraining finished\nexporting parts\npart 10 of 80\npart 20 of 80\npart 30 of 80\n"
    assert classify(log, Evidence(log_age_seconds=1e5)).failure_class == "hang_stall"
    at_its_end = log + b"part 80 of 80\n"
    old = classify(at_its_end, Evidence(log_age_seconds=1e5))
    assert with_progress(old, read_progress(at_its_end)).state == "done"


def test_an_old_log_without_a_word_is_not_said_to_hang() -> None:
    old = classify(b"", Evidence(log_age_seconds=1e5))
    assert (old.failure_class, old.rule) == ("unknown", "nothing-written")
    assert classify(b"", Evidence(log_age_seconds=1e5, process_alive=True)).failure_class == "hang_stall"


def test_one_line_alone_says_nothing_of_an_end() -> None:
    assert classify(b"x\n", Evidence(log_age_seconds=1e5)).failure_class == "hang_stall"
