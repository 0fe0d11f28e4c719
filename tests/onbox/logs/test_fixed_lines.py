"""Lines that a program always words alike, rounded cells, and lists and advice that count nothing."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

CELLS = "-------------------\n| loss    | 26.5     |\n| samples | 2.7e+04 |\n| step    | {}     |\n"
MANIFEST = lines("part-0000#-of-00040.bin 700000 aa2d47300df9385a20fcdff536ac039b", 1, 2, 3, 4, 5, 6)
PACKED = lines("d/part-0000#-of-00040.bin to d/part-0000#-of-00040.bin.gz ", 1, 2, 3, 4, 5, 6)
ADVICE = (
    "STOP: TOTAL NO. OF ITERATIONS REACHED LIMIT\n\n"
    "Increase the number of iterations to improve the convergence (max_iter=70).\n[[37  0]\n [ 0 40]]\n"
)
# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "inputs of a fuzzer": ("".join(f"#{at}\tNEW    cov: 71{at} ft: 27 corp: 9/28Kb\n" for at in (5, 6, 9)), 9, None),
    "the same, of several jobs": (
        "".join(f"#{at}: cov: 27 ft: 25 corp: 50\n" for at in (50, 60, 90)),
        90,
        None,
    ),
    "a step that a table rounds": ("".join(map(CELLS.format, (970, 980, 990, "1e+03", "1.01e+03"))), 1010, None),
    "progress in Korean": (lines("진행률: #/15", 1, 2), 2, 15),
    "a list of files": (MANIFEST, None, None),
    "files and what is made of them": (PACKED, None, None),
    "advice": (ADVICE, None, None),
    "a list of arguments that names a loss": (
        "Namespace(arch='dla_34', epoch=5, loss_type='l1', print_iter=0, seed=3)\nheads {'hm': 1}\nDrop LR to 1e-05\n",
        None,
        None,
    ),
    "LAMMPS's histograms, as wide as its rows": (
        "   Step         Temp          Lx          Ly\n"
        + "".join(f"    {at}00   125.{at}3   158.5   158.5\n" for at in range(1, 9))
        + "Nlocal:            100 ave         100 max         100 min\nHistogram: 1 0 0 0\nHistogram: 1 0 0 0\n",
        800,
        None,
    ),
    "one job of one, done": ("rule sort:\n    jobid: 0\n\nFinished job 0.\n1 of 1 steps (100%) done\n", 1, 1),
    "how long nothing got better": (
        lines("Epoch #\nVal loss: 0.12\nNo improvement for 1#/20 epochs", *range(31, 40)).replace(" 13", " 1"),
        39,
        None,
    ),
    "an assignment that a shell traces": (lines("++ defaults.sh[#]export flux_iteration=2", 7, 8), None, None),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


STEPS = lines("step #, loss: 0.31", *range(50, 900, 50))
OVER = {
    "a target, with its step and loss": STEPS + "Target loss of 0.3 achieved at step 861! Final loss: 0.29\n",
    "a benchmark of Horovod": lines("[0]<stdout>:Iter #: 433.1 img/sec per GPU", *range(9))
    + "[0]<stdout>:Img/sec per GPU: 408.8 +-79.4\n[0]<stdout>:Total img/sec on 2 GPU(s): 817.6 +-158.8\n",
    "tests with errors": "ERROR t.py::test_a - CommError: no artifact\n===== 20 warnings, 4 errors in 13.34s =====\n",
}


@pytest.mark.parametrize("log", OVER.values(), ids=OVER)
def test_is_over(log: str) -> None:
    assert read(log).finished is True


def test_what_begins_in_the_last_line_is_not_over() -> None:
    assert not read("INFO:search NSGAII finished; Elapsed Time: 0:04:21.66\nINFO:search NSGAII starting\n").finished


BAR = " 40%|###9      | {}/900 [57:45<1:16:44, 13.37it/s]"
STOPS = {
    "the end is glued behind a bar, which is drawn once more": "\r".join(map(BAR.format, range(300, 360)))
    + "(INFO)[base.py:532]  -------Training Finished----------\n\r"
    + BAR.format(360)
    + "\n",
    "the last step from zero is told out of its turn": lines("Step: #, All Loss: 64.47", 0, 500, 1000, 1500, 1999)
    + "[ 0.1  0.  -3.43]\n",
    "an epoch from zero that was validated": lines(
        "Epoch # of 8 \t lr=[1e-05] \t loss=0.46 \t val_loss=0.41 \t val_iou=0.82", *range(8)
    ),
    "a banner once more above the last validation": "Ultralytics YOLOv8.1.9 Python-3.11.6 torch-2.1.2\n"
    "Starting training for 300 epochs...\n"
    + lines("      Epoch    GPU_mem   box_loss\n     #/300    14.2G   0.71", 1, 2, 3)
    + "Stopping training early as no improvement observed in last 2 epochs. Best results observed at epoch 1\n\n"
    "3 epochs completed in 0.314 hours.\nUltralytics YOLOv8.1.9 Python-3.11.6 torch-2.1.2\n"
    "           all       4146      20410      0.887      0.861\nResults saved to runs/detect/train3\n",
    "a record of the end": lines('{"global_step": #, "loss": 0.1}', *range(25, 300, 25))
    + '{"event": "run_finished", "global_step": 275}\n',
}


@pytest.mark.parametrize("log", STOPS.values(), ids=STOPS)
def test_stops(log: str) -> None:
    assert read(log).finished is True


BEGUN = {
    "the epochs of the last step go on": "[Step 1/3] Skipped.\n[Step 2/3] Validating ...\n[Step 2/3] Completed.\n"
    "[Step 3/3] Launching training...\n" + 5 * "epoch:0 progress:0.000 step:0  loss:6078.91 time:0.69\n",
    "some documents converged": "PROGRESS: pass 0, at document #400/1200\n"
    "1100/1200 documents converged within 50 iterations\n",
    "the last of epochs from zero without a validation": lines("Epoch # of 8 \t loss=0.46", *range(8)),
    "work behind the training": lines("Epoch # loss 0.31", *range(1, 9))
    + "Training finished\n"
    + lines("Aggregating cells, # of them ...\nClustering with all that is known ...", *range(5, 95, 5)),
    "a logger that is called test": "MODEL:\n  NECK: before\n  STEPS: (25, 40)\nSOLVER:\n  WARMUP: none\n"
    "2020-09-18 14:07:06,578 reid.test INFO: Enter inferencing\n",
    "a model of which nothing is loaded": 2 * "Loading checkpoint shards:   0%|          | 0/2 [00:00<?, ?it/s]\n",
}


@pytest.mark.parametrize("log", BEGUN.values(), ids=BEGUN)
def test_has_begun(log: str) -> None:
    assert not read(log).finished


def test_nothing_of_a_model_is_loaded_yet() -> None:
    assert read(BEGUN["a model of which nothing is loaded"]).exact_max is None


def test_batches_in_brackets_are_those_of_the_epoch_behind_them() -> None:
    seen = read(lines("[#/32] running loss of epoch 9 is : 3.04", *range(15, 32)))
    assert (seen.current, seen.exact_max, seen.inner_current, seen.inner_max) == (9, None, 31, 32)


def test_a_bar_that_gets_a_description_is_that_of_its_epoch() -> None:
    bar = "Epoch [0][#/1200] Time 0.20 (0.29) Loss 288.2716 (260.1) :  17%|#| #/1200 [00:59<03:57,  4.21it/s]"
    log = "  0%|          | 0/1200 [00:00<?, ?it/s]d.py:73: UserWarning: old\n  gt = read(x)\nloading\n"
    seen = read(log + lines(bar, 201, 202, 203))
    assert (seen.current, seen.exact_max) == (0, None)


def test_a_bar_alone_is_the_work_whatever_is_said_to_be_done_behind_it() -> None:
    bar = lines("Extracting features:  #%|###| #/100 [02:18<00:01,  2.57batch/s]", 1, 50, 100)
    seen = read(bar + "Extracted torch.Size([9329, 256]) batches of features.\nExtracted 9329 image paths.\n")
    assert (seen.current, seen.exact_max) == (100, 100)
