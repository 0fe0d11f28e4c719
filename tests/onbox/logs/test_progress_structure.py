"""How far a run is, by how its numbers stand and move: no name of a program or of a library."""

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress

MEASURES = (-13405.36, -9765.58, -9744.06, -9737.1, -9735.5, -9732.81, -9732.3, -9732.26)


LOOP = "".join(f"iter {at} loss {value}\n" for at, value in enumerate(MEASURES * 2))


YOLO = """\
  Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
 46/100      9.18G      1.521      1.559      1.242        847        640:
  0%|          | 0/15 [00:00<?, ?it/s]
 47/100      9.18G      1.522      1.576      1.245        794        640:
  0%|          | 0/15 [00:00<?, ?it/s]
"""
SECOND_RUN = """\
Epoch 29/30
step=9/9 loss=2.3
Epoch 30/30
step=9/9 loss=2.3
Epoch train finished, loss=2.3
step=2/19 loss=2.3
step=3/19 loss=2.3
"""
EPOCHS = "".join(f"Epoch {at}/50 | loss=0.{at}\n" for at in (1, 2, 3))
SHARDS = "Loading checkpoint shards: 100%|##########| 2/2 [00:00<00:00,  4.90it/s]\n"
JOBS = "Next job: a\nSuccessfully completed job: a\n" * 3


def rows(form: str) -> bytes:
    return "".join(
        form.format(n=number, n100=100 * number, n2=2**number, v=value) + "\n"
        for number, value in enumerate(MEASURES, start=1)
    ).encode()


@pytest.mark.parametrize(
    ("form", "current"),
    [
        ("{n:10d} {v:16.8f}", 8),
        ("FIRE: {n:4d} 21:37:38 {v:12.6f}", 8),
        ("I0000 00:00:1.2 13383 a.cc:421] Merged: freq={v:.0f} merges={n100} piece=le", 800),
        ("after cycle={n} avg(utility)={v} avg(num_wins)=0.5", 8),
        ("[{n} Best - ID: 63 Fitness: {v:.3f}, Accuracy: 94.4%]", 8),
        ("{n},{v:.9f},0.5317124", 8),
        ("{n}, {v:.3f}: 1.08, 1.11 avg, 1120 images\nLoaded: 0.000057 seconds", 8),
        (" {n}: {v:.4e} -3.5e+02  4e+02", 8),
        (" {n}000 (0.1)", 8000),
        ("[{n} Closest: 'Genetic', Fitness: 1.00]", 8),
        ("{v:.6f} {v:.3f} {n2:12d} {n2:12d}.0", 256),
    ],
)
def test_rows_with_a_number_that_goes_on_evenly_beside_a_measure(form: str, current: int) -> None:
    assert read_progress(rows(form))[:2] == (current, None)
    assert read_progress(rows(form) + b"finished\n").current == current


@pytest.mark.parametrize(
    "form",
    [
        "| {n} | {n2:7d} | conv | (128L, 76L) |", "PSNR of (BSD68) kernel: ({n}): {v:.2f} dB", "{n}",
        "part {n} of it",
        "21:54:0{n} util {v:.2f}",
        "10.0.0.{n} GET /page/{n} 200 {n100}", "pid {n}  {v:.2f}", "member {n}: {n100}",
    ],
)  # fmt: skip
def test_rows_of_things_are_no_progress(form: str) -> None:
    assert read_progress(rows(form)).current is None


def test_one_pair_of_brackets_holds_the_epoch_and_its_batch() -> None:
    lines = [f"[{epoch}, {batch:5d}] loss: {9 / batch:.3f}\n" for epoch in (1, 2) for batch in range(2000, 8001, 2000)]
    progress = read_progress("".join(lines).encode())
    assert (progress.current, progress.exact_max, progress.unit, progress.inner_current) == (2, None, "epoch", 8000)


@pytest.mark.parametrize(
    ("lines", "current", "most"),
    [
        (["{e}/600/{b}/17 | 0.29:0.13 | Lr:0.001"], 2, 600),
        (["INFO:Namespace(epochs=300)", "INFO:{e}-epoch ({b}/44660): total loss 11.2, lr 5.5e-09"], 2, 300),
        (["Model: {b}, batch_size: 12 Step: {e}00, All Loss: 1.78"], 200, None),
        (["2025-06-09 12:06:03, Gen {e}0, Fitness 1.10, Species 7"], 20, None),
        (["current step: 29{e}th step", "batch loss:1.31"], 292, None),
        (["cycle= {e} E= -152.03  delta_E= -9.21e-07"], 2, None),
        (["INFO:tensorflow:[ {e}5000] | gnorm  1.97 lr  0.000226 | loss  5.54"], 25000, None),
        (["INFO epoch: {{{e}/300}}, step: {{{b}/20}}, loss : {{1.9}}"], 2, 300),
        (["Max epochs      300. Desired error: 0.01.", "Epochs   {e}0. Current error: 0.00216. Bit fail 24."], 20, 300),
        (['{{"percent_done":0.7,"total_files":553,"files_done":55{e}}}'], 552, 553),
        (["Epoch {e} Loss 2.40 Accuracy 2.10", "Time taken for 1 epoch: 19.2860746 secs"], 2, None),
        (["[Stage 0:=====>     (4{e} + 2) / 48]"], 42, 48),
        (["7905 s | epoch: {e} step: 1335 total_loss: 0.0{b}8 lr: 0.1"], 2, None),
    ],
)  # fmt: skip
def test_which_number_of_a_line_is_the_runs(lines: list[str], current: int, most: int | None) -> None:
    log = "".join(f"{line}\n".format(e=epoch, b=batch) for epoch in (1, 2) for batch in (5, 9) for line in lines)
    assert read_progress(log.encode())[:2] == (current, most)


