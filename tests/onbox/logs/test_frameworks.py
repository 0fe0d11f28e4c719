"""Logs as large frameworks and tools write them on machines with accelerators."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

TUNE = "== Status ==\nMemory usage on this node: 9.5/64.0 GiB\nResources requested: 2/16 CPUs, 1/1 GPUs\n"


def _tune(trials: str, iteration: int) -> str:
    """One report of a trial, and the status behind it."""
    result = f"Result for PPO_0:\n  num_steps_trained_this_iter: 32\n  training_iteration: {iteration}\n"
    return f"{result}\n{TUNE}Number of trials: {trials}\n"


YOLO = (
    "Transferred 434/440 items from start.pt\nStarting training for 2 epochs...\n"
    "       0/1     2.09G   0.07   0.02   0.01    0.11    100   640: 100% 329/329 [03:01<00:00,  1.81it/s]\n"
    "       Class  Images  Labels    P    R   mAP@.5: 100% 56/56 [00:36<00:00,  1.53it/s]\n"
    "       1/1     2.09G   0.06   0.02   0.01    0.10    100   640: 100% 329/329 [03:11<00:00,  1.72it/s]\n"
    "       Class  Images  Labels    P    R   mAP@.5: 100% 56/56 [00:36<00:00,  1.53it/s]\n"
)
CAFFE = "max_iter: 9000\n" + "".join(
    f"solver.cpp:228] Iteration {at}, loss = 1.7\nsgd_solver.cpp:106] Iteration {at}, lr = 0.01\n"
    for at in range(0, 9000, 500)
)
ONE_STEP = (
    "\r  0%|     | 0/1 [00:00<?, ?it/s]{'train_runtime': 41.6, 'train_loss': 2.6, 'epoch': 1.0}\n"
    "\r100%|#####| 1/1 [00:28<00:00, 28.5s/it]\n"
)
# log, current, exact maximum, finished
STANDS: dict[str, tuple[str, float | None, int | None, bool | None]] = {
    "one trial, which is running": (
        TUNE + "".join(_tune("1/1 (1 RUNNING)", at) for at in range(1, 9)),
        8,
        None,
        False,
    ),
    "one trial, which has ended": (
        TUNE + "".join(_tune("1/1 (1 RUNNING)", at) for at in range(1, 9)) + _tune("1/1 (1 TERMINATED)", 9),
        9,
        None,
        True,
    ),
    "trials of which more are to come": (_tune("2/8 (2 TERMINATED)", 9) + _tune("4/8 (4 TERMINATED)", 9), 4, 8, None),
    "fewer iterations told behind than were counted": (
        lines("iter: #  total_loss: 0.4", *range(19, 400, 20)) + "Overall training speed: 398 iterations in 0:03:20\n",
        399,
        None,
        True,
    ),
    "frames of a stack": (lines("#/3: ./net(error+0x3d) [0x5c6c92b5a2dd]", 1, 2, 3), None, None, False),
    "weights loaded, and then results": (
        lines("Loading weights: #%|██| #/100 [00:00<00:00, 80.5it/s]", 1, 50, 100) + "scores: [0.75, 0.98]\nDONE\n",
        None,
        None,
        True,
    ),
    "a step told twice": (CAFFE + "Snapshotting to out/net.caffemodel\nSolving done ...\n", 8500, 9000, True),
    "headings above many pairs of numbers": (
        lines("[#/3] part", 1, 2) + "".join(f"sees {at} / {at + 70} points\n" for at in range(90)) + "[3/3] merge\n",
        3,
        3,
        None,
    ),
    "two epochs from 0": (YOLO + "2 epochs completed in 0.109 hours.\n", 1, 1, True),
    "one step": (ONE_STEP, 1, 1, True),
    "a compiler's bracket": ("[29 of 65] Compiling Data.Map ( src/Data/Map.hs, dist/Data/Map.o )\n", 29, 65, False),
    "an evaluation's own count": (
        lines(" iteration #/ 5000 | elapsed (ms): 300.7 | lm loss: 2.51E+00 |", *range(2990, 3001))
        + lines("> working on iteration: #", 0, 30, 60),
        3000,
        5000,
        False,
    ),
    "started again and again": (
        "".join(
            f"2020-02-1{at} 00:29:58,966:INFO: Starting training for 5 epoch(s)\n"
            f"2020-02-1{at} 00:29:58,967:INFO: Epoch 1/5\n"
            for at in range(7)
        ),
        1,
        5,
        False,
    ),
    "a part begins": (
        "".join(f"Fold {at}/5\nStarting training\n" + lines("Epoch #/3 loss 0.3", 1, 2, 3) for at in (1, 2, 3)),
        3,
        5,
        False,
    ),
    "epochs of several models at once": (
        "".join(
            lines(f"model {at} : Epochs # completed in 473.1", *range(4)) + f"Training completed {at}/7\n"
            for at in range(1, 8)
        ),
        7,
        7,
        True,
    ),
    "told with each validation": (
        "".join(
            lines("100%|██| #/132 [00:28<00:02,  4.30it/s]", 20, 132)
            + lines("100%|██| #/29 [00:02<00:02,  9.30it/s]", 5, 29)
            + f"[ Valid | {at:03}/100 ] loss = 0.04080, acc = 0.99353\n"
            for at in range(1, 40)
        ),
        39,
        100,
        False,
    ),
    "layers of a model": (
        lines(" #                -1  1    131584  models.common.Conv                      [512, 256, 1, 1]", *range(30))
        + "Model Summary: 263 layers\n",
        None,
        None,
        False,
    ),
    "a worker that failed": (
        "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 39712)\n==========\n=== done Fri Apr  3 ===\n",
        None,
        None,
        False,
    ),
    "one heading and its rows": ("Epoch: 12\n" + lines("#:\t-5.1234", *range(3000, 3030)), 12, None, False),
    "validated behind the last epoch": (
        "max_epochs = 4\n"
        + "".join(
            lines(f"mmdet - INFO - Epoch [{at}][#/3143] lr: 2e-02, loss: 0.2", *range(500, 3001, 500))
            + f"mmdet - INFO - Epoch(val) [{at}][4952] mAP: 0.7\n"
            for at in (1, 2, 3, 4)
        ),
        4,
        4,
        True,
    ),
    "objects found before the work": (
        "n=12, 66106 of 203613 objects found\n" + lines("epoch #/9 loss 0.3", *range(1, 10)) + "Training complete\n",
        9,
        9,
        True,
    ),
    "a larger run days later": (
        "".join(
            f"2024-12-{day} 17:12:16,619 - INFO - Successfully downloaded {most}/{most} cases\n"
            for day, most in ((16, 100), (19, 614))
        ),
        614,
        614,
        True,
    ),
    "trials in a frame, one of which is running": (
        "Trial status: 3 TERMINATED | 1 RUNNING\nTotal running time: 5min 0s\n+----+\n| a  RUNNING  10 |\n+----+\n",
        3,
        None,
        False,
    ),
    "passes over batches": (
        "".join(f"trainer.cpp:182]  Pass={at} Batch=1472 samples=188399 AvgCost=9.2\n" for at in range(6)),
        5,
        None,
        False,
    ),
}


@pytest.mark.parametrize("case", STANDS.values(), ids=STANDS)
def test_stands(case: tuple[str, float | None, int | None, bool | None]) -> None:
    log, *stands = case
    seen = read(log)
    assert [seen.current, seen.exact_max, seen.finished] == stands


ENDS = {
    "a banner of completion": "!  Successful completion of metgrid.  !\n",
    "success": "d01 2020-03-19_00:00:00 wrf: SUCCESS COMPLETE WRF\n",
    "what the job has used": "Elapsed time (sec): 96.673\nVoluntary context switches: 1451\n",
    "scores of tags": "processed 2330 tokens with 12 phrases; found: 9 phrases; correct: 7.\n",
    "what it cost": "==== evaluation cost time: 465.9526s\n",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ends(end: str) -> None:
    assert read(lines("reading part # of the data", *range(9)) + end).finished is True


def test_a_share_may_stand_apart_from_its_sign() -> None:
    assert read(lines("Current Progress:  # % - Solving linear system", 10, 20, 30)).percent == 30