def test_a_bar_of_each_epoch_that_stays_at_its_beginning_is_inside() -> None:
    log = "".join(
        f"  0%|   | 0/3 [00:00<?, ?it/s]\nTrain Epoch: [{epoch}/53] Loss: 0.5: 8it [00:03, 3.9it/s]\n"
        f"  0%|   | 0/52 [00:00<?, ?it/s]\nTest Epoch: [{epoch}/53] | Top-1:8.17% : 39it [00:03, 3.9it/s]\n"
        for epoch in range(1, 8)
    )
    assert read_progress(log.encode())[:2] == (7, 53)


def test_what_goes_back_while_the_epoch_goes_on_gives_no_maximum() -> None:
    log = "".join(
        f"r0 Training Epoch: {share}%|# | {at}/58 [00:10<00:49, 1.03s/it]\n" * (at == 58)
        + f"r0 Training Epoch: {share}%|# | {at}/58 [00:10<00:49, 1.03s/it]\n"
        + (f"Train Epoch: \t{epoch}, Loss: \t2.3\n" if at == 58 else "")
        for epoch in range(1, 6)
        for at, share in ((0, 0), (29, 50), (58, 100))
    )
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max, progress.finished) == (5, None, None)
    batches = "".join(
        f"{at}/3 in some epoch finished at 0:00:5{at}, Loss is 2.39\n" for _ in range(4) for at in range(3)
    )
    assert read_progress(batches.encode()).exact_max is None


def test_the_epochs_of_one_of_many_runs_give_no_maximum() -> None:
    run = "".join(f"[FT] ep={epoch}: loss=0.05 acc=99.0%\n" for epoch in range(0, 50, 10))
    progress = read_progress(("[FT] config: epochs=50, alpha=1.0\n" + run * 7).encode())
    assert (progress.current, progress.exact_max) == (40, None)


def test_a_bar_that_gets_its_name_when_it_has_begun_is_one_bar() -> None:
    log = "".join(
        "  0%|  | 0/250 [00:00<?, ?it/s]\n"
        + "".join(f"Epoch {epoch}:   0%|  | {at}/250 [00:00<00:25, 9.6it/s, loss=0.5]\n" for at in (0, 1, 5))
        for epoch in range(3)
    )
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max, progress.inner_current, progress.inner_max) == (2, None, 5, 250)


def test_batches_that_begin_again_give_no_maximum() -> None:
    tests = "".join(f"Val: [{at}/39]\tBatch 0.31 (0.31)\tLoss 1.43\n" for _ in range(5) for at in (0, 10, 20, 30))
    assert read_progress(tests.encode()).exact_max is None


def test_a_display_that_learns_how_much_there_is() -> None:
    progress = read_progress(b"[/     ]    0/2571   0%\n[=====/] 40594/40594 100%\n\nNumber of inodes 3\n\n\nsize 4\n")
    assert progress[:2] == (40594, 40594)


@pytest.mark.parametrize(
    ("log", "finished"),
    [
        (
            "[90.0%] 270/300 frames, 41.40 fps\n[95.7%] 287/300 frames, 41.40 fps\nencoded 300 frames in 7s\n",
            True,
        ),
        (
            "[90.0%] 270/300 frames, 41.40 fps\n[95.7%] 287/300 frames, 41.40 fps\nencoded 200 frames in 7s\n",
            False,
        ),
        ("Epoch 1/61 started\nstep=20/26 loss=2.3\nEpoch train finished, avg_loss=2.35, time=6.3s\n", None),
        ("Epoch 20/61 loss 0.3\nTraining completed\n", True),
        ("epoch 26 loss 0.3\nStopping since valid_loss has not improved in the last 6 epochs.\n", True),
        (
            "Epoch [100/100][5000/5005]  loss: 0.92\nSaving checkpoint at 100 epochs\nEpoch(val) [100][196] acc: 76\n",
            True,
        ),
        ("epoch 28/40 loss 0.3\nEpoch 00028: early stopping\n", True),
        ("epoch 28/40 loss 0.3\nEarly stopping triggered at epoch 28\nsaved best.pt\n", True),
        ("epoch 28/40 loss 0.3\nEarlyStopping counter: 3 out of 10\n", False),
        ("early stopping: on\nepoch 28/40 loss 0.3\nepoch 29/40 loss 0.3\n", False),
        ("epoch 28/40 loss 0.3\nearly stop after 28 epochs (no improvement for 6)\n", True),
        ("iter 2 loss 0.3\nAuto-stop. Use model at 1th iteration.\n", True),
        ("epoch 28/40 loss 0.3\nEarly stop counter: 3/6\n", False),
        ("epoch 28 loss 0.3\nTreinamento concluído com sucesso\n", True),
        (
            "using utf-8\n 79.0% done, at\n 92.2% done, at\n37989 extents written (74 MB)\n",
            True,
        ),
        ("part 4/5\npart 5/5\n[FAILED] 403 from bucket\n", False),
        ("iter 5 loss 0.3\nOptimal solution found.\n", True),
        ("iter 5 loss 0.3\nExport complete (15.70s)\n", True),
        ("iter 5 loss 0.3\nApplication startup complete.\n", False),
        ("Fold 1/3\nepoch 16 loss 0.3\nEarly stopping triggered at epoch 16\n", None),
        ("Fold 3/3\nepoch 16 loss 0.3\nEarly stopping triggered at epoch 16\n", True),
        ("Epoch [100/100][4000/5005]  loss: 0.92\n", False),
        (LOOP + "simulation ended at 2022-07-02 19:19:56\n", True),
        (LOOP + "elapsed time: 6559.716926813126\n", True),
        (LOOP + "Total gen time:  5029\n", True),
        (LOOP + "Best model is at epoch: 12\n", True),
        (LOOP + "SCORE\n  Correct = 98.42%\n", True),
        (LOOP + "Anzahl korrekter Vorhersagen: 7770 / 10000\nGenauigkeit: 77.7%\n", True),
        (LOOP + "Accuracy of the validation: 77.7%\n", False),
        (LOOP + "Peak memory: 77.7%\n", False),
        (LOOP + "Correct = 98.42%\n" + LOOP, False),
        (LOOP + "rmse = 0.21, r2 = 0.93\n", True),
        (LOOP + "f1 0.88\n", True),
        (LOOP + "reward 213.4 +/- 12.0\n", True),
        (LOOP + "[[90 10]\n [12 88]]\n", True),
        (LOOP + "         precision  recall\ncat           0.91    0.92\ndog           0.88    0.87\n", True),
        (LOOP + '{\n  "recall": 0.9,\n  "f1": 0.8\n}\n', True),
        (LOOP + "peak memory 0.93\n", False),
        (LOOP + "f1 0.88\nKilled\n", False),
        (LOOP + "Wrote 240 rows to out.csv\n", True),
        (LOOP + "sampled in 12.3 s\n", True),
        (LOOP + "kernel compiled in 12.3 s\n", False),
        (LOOP + "target reached\n", True),
        (LOOP + "errors: 3\n", False),
        (LOOP + "rc=1\n", False),
        (LOOP + "crashed in 12.3 s\n", False),
        (LOOP + "ERROR no answer\nf1 0.88\n", False),
        (LOOP + "ERROR no answer\nelapsed: 12.3 s\n", False),
        (LOOP + "ERROR no plot was drawn\nall results saved\n", True),
        ("ERROR    app:err.py:12 made up\nPASSED  [100%]\n==== 8 passed in 1.02s ====\n", True),
        ("epoch 6 loss nan\nFATAL: the loss is nan, stopping\nstage exited rc=3\n", False),
        ("iter 9/9 obj 0.3\ntimeout: sending signal TERM to command 'prog'\n", False),
        ("test_a ... ok\n----\nRan 11 tests in 2.1s\n\nOK (skipped=1)\n", True),
        ("test_a ... FAIL\n----\nRan 11 tests in 2.1s\n\nFAILED (failures=1)\n", True),
        ("ok 1\nok 2\nnot ok 3\nAll tests successful.\n", True),
        (LOOP + "   user  system elapsed\n  1.234   0.056   1.345\n", True),
        ("all done\nslurmstepd: error: *** STEP 81.0 ON hx3 CANCELLED AT 2023-03-31T10:11:12 ***\n", False),
        (LOOP + "{'depth': 4, 'gamma': 0.25}\n", True),
        (LOOP + "{'depth': 4, 'lr': 0.25}\n", False),
        (LOOP + 'Exception in thread "main" java.lang.IllegalStateException: no\n\tat Main.run(Main.java:7)\n', False),
        ("iter 5 loss 0.3\npanic: index out of range\nTerminated\n", False),
        ("iter 5 loss 0.3\nfields written to 5\n\nEnd\n", True),
        ("iter 5 loss 0.3\nEnd of epoch\n", False),
        ("09:03:41,342 __main__   INFO   END mesh.py\n" * 2, False),
        ("09:03:41 prog.a   INFO   BEGIN a\nx\ny\nz\n09:03:42 prog.a   INFO   END a\n", True),
        (
            "2022-04-24 05:00:50 tool  [INFO   ]  The plots\n2022-04-24 05:00:51 tool  [INFO   ]  Report complete\n",
            True,
        ),
        ("Converting pictures\n120 pictures converted, 3 left out\n", True),
        ("rows to read\nERROR the server refuses\nbye\n", False),
        ("[####    ] | 47% Completed |  1.1 s\r[########] | 100% Completed |  2.3 s\n918\n", True),
        ("[####    ] | 47% Completed |  1.1 s\r[########] | 100% Completed |  2.3 s\nusing port: 918\n", None),
        ("[####    ] | 47% Completed |  1.1 s\n918\n", False),
        (rows("  {n100}:  {v}").decode() + "Call:\n forest(n = 800)\nNumber of trees: 800\n" + "a b c\n" * 3, True),
        (SHARDS, None),
        (SHARDS + "Graph capturing finished in 1 secs\n", None),
        (
            "[Parallel(n_jobs=2)]: Done   5 out of   5 | elapsed: 3.3s finished\n"
            + "".join(f"INFO: total of set {c}\n" for c in "pqrstuvw"),
            None,
        ),
        ("".join(f"reading input of kind {c}\n" for c in "pqrstuv") + JOBS + "Next job: b\n", None),
        ("loss 0.3\n=== Epoch 10/10 ===\n", None),
        (SECOND_RUN, False),
        ("done.\n" + "".join(f"step {c} of the next training is being set up\n" for c in "abcdefghijklmnop"), None),
        ("iter 9/10 loss 0.3\nnumber of restarts: 0/5\nTraining completed\n", True),
    ],
)
def test_which_ends_are_ends(log: str, finished: object) -> None:
    assert read_progress(log.encode()).finished is finished


@pytest.mark.parametrize(
    ("log", "current", "exact_max"),
    [
        ("Epoch 2/10\nThe whole journey took 2/3 + 3/5 = 14/15 hours.\n", 2, 10),
        ("Epoch 2/10\n2. (25/100) * 255 = 63.75 pages\n" * 3, 2, 10),
        ("".join(f"{at}th run\npower: 0.{at}\n" for at in range(4, 44)), 43, None),
        ("Parse safetensors files: 100%|#####| 3/3 [00:08<00:00,  2.87s/it]\nstep 4 loss 0.3\n", 4, None),
        ("NCCL INFO Channel 31/32 :    0   1\n", None, None),
        ("Epoch 1 Loss 1.02\nTime taken for 1 epoch: 116.46 secs\n", 1, None),
        ("12:01:10 [FT] Ep 001 | Loss 0.6\n12:01:20 [FT] Ep 002 | Loss 0.5\n", 2, None),
        ("INFO:root:[1,   100/ 2562] - [Autoencoder Training] [Loss: 0.9994] [lr: 1.08e-04]\n" * 2, 1, None),
        ("LR=0.000169, GAMMA=0.935, TAU=0.008, PLANNING_STEPS=10, N_STEP=3\n" * 2, None, None),
        (YOLO, 47, 100),
        ("".join(f"TRAIN started at {day} 27\nlr: 0.1\n{EPOCHS}" for day in "abcdefg"), 3, 50),
        ("reading rows: 434 lines [00:00, 866.83 lines/s]\rreading rows: 868 lines [00:01, 865.99 lines/s]", 868, None),
    ],
)
def test_which_numbers_are_the_runs(log: str, current: int | None, exact_max: int | None) -> None:
    assert read_progress(log.encode())[:2] == (current, exact_max)


def bars(most: int, *, name: str = "", last: int | None = None) -> str:
    """A bar without its drawing, as in a narrow terminal, redrawn on one line."""
    shown = range(0, (most if last is None else last) + 1, max(1, most // 10))
    return "\r".join(f"{name}{100 * at // most:3d}% {at}/{most} [00:{at // 2:02d}<00:09,  1.07s/it]" for at in shown)


OTHER_LINES = "".join(f"name = encoder/{c}/dense, shape = (768, 768)\n" for c in "abcdefghijklmnop")
SIZES = "size(B)\tcycles\tbw(GB/s)\n" + "".join(
    f"{2**at}\t160438\t{value}\n" for at, value in enumerate(MEASURES, start=2)
)


GROUPS = "".join(
    f"select<{size}, {at}>   {value} ns\n" for size in (512, 1024) for at, value in enumerate(MEASURES, start=1)
)
SCANNED = "".join(f"[main] INFO Shop - Scanned {at}00 images\n" for at in range(1, 10))
PARTS = "shards:   0%|  | 0/3 [00:00<?, ?it/s]\n" + "".join(
    "".join(f"rows: {2 * n:3d}%|  | {n}/50 [00:00<00:00, 9it/s]\n" for n in (0, 25, 50))
    + f"shards:  {100 * at // 3}%|  | {at}/3 [00:09<00:01,  1it/s]\n"
    for at in (1, 2, 3)
)
AMBER = " nstlim  = 50000,\n" + "".join(f" NSTEP = {at}00   TIME(PS) = 9.{at}  TEMP(K) = 297.1\n" for at in range(1, 9))
EVALUATION = "".join(f"Evaluation  [ {at}/2007]  eta: 0:05:33\n" for at in (0, 10, 20)) + "results saved to x\n"
WRITING = "".join(f"Writing example {at}0000 of 70000\n" for at in range(7))


@pytest.mark.parametrize(
    ("log", "current", "exact_max"),
    [
        # Bars without a drawing, inside the epochs, and one that prepared them.
        (
            "".join(bars(most).replace("\r", "") + "\n" for most in (1000, 100))
            + "".join(f"Epoch {at}:\nE step\n{bars(30)}\nfinished epoch {at}, gain: 6.2\n" for at in range(1, 5)),
            4,
            None,
        ),
        ("".join(f"==> Start Training run/a Epoch {at}, lr=0.05\n{bars(100, last=50)}\n" for at in (1, 2)), 2, None),
        # The first bracket is the epoch, where the second number has a name.
        ("".join(f"INFO - trainer -   [{at}/50] Step: {b}/259, Loss: 6.8\n" for at in (1, 2) for b in (0, 50)), 2, 50),
        # How many steps an epoch has, in lines of their own.
        (
            "".join(
                f"iters: {b}, epoch: {at} | loss: 0.2\n" * (b < 300)
                + f"Epoch: {at}, Steps: 2723 | Train Loss: 0.3\n" * (b == 300)
                for at in range(1, 5)
                for b in (100, 200, 300)
            ),
            4,
            None,
        ),
        # Another counter went past the bar's end, and the bar did not begin again.
        (
            "".join(f"run: {at}%|#| {at}/100 [00:01<00:09, 1s/it]\nglobal_step={7 * at} loss=2\n" for at in range(101)),
            100,
            100,
        ),
        # The part of the pipeline is around its bars; one that was never drawn to its end is over all the same.
        (
            "=== STEP 3/5: label ===\nlabel:  20%|#| 60/291 [00:03<00:16, 15it/s]\r"
             "label:  99%|#| 290/291 [00:19<00:00, 15it/s]\n=== STEP 4/5: fit ===\n"
            + "".join(f"warmup: {at}%|#| {at}/100 [00:09<00:09, 1s/it, loss=1]\n" for at in (0, 50, 100, 0, 40)),
            4,
            5,
        ),
        # Sizes in a benchmark, and what numbers the rows of each group.
        (SIZES, None, None),
        (GROUPS, None, None),
        # Thousands are set apart.
        ("".join(f"INFO biblio   {at},000/129,304 fetched\n" for at in range(4, 56, 4)), 52000, 129304),
        # What prepared the run has stopped telling, and the log went on.
        (
            WRITING + "***** Running training *****\n" + OTHER_LINES,
            None,
            None,
        ),
        # Named once, while the epochs go on.
        ("round 0: [0.3]\n" + "".join(f"Epoch: [{at}][{b}/9] Loss 2.4\n" for at in range(4) for b in (1, 5)), 3, None),
        # The log's first line again: the program runs anew, with another maximum.
        (
            "".join(
                "12:45:56 [The program starts.]\n"
                + "".join(f"training accuracy 0.5 - epoch {at}/{most}\n" for at in range(1, 9))
                for most in (100, 100, 100, 100, 100, 100, 200)
            ),
            8,
            200,
        ),
        ("".join(f"-------第 {at} 轮训练开始-------\n{bars(101)}\n" for at in range(1, 10)), 9, None),
        ("".join(f"Frame {at}\n\tComputing: 0.05\n\tSync: 0.03\n" for at in range(20)), 19, None),
        (AMBER, 800, 50000),
        # Rows without a maximum that begin again are inside what goes on each time.
        (
            "".join(
                f"[{row}]\tholdout-rmse:1.{row}\n" * (row < 90) + f"Trial {at} finished with value: 1.1\n" * (row == 90)
                for at in range(5)
                for row in (0, 30, 60, 90)
            ),
            4,
            None,
        ),
        ("".join(f"[fold_1] {at:03d}/200:  75%|## | 3/4 [00:09<00:03,  3.2s/it]\n" for at in range(50, 53)), 52, 200),
        ("Region 82 Avg IOU: 0.98, count: 1\n481: 0.285852, 0.28 avg, 0.00001 rate, 3.1 s, 232 images\n", 481, None),
        (
            "".join(
                "".join(f"[Parallel(n_jobs=1)]: Done   {n} out of   {n} | elapsed: 0.1s finished\n" for n in (9, 3))
                + f"\nFeatures: {at}/8 -- score: -4808.3"
                for at in range(1, 7)
            ),
            6,
            8,
        ),
        (
            "".join(f"seed {s}: {at}%|# | {at}/100 [00:0{s}<00:02, 7it/s]\n" for s in (0, 1) for at in (0, 40, 100))
            + "seed 2:  40%|# | 40/100 [00:01<00:02, 7it/s]\n",
            2,
            None,
        ),
        # Named once, and another number goes on; constants of which one was changed; what looks like a bar in a text.
        (
            "Model: scnn, epoch: 50 loss 0.3\n" + "".join(f"Sample {at}, pixAcc: 0.{at}\n" for at in range(1, 999)),
            998,
            None,
        ),
        (
            "step=0, skipped=0, lr=[0.0]\n"
            + "".join(f"{{'loss': 4.4, 'epoch': {at / 10}}}\n" for at in range(1, 20)),
            1.9,
            None,
        ),
        ("".join(f"GAMMA=0.935, N_STEP={at}, MAP_SIZE=4, LR=0.1, \n" for at in (3, 8, 10, 10)), None, None),
        ("=== Epoch 2/4 ===\nso the share\n- 20 of 23\n" + OTHER_LINES, 2, 4),
        # What was prepared is complete, and the work behind it is not; nor is a server that has loaded its model.
        (SHARDS + EVALUATION, 20, 2007),
#DEL  [ {at}/2007]  eta: 0:05:33\n" for at in (0, 10, 20)) + "results saved to x\n", 20, 2007),
        (SHARDS + OTHER_LINES + "Application shutdown complete.\n", None, None),
        ("epoches number: 100\nepoch: 3 start, learning rate: 0.01\nepoch: 4 start, learning rate: 0.01\n", 4, 100),
        ("eigenvalue_max_iter .......... 100\nstep=30, lr=0.1\nstep=40, lr=0.1\n", 40, None),
        # A bar around others is the work, whatever its name says.
        (PARTS, 3, 3),
        # Each line tells which chain it is of, so that the next one has the same end.
        ("".join(f"Chain {c}: step {at} / 100 [ {at}%]\n" for c in (1, 2, 3, 4) for at in (1, 50, 100)), 100, 100),
        ("".join(f"replica {r}/4 begun\n" + f"  replica {r} move 50/50 pi=3.1{r}\n" for r in range(4)), 3, 4),
        ("\r".join(f"plate p{at} ({at} of 40) ... {100 * at // 40}%" for at in range(1, 32)) + "\nno room\n", 31, 40),
        ("".join(f"* Ep {at}: Loss 0.01 | 9.1s\n" for at in range(1, 7)), 6, None),
    ],
)  # fmt: skip
def test_which_loop_is_the_outer_one(log: str, current: int | None, exact_max: int | None) -> None:
    assert read_progress(log.encode())[:2] == (current, exact_max)


@pytest.mark.parametrize(
    ("log", "current", "exact_max"),
    [
        # What the work is about is said before the first of it is done, not between.
        ("[main] INFO Shop - Scanning 4,500 images\n" + SCANNED, 900, 4500),
        (SCANNED + "flushing 1200 images\n", 900, None),
        ("Found 248 files\n" + "".join(f"  Processed: {at}0 files, {at * 9}43 rows\n" for at in range(1, 9)), 80, 248),
        ("termination=('n_gen', 80)\ngen 3 | 0.31\ngen 4 | 0.30\n", 4, 80),
        ("start_epoch: 5, end_epoch: 19\nepoch: 5, AUC: 0.93\nepoch: 6, AUC: 0.94\n", 6, 19),
        # Fits are counted where all of them stand there. Rows without a counter are those of the one thing that was
        # declared; a configuration alone tells nothing.
        ("totalling 64 fits\n" + "".join(f"[CV 1/2] END C={v}; score={v}\n" for v in MEASURES), len(MEASURES), 64),
        ("NVE: nsteps = 400, dt = 5 fs\n" + "".join(f"{v:.4f}  {v}  {v / 3:.3f}\n" for v in MEASURES * 2), None, 400),
        ("NVE: nsteps = 400, dt = 5 fs\n", None, None),
        # Tests by their protocol.
        ("".join(f"ok {at} - parses\n" for at in range(1, 9)) + "not ok 9 - prints\nok 10 - ends\n1..10\n", 10, 10),
        ("1..30\n" + "".join(f"ok {at} - parses\n    ok 1 - a part\n" for at in range(1, 9)), 8, 30),
        # Steps of a solver, or the time of its model.
        ("".join(f"Time = {at}\nSolving for p, residual = {v}\n" for at, v in enumerate(MEASURES * 3, 1)), 24, None),
        ("".join(f"Time = {at / 4}\nSolving for p, residual = 0.1\n" for at in range(1, 25)), 6.0, None),
        # A report after each so many; settings that are tried one after the other.
        ("".join(f"pack: write checkpoint {at}000\n" for at in range(2, 12, 2)), 10000, None),
        ("".join(f"width {at}\n" for at in range(10, 90, 10)), None, None),
        ("".join(f"heap {at * 1024}\n" for at in range(1, 9)), None, None),
        ("".join(f"waiting {at}00 ms\n" for at in range(1, 9)), None, None),
        ("".join(f"ok {at} GET /\n" for at in (200, 200, 304, 404)), None, None),
        ("/dev/sda1  450G/1000G [====    ] 45%\n", None, None),
        # Bars of other languages: a counter before, behind, or apart from them.
        ("120 / 500 [==>-------] 24.00% 9s\r235 / 500 [====>-----] 47.00% 5s", 235, 500),
        (" 450/1000 [=====>------]  45%\n", 450, 1000),
        (" ████░░░░░░ 42% | ETA: 12s | 420/1000\n", 420, 1000),
        ("Trees  45% │████▌     │  45/100 (0:00:05 / 0:00:06)\n", 45, 100),
        ("".join(f"[{at}] of [50] scenes drawn\n" for at in range(1, 20)), 19, 50),
        ("state\tposterior\tprior\n" + "".join(f"{at}000\t-12.{at}\t-1.{at}\n" for at in range(9)), 8000, None),
        ("".join(f"[ {at}/164] task/{at} PASS  so far: 2/{at} = 0.{at}00\n" for at in range(3, 9)), 8, 164),
        ("".join(f"[{at}/24] shard_00{at}.npy  rows=2000\n" for at in range(3, 9)), 8, 24),
        ("+ python train.py --epochs 80 --warmup-epochs 5\n" + "epoch,loss\n1,0.5\n2,0.4\n3,0.4\n4,0.3\n", 4, 80),
        ("playing 40 games\n" + "".join(f"game {at}: won\n" for at in range(1, 20)), 19, 40),
    ],
)  # fmt: skip
def test_what_a_count_is_of(log: str, current: int | None, exact_max: int | None) -> None:
    assert read_progress(log.encode())[:2] == (current, exact_max)


ROUNDS = "".join(f"[{at}]\ttrain-rmse:{1 / (at + 1):.5f}\n" for at in range(22))


@pytest.mark.parametrize(
    ("log", "finished"),
    [
        ("rounds=400, early_stopping_rounds=15\n" + ROUNDS + "best 6\n", True),
        ("rounds=400, early_stopping_rounds=15\n" + ROUNDS + "best 9\n", False),
        ("rounds=400, early_stopping_rounds=15\n" + ROUNDS, False),
        ("num_rounds=400\n" + ROUNDS + "best 6\n", False),
    ],
)
def test_a_run_that_waited_as_long_as_it_said_has_stopped(log: str, finished: object) -> None:
    assert read_progress(log.encode()).finished is finished


PASSED = "".join(f"t.py::t[{at}] PASSED    [ {at}%]\n" for at in range(80, 100))
TABLE = (
    "|  iter  |  target  |  x  |\n"
    + "-" * 30
    + "\n"
    + "".join(f"| {at}  | {value}  | 3.2  |\n" for at, value in enumerate(MEASURES, start=1))
)
SHARES = '#"Progress (%)"\t"Step"\t"Energy"\t"Speed"\n' + "".join(
    f"{at}.5%\t{at}00\t-5.5\t7.1\n" for at in (50, 70, 90)
)


@pytest.mark.parametrize(
    ("log", "finished"),
    [
        ("iter 5 loss 0.3\niter 6 loss 0.2\nSolution is in out.png\nPS C:\\Users\\me\\lab>     \n", True),
        ("iter 5 loss 0.3\niter 6 loss 0.2\n(env) me@box:~/lab$ \n", True),
        ("iter 59 f(x)= 8.08\niter 60 f(x)= 8.06\nMaximum number of iterations has been exceeded.\n", True),
        ("iter 59 f(x)= 8.08\niter 60 f(x)= 8.06\nExceeded maximum iterations\nx =\n\n  0.8\n", True),
        ("Creating output file.\nProcessing a.asc [1/1] : 0...10...20...30...90...100 - done.\n", True),
        ("script: 12 cells\n\nEnd of script. Logfile hash: 06e9, CPU: user 0.05s\n", True),
        ("epoch 4\nepoch 5\n\n      Fold 1  Fold 2  Mean  Std\nRMSE  1.45  1.46  1.46  0.0\n", True),
        ("Epoch 4 loss 0.3\nEpoch 5 loss 0.3\nTraining selesai.\n", True),
        ("iter 5 loss 0.3\nRuntimeError: bad\nme@box:~/lab$ \n", False),
        # The shell around it tells how long the failed command took.
        ("RuntimeError: bad\n\nreal\t0m56.895s\nuser\t0m11.272s\nsys\t0m6.233s\ndone\n", False),
        ("frame= 1268 fps=11\nframe= 1304 fps=10\nmuxing overhead: 3\nExiting normally, received signal 15.\n", False),
        ("iter 5 loss 0.3\n10:54:48.3 [main] INFO net.Sets - Clearing\n10:54:48.4 [main] INFO net.Sets - Done\n", True),
        ("Gen: 98, best: 84/100 wins\nGen: 99, best: 85/100 wins\nDone! Best score: 85/100 wins!\n", True),
        ("10:20:01 INFO: Epoch 28: Loss 0.96\n10:20:06 INFO: [EARLY STOP] No improvement, stopping training.\n", True),
        ("Epoch: 72 | loss 0.4\nEarly Stopping....@ 72 epoch for patience @ 10.0\nBest Loss: 0.5\n", True),
        ("early stopping patience: 10 epochs, 3/10\nEpoch: 72 | loss 0.4\n", False),
        (PASSED + "FAILED t.py::t[2] - assert 22 != 22\n========= 1 failed, 36 passed in 0.88s =========\n", True),
        (PASSED + "FAILED t.py::t[2] - assert 22 != 22\n", False),
        # A table with a rule below its rows; one whose rows are still coming.
        (TABLE + "=" * 30 + "\n", True),
        (TABLE, False),
        (SHARES, False),
        (SHARES + "100.0%\t9000\t-5.5\t7.1\n", True),
        ("INFO :  10.040 MiB / 11.444 MiB, 88%, 1.0 MiB/s\nINFO :  11.444 MiB / 11.444 MiB, 100%, 1.0 MiB/s\n", True),
        # It tells each thousandth, and the next one would be behind the end.
        ("".join(f"iteration {at}001 of 9800\n" for at in range(10)) + "\nMean (SD) of each: 3.5 0.2\n", True),
        ("".join(f"iteration {at}001 of 9800\n" for at in range(8)) + "\nMean (SD) of each: 3.5 0.2\n", False),
        ("epoch 1 loss 0.3\nAll done\n" + "".join(f"prediction of {c}\n" * 2 for c in "abcdefghijklmnopq"), None),
        ("Iters: 100/100 loss 0.1\n" + "".join(f"Sample: {at}, pixAcc: 0.6\n" for at in range(1, 99)), None),
        ("root context: initialization completed in 386 ms\n" + OTHER_LINES * 3, None),
        (
            "=== STEP 4/5: fit ===\nTraining finished.\n"
            + "".join(f"warmup: {at}%|# | {at}/100 [00:30<06:28,  2.22it/s, loss=1]\n" for at in (0, 7)),
            False,
        ),
    ],
)  # fmt: skip
def test_what_comes_behind_an_end(log: str, finished: object) -> None:
    assert read_progress(log.encode()).finished is finished


def test_source_code_in_a_traceback_is_no_progress() -> None:
    frames = '  File "t.py", line 2, in <module>\n    fit("nosuch.bin", epoch=20)\n    model = self.fit(x, step=7)\n'
    log = f"Traceback (most recent call last):\n{frames}ValueError: cannot open nosuch.bin\n"
    assert read_progress(log.encode()).current is None
    assert read_progress(b"epoch 3/9 loss 0.5\n" + log.encode()).current == 3


@pytest.mark.parametrize("name", ["steps", "num_train_steps", "max_steps"])
def test_a_dumped_configuration_declares_and_does_not_count(name: str) -> None:
    stamp = "I1123 07:29:00.123456 140 train.py:23]"
    dump = f'{stamp} config: {{"{name}": 60000, "lr": 0.01, "batch": 128, "loss": "mse"}}\n'
    rows = "".join(f"{stamp} [{at}] learning_rate=0.01, loss=0.{900 - at}\n" for at in (50, 100, 150, 200))
    progress = read_progress((dump + rows).encode())
    assert (progress.current, progress.exact_max, progress.loss) == (200, 60000, 0.7)
    assert read_progress(dump.encode()).current is None


def test_a_leading_count_may_be_written_with_separators() -> None:
    rows = "".join(f"[{at:,d}] ROCAUC: 95.07% - 4.15 KiB\n" for at in range(200, 1400, 200))
    assert read_progress(rows.encode()).current == 1200


def test_the_best_round_ends_a_run_that_stopped_early() -> None:
    rows = "".join(f"[{at}]\ttrain-rmse:0.8\tvalid-rmse:1.06\n" for at in range(0, 180, 10))
    log = f"args: Namespace(rounds=500, data=None)\n{rows}best iteration 128 best score 1.0598\n"
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max, progress.finished) == (170, 500, True)


def test_a_step_at_which_something_is_frozen_is_no_progress() -> None:
    config = "optimizer_params ... {'lr': 0.001, 'var_freeze_step': 1000, 'cuda_aware': False}\n"
    steps = "".join(f"[Step {at}/40] Loss: 4.{at} | Mem: 5.3\n" for at in range(1, 31))
    found = read_progress(f"{config}{steps}".encode())
    assert (found.current, found.exact_max) == (30, 40)


STEPS = "".join(f"[iter {at}] loss={9 - at / 100:.4f} norm=15.{at}\n" for at in range(0, 325, 25))
ASE = "".join(f"BFGS: {at:4d} 20:33:{at:02d}  {1 / (at + 1):14.6f} {2 / (at + 1):14.6f}\n" for at in range(36))
TICKS = "".join(f"INFO: tick {at} infected=0.{at:03d} ({at / 5:.1f}% done)\n" for at in range(20, 260, 20))
ROUNDS = "".join(f"{at}:\tlearn: 0.{90 - at}\ttotal: {at}ms\tremaining: 2.5s\n" for at in range(0, 60, 10))
TABLE = "| iterations | 5 |\n| n_updates | 40 |\n| total_timesteps | 5120 |\n"


@pytest.mark.parametrize(
    ("log", "current", "most"),
    [
        pytest.param("Regressor n_estimators=500 split 9/10\n" + STEPS, 300, 500, id="which split it is, once"),
        pytest.param(
            "relax: fmax=0.005 steps=200, image 3/7\n      Step     Time          Energy          fmax\n" + ASE,
            35,
            200,
            id="rows that begin with a name",
        ),
        pytest.param("SIR beta=1/4 ticks=500 replicate 2/10\n" + TICKS, 240, 500, id="a value is no share"),
        pytest.param("{'iterations': 1500, 'depth': 5}\n" + ROUNDS, 50, 1500, id="settings that were printed"),
        pytest.param(
            "Namespace(total_timesteps=200000, n_steps=1024)\n" + TABLE,
            5120,
            200000,
            id="its own maximum, not another's",
        ),
    ],
)
def test_what_the_head_declares_is_of_the_counter_that_goes_on(log: str, current: int, most: int) -> None:
    progress = read_progress(log.encode())
    assert (progress.current, progress.exact_max) == (current, most)


@pytest.mark.parametrize("came", ["pruned.", "finished with value: 0.2"])
def test_a_count_from_zero_ends_with_the_last_of_its_pieces(came: str) -> None:
    trials = "".join(f"[I 2026-01-02 03:04:{at + 10},585] Trial {at} {came}\n" for at in range(20))
    assert read_progress(f"n_trials=20\n{trials}".encode()).finished
    assert read_progress(f"n_trials=21\n{trials}".encode()).finished is False
