"""Loops as people write them: what their numbers count, of how many, and whether they have come to their end."""

from __future__ import annotations

import pytest

from onbox.logs.progress import ProgressReader
from tests.onbox.logs.loops import lines, read


def bar(name: str, most: int) -> str:
    """As tqdm draws it."""
    shown = ((at, f"{100 * at // most:3}%|##| {at}/{most} [00:02<00:00, 99it/s]") for at in (0, most // 2, most))
    return "".join(f"\r{name}: {told}" if name else f"\r{told}" for _, told in shown) + "\n"


# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "of how many in brackets, behind what was found": (
        "".join(f"contig_{at:05}  hits={at * 7 % 39}  ({at} of 260)\n" for at in range(1, 145)),
        144,
        260,
    ),
    "pages of one of several files": (
        "Opening a.pdf\n"
        + lines("  OCR page #/84 conf=98.0", *range(1, 85))
        + "Opening b.pdf\n"
        + lines("  OCR page #/212 conf=98.0", *range(1, 132)),
        131,
        None,
    ),
    "things of batches that are numbered": (
        "".join(f"batch {at}: {100 * at} of 8123 users done\n" for at in range(1, 16)),
        1500,
        8123,
    ),
    "images that are listed before the epochs begin": (
        "\r  0%|    | 0/24 [00:00<?, ?it/s]\r100%|####| 24/24 [00:00<00:00, 310.00it/s]\n"
        + "".join(
            f"\rEpoch {at}/4: {share:3}%|##  | {share // 4}/25 [00:01<00:02,  9.10img/s]"
            for at in (1, 2)
            for share in (0, 48, 100)[: 4 - at]
        ),
        2,
        4,
    ),
    "a bar that was resumed once, beside the epochs as fractions": (
        "".join(
            f"\r{at:3}%|##  | {at}/100 [00:{at:02}<00:09,  9.00it/s]\n{{'loss': '2.{at}', 'epoch': '{at / 20}'}}\n"
            for at in (5, 10, 15, 20, 25)
        )
        + "Traceback (most recent call last):\nRuntimeError: no room\n"
        + "".join(
            f"\r{at:3}%|##  | {at}/100 [00:{at - 20:02}<00:09,  9.00it/s]\n{{'loss': '2.{at}', 'epoch': '{at / 20}'}}\n"
            for at in (20, 25, 40, 55, 70, 85)
        ),
        85,
        100,
    ),
    "the only epoch, and the bar in it": (
        "seed: 3\nepochs: 1\nlr: 0.001\n"
        + "".join(
            f"\r1|{at}|Loss: 1.{at}: {at // 2:3}%|##  | {at}/200 [00:{at}<09:00,  9.00it/s]" for at in (10, 20, 30)
        ),
        30,
        200,
    ),
    "threads for each batch, and no batches": (
        lines("system: n_threads = # (n_threads_batch = #) / 12 | AVX = 1", 4)
        + "perplexity: calculating perplexity over 90 chunks, n_ctx=512\n[1]4.1021,[2]4.7710,[3]4.6231,[4]4.5508,",
        4,
        90,
    ),
    "a pass over the data, and its bar": (
        "Pass 2 of 5\n" + "".join(f"\r {at}% {2 * at} of 200 |##   | ETA: 0:00:09 loss: 0.4" for at in (5, 10, 20)),
        2,
        5,
    ),
    "an epoch right behind its short word": (
        "Namespace(epochs=24, lr=0.1)\n"
        + "".join(f"ep{at:02}  trn 1.{90 - at}  val 1.{95 - at}  (31s)\n" for at in range(6)),
        5,
        24,
    ),
    "the global step, in short": (
        "[setup] total_steps=900\n"
        + "".join(f"[train] gs={at} ep={at / 300:.2f} loss=1.{990 - at} lr=1e-05\n" for at in range(20, 300, 20)),
        280,
        900,
    ),
    "so many of all, and the mean of what they scored": (
        lines("INFO:rater:rated # of 300 (mean score 6.81)", 30, 60, 90, 120),
        120,
        300,
    ),
    "the index of a value, and the sweeps at it": (
        "".join(f"beta[{at}/8]=0.{at}5  sweep {by}/90  E=-1.2{by}\n" for at in (1, 2, 3, 4) for by in (30, 60, 90)),
        4,
        8,
    ),
    "sizes, and how many were done in brackets": (
        "".join(f"packed shard-{at * 7 % 40:04}: {700 + at} KiB -> {90 + at} KiB ({at}/40)\n" for at in range(1, 20)),
        19,
        40,
    ),
    "steps of a command that is shown": (
        "$ python pretrain.py --steps 4000 --lr 1e-3\n" + lines("Step # loss 0.5", *range(0, 1600, 100)),
        1500,
        4000,
    ),
    "a maximum behind its word, and which sample of many": (
        "opt: iter max: 900\n"
        + "".join(f"iter= {at:3} sample={at * 331 % 512 + 1}/512 loss=1.{999 - at}\n" for at in range(0, 400, 25)),
        375,
        900,
    ),
    "updates among the settings, and a letter for each": (
        "num_updates: 400 | seed: 7 | lr: 0.02\n"
        + "".join(f"U {at} | R 0.{at * 7 % 83} | L -0.{at * 3 % 41}\n" for at in range(20, 180, 20)),
        160,
        400,
    ),
    "frames, of which another line told the last": (
        "Actor 0 is there\nActor 1 is there\nlearner runs, target frames: 500000\n"
        + "".join(f"[learner] frames {at:8} | fps 911 | return -{at % 77}.5\n" for at in range(6000, 90000, 6000)),
        84000,
        500000,
    ),
    "a solver that has stopped by itself, and how many it took": (
        "".join(
            f"\r {at}%|{'█' * at:<9}| {at * 20}/{most} [00:0{at}<00:09, 57it/s, logz: -7.{at}]"
            for at, most in ((1, 1321), (2, 1440), (3, 1194), (4, 81))
        )
        + "\nSummary\n=======\nniter: 80\nlogz: -7.4 +/- 0.2\n",
        80,
        None,
    ),
    "solves that took so many iterations each": (
        "".join(f"relaxation {at}: objective 1.2{at}e+03, {7 + at} iterations, 0.02 seconds\n" for at in range(3)),
        None,
        None,
    ),
    "where it was resumed, which is no step of it": (
        "Resuming from /data/last.ckpt (epoch 12, global_step 9120)\n"
        + "".join(f"[{at:03}/040] 61.{at}s  train: loss=0.{90 - at} val: loss=0.{95 - at}\n" for at in range(13, 22)),
        21,
        40,
    ),
    "bars of one tool, each full at once but the last": (
        "".join(
            f"\r[00:00:00] {name:<26}{'█' * share:<10}{'░' * (10 - share)} {most * share // 10:<8} / {most:>8}"
            for name, most in (("Pre-processing texts", 900), ("Count pairs", 7100), ("Compute merges", 640))
            for share in (0, 10, 10)
        ),
        640,
        640,
    ),
    "batches of which only the first line tells how many": (
        "Drawing 24 pictures in 6 batches\n" + "".join(f"batch {at}\n{bar('', 80)}" for at in (1, 2, 3)),
        3,
        6,
    ),
    "tasks that each have a bar of their own": (
        "".join(
            f"[{at}/6] task: {name}\n{bar(name, 30 * at)}    acc = 0.5{at}\n"
            for at, name in enumerate(("siqa", "copa", "race"), 1)
        ),
        3,
        6,
    ),
    "stages with a name before their number, and a bar below each": (
        "".join(
            f"[clean] {at}/4 {name}ing\n{bar(f'{name}es', 40 * at)}"
            for at, name in enumerate(("normaliz", "filter", "bucket"), 1)
        ),
        3,
        4,
    ),
    "how far the whole is, beside a stage of it": (
        "".join(
            f"  stage {stage} step {at}/{most} | overall {before + at}/900 | loss 0.{at}\n"
            for stage, most, before in ((1, 200, 0), (2, 300, 200), (3, 400, 500))
            for at in range(50, min(most, 300) + 1, 50)
        ),
        800,
        900,
    ),
    "how many there are, before how many are done": (
        "".join(f'{{"level":"INFO","task":"x:81","total":52000,"created":{at},"noops":0}}\n' for at in (0, 900, 1800)),
        1800,
        52000,
    ),
    "a last look that came behind the end": (
        "trainer:\n  max_steps: 40000\n  batch_size: 64\n"
        + lines("Walker. Step: #. Mean Reward: 3.5. Training.", *range(3400, 40801, 3400)),
        40800,
        40000,
    ),
    "a share that is written as a number": (
        "".join(f'{{"msg":"training","pct_done":{at},"train_loss":1.{99 - at}}}\n' for at in range(0, 40, 5)),
        None,
        None,
    ),
    "an epoch and how many, with a bar between": (lines("ep  #|120  tr 5.4e+00  va 5.7e+00  0.1s", 1, 2, 3), 3, 120),
    "records that are applied": (
        "".join(f'{{"level":"info","applied":{at},"total":1200,"pct":1.7}}\n' for at in (20, 40, 60)),
        60,
        1200,
    ),
    "two numbers in each of several fields": (
        "vda: ios=10255/4362, merge=32/238, ticks=3011/7199, util=31%\n",
        None,
        None,
    ),
    "files and bytes of how many": (
        "".join(f"[0:02] {at} files 61.700 MiB, total 202 files 62.100 MiB, 0 errors\n" for at in (3, 90, 201)),
        201,
        202,
    ),
    "a bar that was cut before its number": (
        "".join(
            f"\rtokenize (num_proc=2):  {at}%|###   | {at}00/10000 [00:0{at}<00:03, 99 examples/s]" for at in range(9)
        )
        + "\rtokenize (num_proc=2)",
        800,
        10000,
    ),
    "a bar that was cut while it was drawn": (
        "".join(f"\rtrial {at}:  {at}%|{'#' * at}   | {at}/70 [00:0{at}<00:07,  9.69trial/s]" for at in range(1, 9))
        + "\rtrial 9:  9%|########",
        8,
        70,
    ),
    "a line that was cut behind its number": (
        lines("Эпоха # из 40 - ошибка: 0.21", *range(1, 29)) + "Эпоха 29 из",
        29,
        40,
    ),
    "a row of a table that was cut": (
        "      Iter       Train Loss   Remaining Time\n"
        + lines("         #           1.8853           21.46s", 7, 8, 9)
        + "        10           1.7",
        10,
        None,
    ),
    "so many, announced with their word and another one": (
        "replica exchange: 5000 exchanges between 8 replicas\n"
        + "".join(f"exchange {at}: acceptance 0.{at * 7 % 13}\n" for at in range(10, 90, 10)),
        80,
        5000,
    ),
    "things that are added": (
        "indexing 250000 vectors (dim 384) into HNSW\n"
        + "".join(f"added {at} vectors in {at / 9000:.1f}s\n" for at in range(5000, 45000, 5000)),
        40000,
        250000,
    ),
    "files one by one, of which the head tells how many": (
        "loader: 18 files\n" + "".join(f"loader: file {at} f{at}.parquet (3e5 rows)\n" for at in range(1, 11)),
        10,
        18,
    ),
    "a percent that was cut off, of one whole only": (
        "".join(f"tile {at:3} ({at * 100 // 256:3}%) done\n" for at in range(1, 120)),
        119,
        256,
    ),
    "the files behind the bytes": (
        "".join(f"{at}.1 MiB / 17.166 MiB, {at}%, 2.9 MiB/s, ETA 3s (xfr#{at}/300)\n" for at in (3, 9, 12)),
        12,
        300,
    ),
    "a bar whose end is estimated anew": (
        "".join(
            f"\r {at}%|{'█' * at:<9}| {at}/{most} [00:0{at}<00:09, 57it/s, logz: -7.{at}]\x1b[K"
            for at, most in ((1, 1321), (2, 1440), (3, 37940), (4, 1501))
        ),
        4,
        None,
    ),
    "requests of a server": (
        "".join(f"INFO server: POST /v1/predict 200 {at}.6ms batch={at} queue={at}/64\n" for at in range(2, 14)),
        None,
        None,
    ),
    "at most so many": ("Lloyd iterations (max 300, tol 1e-4)\n" + lines("iter # inertia 4.1", *range(1, 15)), 14, 300),
    "rows so far, behind the rows of a chunk": (
        "".join(f"chunk {at}: read 500 rows, dropped 3, {500 * at} rows processed so far\n" for at in (1, 2, 3)),
        1500,
        None,
    ),
    "layers that are quantized, each above a table": (
        "".join(f"Quantizing layer {at}/32..\n| name | error |\n| q_proj | 546.1 |\n" for at in (1, 2, 3)),
        3,
        32,
    ),
    "a measure without a colon": ("".join(f"{at}/50 acc 0.{at}\n" for at in (11, 12, 13)), 13, 50),
    "layers with their errors": ("".join(f"layer {at}/32 q_proj  error 90.{at}\n" for at in (1, 1, 2, 2, 3)), 3, 32),
    "a bar of making, and what it made": (bar("generating", 1200) + "wrote 1200 samples to s.jsonl\n", 1200, 1200),
    "a job that only prepares": (
        "".join(bar(name, 900) for name in ("Filtering", "Tokenizing", "Saving the dataset")) + "tokens: 1,444\n",
        900,
        900,
    ),
    "a server that starts": (
        bar("Loading checkpoint shards", 9)
        + bar("Capturing CUDA graphs", 35)
        + "INFO:     Started server process [91]\nINFO:     Uvicorn running on http://0.0.0.0:8000\n",
        None,
        None,
    ),
    "the requests of an evaluation, not their contexts": (
        bar("", 300) + bar("Running requests", 900) + "\n|task|acc|\n|----|---|\n|qa|0.3|\n",
        900,
        900,
    ),
    "a bar of Ray's": (
        "(Task pid=31) Total training steps: 290\n"
        + "".join(
            f"(Task pid=31) Training Progress: {at}%|#| {at}/290 [46:4{at}<2:18:52, 38.4s/it]\n" for at in (1, 2)
        ),
        2,
        290,
    ),
    "of, in other languages": (lines("Эпоха # из 15: потери = 2.25", 1, 2, 3), 3, 15),
    "steps of so many, in Spanish": (lines("paso # de 400, error 0.25", 10, 20, 30), 30, 400),
    "elapsed, remaining, and the counter with its share": (
        lines("0m 7s (- 1m 49s) (#000 6%) 3.7600", 5, 10, 15),
        15000,
        None,
    ),
    "a share behind the counter": (
        "".join(f"{at}/1319  running accuracy: {at // 2}/{at} = 50.00%  (1.3 s/problem)\n" for at in (20, 40, 60)),
        60,
        1319,
    ),
    "what was measured in front of a bar": (
        "".join(
            f"\rloss:   2.{at} test_accuracy: 50.{at}%:  {at}%|#  | {at}/70 [00:00<00:01, 48.88it/s]" for at in (10, 20)
        ),
        20,
        70,
    ),
    "the total in the field behind": (lines("[worker] step=# total=2000 loss=1.95", 25, 50, 75), 75, 2000),
    "updates that are computed in the first line": (
        "num_env_steps=2000000 num_steps=128 => num_updates=976\n"
        + "".join(f" Updates {at}, num timesteps {at}2048, FPS 15{at}\n" for at in (0, 5, 10, 15, 20)),
        20,
        976,
    ),
    "steps, where timesteps are told": (
        "total_timesteps: 100000   n_envs: 4\n" + lines("| steps_done       | #00          |", 16, 32, 48),
        4800,
        100000,
    ),
    "a heading with its maximum behind a rule": (
        "".join(f"------ITER {at}------ (of 10)\n" + lines("  game #/25: 70 moves", 1, 13, 25) for at in (1, 2, 3))
        + "------ITER 4------ (of 10)\n  game 1/25: 70 moves\n",
        4,
        10,
    ),
    "which one, told below its epochs": (
        "".join(lines(" ft ep  #/50  train=0.02", 10, 30, 50))
        + "".join(
            lines("      Epoch  #/80  loss=0.002", 20, 40, 60, 80) + f"  [{at}/23] subject  err=0.004\n"
            for at in range(1, 12)
        ),
        11,
        23,
    ),
    "a column with an index": (
        "   Step          Temp          c_com[3]     \n" + lines("         #   253.74085      56901.3", 10, 20, 30),
        30,
        None,
    ),
    "sessions in one file, one after the other": (
        "".join(
            f"[2024-08-09 17:3{at}:21] New training session\n"
            + lines("[2024-08-09 17:40:00] Epoch #/50, Loss: 0.4", 1, 2, 50)
            + "[2024-08-09 18:00:00] Training complete.\n"
            for at in range(9)
        ),
        50,
        50,
    ),
    "a number before a display with another one": (
        lines("[   #  Epoch:[ 1/25] [10487/20018] time: 117641.7, d_loss: 3.2", 30506, 30507, 30508),
        1,
        25,
    ),
    "a stroke between the counter and its maximum": (
        lines("[INFO] trainer - Start epoch [00#|040], lr = 0.009", 1, 2, 3),
        3,
        40,
    ),
    "fields of any name": (lines("  s=#  of=50000  nll=4.18  eta=1d 23h", 250, 500, 750), 750, 50000),
    "words of Chinese": (lines("03-15 20:03:33 轮次[#/20] 步骤[200/1500] 损失=4.1660", 1, 2, 3), 3, 20),
    "behind a validation, how many were tried": (
        lines("sweep: 2026/11/28 07:20:25.6 [w3] cfg #9 lr=1e-04 -> val_err 0.2274 (#/120)", 1, 2, 3, 4),
        4,
        120,
    ),
    "done, and to go": (lines("Fra:# Mem:212.40M", 1, 2) + "-- 60 frames finished, 36 to go --\n", 60, 96),
    "a thing that nobody else counts, with its loss": (
        lines("pipeline   #  logloss 0.6120  best 0.6020  time left 3443 s", 1, 2, 3, 4),
        4,
        None,
    ),
    "what is worked on around other loops": (
        lines("Executing cell # of 28", 1, 2, 3)
        + lines("epoch #: loss 0.3", 1, 2, 3)
        + lines("Executing cell # of 28", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
        13,
        28,
    ),
    "stages of one program, each by its name": (
        "===== teacher: 12 epochs =====\n"
        + lines("teacher | epoch  #/12 | train 1.2 | dev 1.3", 1, 2, 12)
        + "teacher: training complete, best dev 0.5\n\n===== student: 40 epochs =====\n"
        + lines("student | epoch  #/40 | train 1.2 | dev 1.3", 1, 2, 3),
        3,
        40,
    ),
    "a framed table, whose first cell tells of how many": (
        "┌───────┬──────────┐\n│ epoch │ tr. loss │\n├───────┼──────────┤\n" + lines("│  #/30 │  0.65550 │", 1, 2, 3),
        3,
        30,
    ),
    "which task, and how far it is": (
        lines("(1/6) boolq: #/3270 done, acc so far 0.59", 500, 3270)
        + lines("(2/6) piqa: #/1838 done, acc so far 0.61", 500, 1838),
        2,
        6,
    ),
    "steps in angle brackets": (
        "INFO:lda:n_iter: 900\n" + lines("INFO:lda:<#> log likelihood: -983967", *range(0, 90, 10)),
        80,
        900,
    ),
    "a letter before the number": (lines("Q#/420 running accuracy: 62.86%", 35, 70, 105), 105, 420),
    "which model, and the batches of each": (
        "".join(lines(f"model {at}/5: batch #/96", 12, 24, 48, 96) for at in (1, 2, 3)) + "model 4/5: batch 12/96\n",
        4,
        5,
    ),
    "starts of a solver that converges by itself": (
        "".join(f"init {at}/5\n" + lines("  iteration #, inertia 190.1, shift 1.9", 1, 2, 3, 4) for at in (1, 2, 3, 4)),
        4,
        5,
    ),
    "two words between the counter and its share": (
        lines("batch #: #0/1310 users migrated (3.8%)", 5, 5, 5),
        50,
        1310,
    ),
    "a maximum in one word": ("GA  pop=120  ngen=250\n" + lines("Gen   #: best=16.3", 0, 5, 10, 15), 15, 250),
    "a maximum as Fortran names it": (
        " NITMAX  =     5000\n" + lines(" ITER=  #   RES=  1.6E-03", 50, 100, 150),
        150,
        5000,
    ),
    "a maximum in brackets": (
        "integrating to t=50.0 (900 steps)\n" + lines("step=  #  E=-0.24", 100, 200, 300),
        300,
        900,
    ),
    "a maximum at the end of a line": (
        "epochs=10 -> 2500 optimizer updates\n" + lines("{'update': #, 'epoch': 0.04, 'loss': 1.7}", 10, 20, 30),
        30,
        2500,
    ),
    "episodes that are called ep": ("{'max_episodes': 1500}\n" + lines("Ep   # | R    9.0", 10, 20, 30), 30, 1500),
    "which of a record, and how many": (lines('{"batch":#,"batches":49,"rows":1000}', 1, 2, 3, 4), 4, 49),
    "a heading that counts around the inner loop": (
        "".join(f"--- T[{at}/6] = 1.{at} ---\n" + lines("    sweep  #/4000  |m| = 0.9", 2000, 4000) for at in (1, 2, 3))
        + "--- T[4/6] = 1.4 ---\n"
        + lines("    sweep  #/4000  |m| = 0.9", 2000),
        4,
        6,
    ),
    "any things that are processed": (lines("# lines processed, 8 malformed", 1000, 2000, 3000), 3000, None),
    "things with a number": (lines("Img No. #\nTraining Accuracy: 0.46", 0, 100, 200, 300, 400), 400, None),
    "an index of things": (lines("12:38:41 - INFO - Processing sequence index: #", *range(30)), 29, None),
    "volumes that are worked through": (lines("Processing volume # of 233 (sub-113)", 12, 24, 36), 36, 233),
    "an epoch of a fold": (lines("  [Fold 3 Ep 00#] tr_loss=0.1774 | val_auc=0.8", 1, 2, 3, 4), 4, None),
    "an epoch in short brackets": (
        lines("[E2] step #0 loss 3.1", 7, 8, 9) + lines("[E3] step #0 loss 2.9", 1, 2, 3),
        3,
        None,
    ),
    "an epoch below a first word of it": (
        "Starting Epoch: 1\n" + lines("TRAINING - Epoch: [0][#/781] Loss 1.4", 10, 20, 30, 40),
        0,
        None,
    ),
    "generations in Portuguese": (lines("*** GERACAO NUMERO (#) ***", 0, 1, 2, 3, 4), 4, None),
    "ionic steps around electronic ones": (
        "".join(
            "DAV:   1    -0.289E+02   -0.6E-06   124   0.109E-01\nDAV:   2    -0.289E+02   -0.2E-04   124   0.982E-02\n"
            f"   {at} F= -.28905115E+02 E0= -.28905374E+02  d E =0.1E-05\n"
            for at in range(1, 6)
        ),
        5,
        None,
    ),
    "how many there are by now": (lines("TPE using #/# trials with best loss 31.07", *range(1, 9)), 8, None),
    "objects that were pushed": (
        lines("Counting objects: #% (#/100)", 50, 100)
        + lines("Writing objects: #% (#/100)", 50, 99, 100)
        + "Total 100 (delta 0), reused 0\n",
        100,
        100,
    ),
    "the number before the one that is being written": (
        lines("TIMESTEP # / STATE explore / EPSILON 0.0001", 7, 8, 9) + "TIMESTEP 10 / STATE explore / EPSILON 0.00",
        10,
        None,
    ),
    "a restart that is counted": (
        lines("indexed #/5000 documents (5.0%)", 250, 500)
        + "worker exited code=134, restart 1/5 in 1s\n"
        + lines("indexed #/5000 documents (15.0%)", 750, 1000)
        + "worker exited code=134, restart 2/5 in 1s\n"
        + lines("indexed #/5000 documents (25.0%)", 1250, 1500),
        1500,
        5000,
    ),
    "a schedule in a setting": (
        "regime: [{'epoch': 0, 'lr': 0.1}, {'epoch': 81, 'lr': 0.01}, {'epoch': 122, 'lr': 0.001}]\nready\n",
        None,
        None,
    ),
    "what tests are called": (
        "✔ parses a header (2.7ms)\n✔ roundtrip 12/34 (0.3ms)\n✔ epoch 3/10 label (0.2ms)\n",
        None,
        None,
    ),
    "the size of a batch": (
        "listening\nPOST /predict 200 41.8ms batch=8\nPOST /predict 200 39.0ms batch=8\n",
        None,
        None,
    ),
    "frames that the settings number": (
        "resolution 120x90, max_iter 80, frames 96, fps 24\n"
        + lines("Frame 00# rendered in 0.04s  depth 13.2", *range(10, 30)),
        29,
        96,
    ),
    "frames that an earlier run's settings number": (
        "settings: frames 96, fps 24\n"
        + lines("Frame 00# rendered in 0.04s  depth 13.2", *range(10, 20))
        + "Traceback (most recent call last):\nOSError: no room\n=== restart 1 ===\n"
        + lines("Frame 00# rendered in 0.04s  depth 13.2", *range(10, 30)),
        29,
        None,
    ),
    "sweeps that a heading numbers": (
        "cities    = 60\nsweeps    = 400\nseed      = 5\n" + lines("sweep #: T=9.85, tour=1346.65", 0, 10, 20, 30),
        30,
        400,
    ),
    "candidates that are told of at their beginning and end": (
        "sweep over 24 configurations, 3 folds each\n"
        + "".join(
            f"config #{at}: C={at} kernel=rbf\nconfig #{at} finished: acc 0.{(at * at * 37) % 89 + 10}\n"
            for at in range(9)
        ),
        8,
        24,
    ),
    "lines that are read, with their number first": (
        "reading access.log.gz\n"
        + "".join(f"{at * 10000} lines, {at * 9000 + at * at % 7} distinct hosts\n" for at in range(1, 12)),
        110000,
        None,
    ),
    "lines of a text, in columns": (
        "input lines: 20000\n"
        + "".join(f"line {at * 500:6}   contexts {at * 700 - at * at:7}   mem    {at}.6 MB\n" for at in range(1, 12)),
        5500,
        20000,
    ),
    "episodes, and how many steps each took": (
        "".join(
            f"episode {20 * at}  steps {took}  return 3.{at}\n"
            for at, took in enumerate((134, 124, 150, 96, 92, 68, 39, 49, 26, 36, 25, 30), 1)
        ),
        240,
        None,
    ),
    "a bar that was drawn twice on a line whose returns were lost": (
        (
            "Requesting API:  40%|####      | 5312/13212 [07:12<10:40, 12.33it/s]"
            "Requesting API: 100%|##########| 13212/13212 [17:58<00:00, 12.25it/s]\n"
        ),
        13212,
        13212,
    ),
    "a count that goes on behind a retry that names one of its things": (
        lines("level=info embedded #/400 batches 76.9 batch/s", 25, 50)
        + "level=warn put batch=60 status=503 retry=1\n"
        + lines("level=info embedded #/400 batches 76.9 batch/s", *range(75, 401, 25)),
        400,
        400,
    ),
    "a total in a field beside the step": (
        lines("INFO - global step #, total 200000, loss 1.8", 500, 1000),
        1000,
        200000,
    ),
    "a total that grows along": (
        "".join(f"batch {at}: +804 rows (total {804 * at})\n" for at in range(1, 30)),
        29,
        None,
    ),
    "steps of a service that was begun anew": (
        "[torchrun] starting, nnodes=2 max_restarts=3\n"
        + lines("step # | loss 3.1 | target 20000", 50, 100, 150)
        + "[torchrun] worker group failed, restart 1/3\n"
        + lines("step # | loss 3.1 | target 20000", 100, 150, 200),
        200,
        20000,
    ),
    "what is generated is the work": (
        bar("Computing probabilities", 300) + bar("Generating walks (CPU: 1)", 60),
        60,
        60,
    ),
    "a quota that a shell greets with": (
        "Dear user,\nyour quota on /scratch is 412G/500G (82%), 1.2M/2M files.\nNode n12: load 14.2/64\nWelcome\n",
        None,
        None,
    ),
    "what is completed and what remains, beside another number": (
        "".join(f"job finished id={1000 + 7 * at} completed={at} remaining={40 - at}\n" for at in range(1, 24)),
        23,
        40,
    ),
    "files by their names, each in turn": (
        "".join(f"======== img/{name} [{at}/8]\n" for at, name in enumerate(("a.png", "b.png", "c-logo.png"), 5)),
        7,
        8,
    ),
    "commits by their hashes": (
        "".join(f"Rewrite {at}f8e3d489aecf4c8 ({at}/40) (0 seconds passed)\r" for at in range(20, 25)),
        24,
        40,
    ),
    "numbers that stand before their words": (
        "DPO | beta 0.1 | 2 epochs | 1250 steps\n"
        + "".join(f"{{'loss': 0.6, 'epoch': {at / 625:.2f}, 'step': {at}}}\n" for at in range(25, 600, 25)),
        0.92,
        2,
    ),
    "a shard that is done, and how much was in it": (
        lines("shard # of 12 done: 48037 docs in 3.2 s", 9, 10, 11),
        11,
        12,
    ),
    "a maximum with a dot": ("max. epochs: 500, patience: 8\n" + lines("Epoch   #: error = 2.2", 1, 2, 3, 4), 4, 500),
    "a renderer": (
        "".join(f"Rendered {at * 1024} of 307200 pixels ({at // 3}%)\r" for at in range(290, 301))
        + "\n"
        + "".join(f"  {name} Time:  0 hours 0 minutes 1 seconds\n" for name in ("Parse", "Photon", "Trace") * 5)
        + "renderer finished\n",
        307200,
        307200,
    ),
    "fractions in a table with a frame": (
        "".join(f"│ {at} │ exp-{at:03} │ {('done', 'failed')[at % 2]} │ {3 * at}/50 │\n" for at in range(1, 15)),
        None,
        None,
    ),
    "the sizes of answers": (
        "".join(
            f"2026-11-28T04:59:2{at}.788Z GET /jobs?page=4 200 {37 * at} - 1.{at * at % 7}67 ms\n"
            for at in range(1, 10)
        ),
        None,
        None,
    ),
    "dates without a time": (
        "".join(
            f"{2012 + at}-0{at % 9 + 1}-15  NAV  {at * at * 1000 + 9}  gross 0.{at * at % 10}\n" for at in range(9)
        ),
        None,
        None,
    ),
    "epochs above a display of bytes drawn back": (
        "".join(
            f"Epoch: {epoch}\n"
            + "".join(
                f" [==>..]  Step: 45ms | Tot: 1s | Loss: 0.9 | Acc: 55.0% ({70 * at}/{128 * at})     "
                + "\b" * 9
                + f" {at}/391 \r"
                for at in range(1, 70)
            )
            + "\nSaving..\n\n"
            for epoch in range(4)
        )
        + "Epoch: 4\n [>...]  Step: 45ms | Tot: 0s | Loss: 0.5 | Acc: 75.0% (96/128)     \b\b\b 1/391 \r",
        4,
        None,
    ),
    "rounds in Chinese, and batches": (
        "".join(f"第{at}/20轮 批次 100/782 损失: 0.3\n第{at}轮结束\n" for at in (1, 2, 3)) + "第4/20轮 批次 9/782\n",
        4,
        20,
    ),
    "a source line before the step, and a setting of an object": (
        "INFO fit_train.py:354 cfg.steps=100000 (100K)\n" + lines("INFO fit_train.py:438 step:# loss:0.08", 200, 400),
        400,
        100000,
    ),
    "a clock's epoch below the batches": (
        "".join(f"[batch={at}/4800]:\n\t Train time/epoch: 0\n\t Train time/sample: {at}00\n" for at in (10, 20, 30)),
        30,
        4800,
    ),
    "evaluations, and no training": (
        "".join(f"Evaluating checkpoint-{at}00 ({at} of 8)\n  qa: 0.4{at}\n" for at in range(1, 6)),
        5,
        8,
    ),
    "files in brackets behind a time, and the documents of each": (
        "".join(
            f"2026-05-02 20:0{at}:57 INFO [{at}/200] part-{at}.zst kept 2588{at} of 66603 docs (41.2%) in 34.8s\n"
            for at in range(1, 9)
        ),
        8,
        200,
    ),
    "what tells how much there is, beside what does not": (
        "".join(
            f"main t_env: {at}0000 / 2050000\nStats | t_env: {at}0031 | Episode: {7 * at}\n" for at in range(1, 15)
        ),
        140000,
        2050000,
    ),
    "figures one behind the other": (
        "calculating over 655 chunks\n" + ",".join(f"[{at}]5.{at}1" for at in range(1, 229)) + ",",
        228,
        655,
    ),
    "a maximum that grows with every line": (lines("Batch 1/#00 loss 45.6 lr 0.002 rank 0", 10, 11, 12, 13), 1, None),
    "of how many, at the end of the line": (
        lines("Epoch # done in 131.1s. loss=2.13. ETA: 0h 45m (#/30)", *range(1, 10)),
        9,
        30,
    ),
    "checkpoints behind a date without a year": (
        '{"max_steps": 120000, "save_every": 5000}\n'
        + lines("11/28 22:42:23 Saving checkpoint at # steps -> ckpt.pt", *range(5000, 80000, 5000)),
        75000,
        120000,
    ),
    "a column that is called ep": (
        "max epochs  : 30\n\n ep |   lr     | train loss | val acc |  time\n----+------+------+-----+----\n"
        + "".join(f" {n:2d} | 3.00e-03 |     0.6909 |  56.00% |  0.1s\n" for n in range(1, 13)),
        12,
        30,
    ),
    "epochs that were trained, of one that is drawn over": (
        "".join(f"\r Training neural network. Epochs trained: {n}" for n in range(1, 8)),
        7,
        None,
    ),
    "things behind the name of a module": (
        lines("trackpy.linking.link_iter:  Frame #: 40 trajectories present.", *range(12, 38)),
        37,
        None,
    ),
    "elapsed time in brackets, a counter and its share": (
        "".join(f"(0m {n}s) ({20 * n} {7 * n}%) 0.{90 - n}  'hat is the q'\n" for n in range(1, 12)),
        220,
        None,
    ),
    "a field called progress beside other fractions": (
        "".join(
            f"Recovered........: 3/12 (25.00%) Digests (total)\nProgress.........: {n * 9000}/90000 ({10 * n}.00%)\n"
            f"Rejected.........: 0/{n * 9000} (0.00%)\nRestore.Point....: {n * 9000}/90000 ({10 * n}.00%)\n\n"
            for n in range(1, 5)
        ),
        36000,
        90000,
    ),
    "stages of a script, with what it tells of one": (
        "[1/7] load ...\n[2/7] dedup ...\n[3/7] sign ...\n[4/7] hash ...\n[5/7] bands ...\n"
        + lines("      band #/25: 11,069 candidate pairs", *range(1, 12)),
        5,
        7,
    ),
    "tasks that are told behind their examples": (
        "".join(
            lines(f"  {task}: #/{most} examples, running acc 0.61", *range(500, most, 500))
            + f"[{at}/3] {task}     acc 0.44 ({most} examples)\n"
            for at, (task, most) in enumerate((("boolq", 3270), ("piqa", 1838), ("arc", 2376)), 1)
        ),
        3,
        3,
    ),
    "shards in brackets before what is in them": (
        "".join(f"[shard {n:03d}/128] 409,72{n % 7} docs -> 205,{n % 9}59,636 tokens\n" for n in range(1, 40)),
        39,
        128,
    ),
    "steps of one letter beside a loss": (
        "target_tokens=2500000000 total_steps=9537\n"
        + lines("s:# tok:0.003B loss:10.88 lr:2.00e-05", *range(10, 900, 10)),
        890,
        9537,
    ),
    "a framed table whose first cells tell of how many": (
        "╭──────┬────────────┬─────────╮\n│ ep   │ train loss │ val F1  │\n├──────┼────────────┼─────────┤\n"
        + "".join(f"│ {n:2d}/40│     0.6828 │  0.7358 │\n" for n in range(1, 18)),
        17,
        40,
    ),
    "a field of a field": (
        lines(" istep =     #  of nstep =    5000   enstrophy =  5.914466E-01", *range(250, 3500, 250)),
        3250,
        5000,
    ),
    "a share of what is done, and one of what is right": (
        "".join(f"  {n}/1319 done, acc so far {n // 2}/{n} = 0.5\n" for n in range(20, 720, 20)),
        700,
        1319,
    ),
    "rounds in Chinese, of all": (
        "".join(f"第{n}轮/共20轮  批次 {b}/312  损失: 0.38\n" for n in range(1, 13) for b in (100, 200, 300)),
        12,
        20,
    ),
    "a heading of one letter before a sweep": (
        "".join(f"T {n}/16: sweep {k}/400\n" for n in range(1, 12) for k in (100, 200, 300, 400)),
        11,
        16,
    ),
    "requests to a server": (
        "".join(
            f'127.0.0.1:4391{n} - "POST /v1/embed HTTP/1.1" 200  batch={n}/32 latency=23.0ms\n' for n in range(2, 9)
        ),
        None,
        None,
    ),
    "a setting in a list of names and values": (
        "bpr-mf  users 6,040  items 3,706\ndim 32  reg 0.02  iterations 25  threads 8\n"
        + lines("iteration #: loss 0.4107  2.1 s", *range(7, 13)),
        12,
        25,
    ),
    "a word for how many, without a sign behind it": (
        "case cavity   cells 4096   nsteps 900   out every 50\n"
        + lines("  step  #   t 0.05 s   res 1.1e-04", 50, 100, 150),
        150,
        900,
    ),
    "warm-up in a list of settings": (
        "warmup epochs 5, batch size 64, seed 3\n" + lines("epoch # loss 0.41", *range(1, 9)),
        8,
        None,
    ),
    "a setting below others": (
        "root - cfg.data.seed : 3\nroot - cfg.training.epochs : 12\n"
        + "".join(f"Epoch {at}, Step: {at * 300}, Loss: 1.61\n" for at in (4, 5, 6)),
        6,
        12,
    ),
    "an option of a command": (
        "$ ./ft supervised -input t.txt -epoch 30 -dim 100\n" + lines("Progress:  #.7% lr: 0.4 avg.loss: 0.4", 18, 31),
        None,
        None,
    ),
    "so many folds": ("5-fold cross-validation of ridge\n" + lines("fold #: r2 0.781", 0, 1, 2), 2, 5),
    "fits that are called tasks": (
        (
            "Fitting 4 folds for each of 25 candidates, totalling 100 fits\n"
            "[Parallel(n_jobs=8)]: Done  18 tasks      | elapsed:   21.2s\n"
            "[Parallel(n_jobs=8)]: Done  64 tasks      | elapsed:  1.6min\n"
        ),
        64,
        100,
    ),
    "more is to be done than there was": (
        "solver: 300 sweeps, 64 spins\n"
        + lines("sweep #  E -52.2", 100, 200, 300)
        + "solver: 500 sweeps, 64 spins\nsweep 350  E -66.8\n",
        350,
        500,
    ),
    "how many were planned with what": (
        "running study 'mlp' with 60 trials, sampler TPE\n"
        + lines("Trial # finished with value: 0.84 and parameters: {}.", 7, 8, 9),
        9,
        60,
    ),
    "how many at most": ("at most 80 epochs, target 0.9\n" + lines("epoch # acc=0.71 time=3.1", 4, 5, 6), 6, 80),
    "how many in a call": (
        ">>> learn.fit_one_cycle(9, 1e-3)\nepoch     train_loss  valid_loss  time    \n"
        + lines("#         1.278615    1.186786    01:12   ", 0, 1, 2, 3),
        3,
        9,
    ),
    "an end that was told before a smaller number": (
        "SOLVER: MAX_ITER: 900 STEPS: (400, 700)\n"
        + lines("iter: #  total_loss: 0.51  lr: 0.002", 880, 900)
        + "Overall training speed: 898 iterations in 0:26:40\nInference done 25/25. 0.07 s/iter.\n",
        900,
        900,
    ),
    "epochs behind a dash": (
        "training with epochs=7\nEPOCH 0 - PROGRESS: at 1.02% examples, 3110 words/s\n"
        + lines("EPOCH - # : training on 4120 raw words took 96.7s", 1, 2, 3),
        3,
        7,
    ),
    "an epoch by its letter": (lines("e#  correct 4504/5120  loss 0.3191", 38, 39, 40), 40, None),
    "an epoch in the name of a bar": (
        (
            "epoch 0 training [time: 21.48s, train loss: 34.2]\n"
            "Train     1:  47%|####    | 225/479 [00:10<00:11, 22.4it/s]\n"
        ),
        1,
        None,
    ),
    "an epoch that goes on without the step of a remark": (
        (
            "Epoch 3: 100%|####| 941/941 [05:10<00:00,  3.03it/s]\n"
            "Epoch 3, global step 3764: 'val_loss' reached 0.30112\n"
            "Epoch 4:  74%|###  | 700/941 [03:51<01:19,  3.03it/s]\n"
        ),
        4,
        None,
    ),
    "cycles of epochs": (
        "".join(f"epoch {at}/20  cycle {1 + at // 6}/4  lr 0.02  err 17.0\n" for at in range(3, 16)),
        15,
        20,
    ),
    "the same, told as a bar's name": (
        (
            "4/9 * Epoch (train): accuracy: 0.37 | loss: 1.67\n* Epoch (4/9)\n"
            "5/9 * Epoch (train): accuracy: 0.44 | loss: 1.40\n"
            "* Epoch (5/9)\n6/9 * Epoch (train):  44%|####    | 172/391 [00:11<00:14, 15.10it/s]\n"
        ),
        6,
        9,
    ),
    "an epoch and its batches in one pair of brackets": (
        "number of epochs: 12\n" + lines("[train: 7, # / 1000] FPS: 215.2 (249.5)  ,  Loss/total: 0.40", 200, 400),
        7,
        12,
    ),
    "runs by their number, and their epochs": (
        "Namespace(device=0, epochs=300, runs=8)\n"
        + lines("Run: 01, Epoch: #, Loss: 0.90, Valid: 72.71%", 100, 200, 300)
        + lines("Run: 02, Epoch: #, Loss: 1.55, Valid: 57.40%", 100, 200),
        2,
        8,
    ),
    "a heading around one whole pass": (
        "task 1/5, classes [4, 11]\n   epoch 8/8 loss 0.41\ntask 2/5, classes [1, 9]\n"
        + lines("   epoch #/8 loss 0.91", 3, 4),
        2,
        5,
    ),
    "rounds of boosting in each candidate": (
        lines("candidate #/12: n_estimators=300 -> oob 0.81 (109 s)", 5, 6, 7)
        + lines("building tree # of 300", 1, 2, 3),
        7,
        12,
    ),
    "a trial in a log that begins there": (
        "Search: Running Trial #4\n\nEpoch 1/15\n90/90 - 9s - loss: 0.82\nEpoch 2/15\n 40/90 - 3s - loss: 0.43\n",
        4,
        None,
    ),
    "pieces that are done, and a bar of one of them": (
        lines("(#/7) load.ipynb      ok   41 s", 1, 2, 3, 4)
        + "Executing: 100%|####| 31/31 [36:50<00:00, 71.29s/cell]\n"
        + lines("(#/7) plots.ipynb      ok   45 s", 5, 6),
        6,
        7,
    ),
    "which piece, in brackets behind all else": (
        "".join(f"subject_{at * 7}: 1{at}0/1{at}0  acc 0.57   [{at}/40]\n" for at in range(1, 6)),
        5,
        40,
    ),
    "an accuracy that is not the fraction's": (
        lines("burn-in:  #/500   acc 0.31", 100, 300, 500) + lines("production:  #/2000   acc 0.27", 200, 400, 620),
        620,
        2000,
    ),
    "things done by any verb": (lines("transcribed # files so far (last: call.wav, 52.1 s)", *range(1, 6)), 5, None),
    "things that were skipped": (lines("skipped # files (too short)", *range(1, 6)), None, None),
    "a piece before the things in it": (lines("day #/60 appended 900 ticks", *range(1, 9)), 8, 60),
    "what the head announces in a longer word": (
        "packing 640 volumes into tars\n" + lines("vol # -> shard-0001.tar (2 vols, 1.9 GB)", 208, 209, 210),
        210,
        640,
    ),
    "a short loop that one word leads": (
        lines("traj #  dH =  0.1120  acc 1  plaq 0.58", 407, 408, 409, 410),
        410,
        None,
    ),
    "a short list of what came out for each": (
        "".join(f"class {at}  precision 0.8{at * 7 % 5}1\n" for at in range(1, 5)),
        None,
        None,
    ),
    "slots of a machine": ("loader: 8 slots\n" + lines("slot # ready", 0, 1, 2, 3), None, None),
    "a count beside rounded ones": (
        "".join(
            f"gs {at} | tok 1.{at % 977}B/2.1B | loss 2.{at * at % 983} | 124k tok/s\n" for at in range(100, 701, 100)
        ),
        700,
        None,
    ),
    "a table in a close frame": (
        "|    Epoch|    Batch|       Lr|     Loss|\n" + lines("|       #|    17000|   0.0412|   1.2201|", 20, 21, 22),
        22,
        None,
    ),
    "a plain number before a loss": (
        "[train] 300 updates, batch 32\n" + lines("[train] # loss 0.21", 100, 200),
        200,
        300,
    ),
    "things done, and no forecasts": (
        "INFO: Making 11 forecasts with cutoffs\n"
        + "".join(f"combos done: {at}   best rmse 20{at * at % 7}.1\n" for at in range(4, 10)),
        9,
        None,
    ),
    "how many in French": (
        "Nombre de pas de temps : 800\n" + lines("Pas   #  t = 0,750 s   ecart 4,11 mm", 300, 325, 350),
        350,
        800,
    ),
    "how many in German": ("Anzahl Epochen: 40\n" + lines("Epoche # Verlust: 0,45", 7, 8, 9), 9, 40),
    "how many in Japanese": (
        "\u7dcf\u30b9\u30c6\u30c3\u30d7\u6570 10000\n"
        + lines("\u30b9\u30c6\u30c3\u30d7 #  loss 0.41", 3400, 3500, 3600),
        3600,
        10000,
    ),
    "a restart by what watches over it": (
        lines("month  3/24  step #/4464", 1000, 2000)
        + "Killed\n=== start pid 99 (auto restart 1 of 5) ===\n"
        + lines("month  3/24  step #/4464", 1000, 2000)
        + "month  4/24  step 1000/4320\n",
        4,
        24,
    ),
    "how many there were in all": (
        "".join(f"Train Epoch: {at} [{n}00/60000 (40%)]\tLoss: 0.01\n" for at in (12, 13, 14) for n in (120, 240, 360))
        + "14 epochs took 141.2 s\nsaved mnist.pt\n",
        14,
        14,
    ),
    "how many requests there were in all": (
        lines("Completed # requests", 100, 200, 500, 900, 1000) + "Finished 1000 requests\n\nFailed requests:      4\n",
        1000,
        1000,
    ),
    "how many there were when it was stopped": (
        lines("epoch # loss 0.4", *range(3, 15)) + "no improvement, stopped early\n14 epochs took 141.2 s\n",
        14,
        None,
    ),
    "top-5 of a report": ("top-1: 9381/10000 (93.81%)\ntop-5: 9978/10000 (99.78%)\nbrier 0.0941\n", None, None),
}
# (log, whether it has finished)
ENDS: dict[str, tuple[str, object]] = {
    "a data frame of what came out": (
        lines("[#]\ttrain-rmse:0.8#1\ttest-rmse:0.9#1", 0, 5, 9)
        + "   train-rmse-mean  test-rmse-mean\n8         0.812340        0.911230\n9         0.801230        0.9034\n",
        True,
    ),
    "a data frame in the middle of it": (
        lines("[#]\ttrain-rmse:0.8#1\ttest-rmse:0.9#1", 0, 5)
        + "   feature  gain\n0  0.812340  0.911230\n"
        + lines("[#]\ttrain-rmse:0.8#1\ttest-rmse:0.9#1", 9, 15),
        False,
    ),
    "done, and what was the best of it": (
        "epoch,step,loss\n" + lines("#,#00,0.41", *range(1, 9)) + "done. best wer 16.9 at epoch 8\n",
        True,
    ),
    "done, behind a date of some logger": (
        lines("INFO  @ Mon, 02 Nov 2026 10:00:0#: read part #", 1, 2) + "INFO  @ Mon, 02 Nov 2026 10:00:11: Done!\n",
        True,
    ),
    "it has reached what it was to reach, and stops": (
        lines("step #/3000  loss 0.51  acc 0.71", *range(0, 800, 50))
        + "target acc 0.7 reached at step 750, stopping training\n",
        True,
    ),
    "a stop before the last epoch, and why": (
        "10:00:01 | max_epochs=60 patience=3\n"
        + lines("10:00:02 | epoch=# train_loss=0.51 val_loss=0.61", *range(9))
        + "10:00:03 | Early stop at epoch 8: val_loss did not improve for 3 epochs\n10:00:03 | best weights restored\n",
        True,
    ),
    "an agent that has begun the next run": (
        lines("epoch #/3 loss 0.7", 1, 2, 3) + "wandb: Agent Starting Run: q7w8e9r0 with config:\nwandb: \tlr: 0.01\n",
        False,
    ),
    "the last one is stored, less than one look before the end": (
        "training_tokens=50000 | batch=4096\n"
        + "".join(f"n_tokens={at} mse=0.1{at % 97} dead={at % 31}\n" for at in range(4096, 50000, 4096))
        + "final checkpoint: out/sae/final\n",
        True,
    ),
    "an end before the maximum": (
        lines("[03:21:08] tick #/1000 S=0 I=1", *range(25, 500, 25))
        + "epidemic over at tick 516, attack rate 100.0%\nresults written to out/sir.json\n",
        True,
    ),
    "a solver that converged": (
        lines("[L-BFGS] it #  loss = 3.3e-03", *range(2, 40, 2))
        + "CONVERGENCE: RELATIVE REDUCTION OF F <= FACTR*EPSMCH\nfinal loss = 3.3e-17; total time 4.1 s\n",
        True,
    ),
    "a record that says stop": (
        lines('{"type": "train", "iter": #, "loss": 0.1}', *range(50, 300, 50))
        + '{"type": "stop", "reason": "no improvement in 4 evals"}\n',
        True,
    ),
    "a word in brackets": (lines("INFO: Crawled # pages", 2, 4, 6) + "INFO: Spider closed (finished)\n", True),
    "a bar of R, and what came out": (
        lines("  |=====|  #%", 98, 99, 100) + "Saving to boot_ci.csv\n          [,1]      [,2]\n2.5%  32.97 -5.30\n",
        True,
    ),
    "patience that ran out": (
        "epoch,step,loss\n" + lines("#,3,1.79", *range(20)) + "# early stopping: patience 10 exhausted, best 1.64\n",
        True,
    ),
    "an end in French": (lines("Itération # / 500 : vraisemblance = -41.4", 1, 2, 3) + "Convergence atteinte\n", True),
    "an end in Russian, before the last remark": (
        (
            "ETL запущен\n20:25 INFO tables_loaded: 4\n20:26 INFO ETL процесс успешно завершен!\n"
            "20:27 INFO сессия остановлена\n"
        ),
        True,
    ),
    "a training that stopped at a lost loss": (
        "Start training for 100 epochs\n"
        + lines("Epoch: [#]  lr: 0.02  loss: 0.9", 1, 2)
        + "Loss is inf, stopping training\n",
        False,
    ),
    "the second of two trials, whose steps go on": (
        "Trial  1 of 2\n"
        + lines("Batch  #: best = 0.1", 1, 2, 3, 4)
        + "Trial  2 of 2\n"
        + lines("Batch  #: best = 0.2", 1, 2, 3),
        False,
    ),
    "a job that its scheduler ended": (
        lines("step #/100 loss 0.2", 40, 41, 42) + "State: TIMEOUT (exit code 0)\nCores per node: 2\n",
        False,
    ),
    "the last seed, whose steps go on": (
        "".join(f"seed={at} ({at}/4)  t={t}/2000  reward=1.2\n" for at in range(1, 4) for t in (1000, 2000))
        + "seed=4 (4/4)  t=250/2000  reward=0.5\n",
        None,
    ),
    "a piece that has finished, and how many are left": (
        lines("sim_0# finished in 0.02s  -- # done, 37 left", 57, 58, 59),
        False,
    ),
    "the next of several bars": (
        "".join(
            f"\rGenerating {name}.jsonl:  {at}%|# | {at}/100 [00:00<00:00, 448.2prompt/s]"
            + ("\nwrote out/{name}.jsonl\n" if at == 100 else "")
            for name, last in (("a", 100), ("b", 100), ("c", 30))
            for at in range(10, last + 1, 10)
        ),
        False,
    ),
    "a solver's answer": (
        "".join(f"|  {at * 100} | 190 809 {at} | 1.2 % |\n" for at in range(9))
        + "CPU time : 0.27 s\n\nUNSATISFIABLE\n",
        True,
    ),
    "a limit that was reached, amid the last stride": (
        lines("step #/10000 loss=0.6", 9700, 9800, 9900) + "reached total_steps, saving final weights to f.pt\nbye\n",
        True,
    ),
    "a table of what came out, below a git that finds no repository": (
        bar("requests", 900)
        + "fatal: not a git repository (or any of the parent directories): .git\n"
        + "|Task|Version|Metric|Value|\n|----|-------|------|----:|\n|qa  |Yaml   |acc   |0.336|\n",
        True,
    ),
    "an early stop in Spanish": (
        lines("Época # de 80, pérdida: 0.18", 36, 37, 38) + "Parada temprana. Mejor pérdida: 0.1951\n",
        True,
    ),
    "a stop amid a sentence": (
        lines("|    # |   0.14 |   0.25 |", 24, 25, 26) + "\nNo improvement for 6 epochs, stopping. Best bce 0.25\n",
        True,
    ),
    "a task that was solved": (
        lines("Episode #\tLast reward: 500.00", 300, 310, 320)
        + "Solved! Running reward is now 475.8 and the last episode runs to 500 time steps!\n",
        True,
    ),
    "a bar drawn once more behind an early stop": (
        lines("Metric val_loss improved. New best score: 0.#", 5, 4, 3)
        + "Monitored metric val_loss did not improve in the last 2 records. Signaling Trainer to stop.\n"
        + "Epoch 4/7  ━━━━━ 100/100 0:00:01 • 68.91it/s train_loss: 0.081\n",
        True,
    ),
    "a head that tells how many there are": (
        (
            "INFO job: number of splits:88\nINFO job: map 0% reduce 0%\n"
            "INFO job: map 31% reduce 0%\nINFO job: map 52% reduce 1%\n"
        ),
        False,
    ),
    "a warning of the head": (
        "UserWarning: 24 processes in total. Suggested max is 8, took 3 s\nwaiting for the first batch ...\n",
        False,
    ),
    "how long joblib has been at it": (
        lines("[Parallel(n_jobs=8)]: Done  #8 tasks      | elapsed:   21.2s", 1, 3)
        + "[Parallel(n_jobs=8)]: Done  78 tasks      | elapsed:  1.6min\n",
        False,
    ),
    "the last stage has more inside": (
        "[1/2] decode   90/90 done\n" + lines("[2/2] interpolate   #/90   1.9 fps", 16, 32, 48),
        None,
    ),
    "how many there were, and what was saved": (
        lines("Completed # requests", 100, 200, 500, 900, 1000)
        + "Finished 1000 requests\n\nTime taken for tests: 3 s\n",
        True,
    ),
}

ENDS |= {
    "all epochs": ("".join(f"ep {at}/3 loss 0.5\n" for at in range(3)) + "INFO|all epochs done, best val 0.5\n", True),
    "a tracker's summary, offline": (
        lines("epoch=# loss=0.5", 1, 2, 3) + "wandb: You can sync this run to the cloud by running:\n",
        True,
    ),
}

COUNTS |= {
    "pieces that are named as a worker's often are": (
        "".join(f"part {at}/24: merging 900 rows\n  done in 3 s\n" for at in range(1, 9)),
        8,
        24,
    ),
    "the piece that a worker was given": (
        "part 3/24 assigned\n" + lines("heartbeat ok (# ms)", 11, 12, 11),
        None,
        None,
    ),
    "layers behind a level": (
        "".join(f"[INFO] layer {at}/12\n[INFO]   q_proj   error 0.{at}7\n" for at in range(8)),
        7,
        12,
    ),
    "a counter behind a tag": (lines("[worker]   #/900 loss=1.3", 100, 200, 300), 300, 900),
    "a score beside a counter in brackets": (lines("[#/7] auc=0.8 logloss=0.4", 1, 2, 3), 3, 7),
    "settings around what is tried": (
        "".join(
            f"({run}/9) lr=0.0{run} decay=0\n" + lines("    ep # loss 0.5", 2, 4) + "    -> val 0.9\n"
            for run in range(1, 6)
        ),
        5,
        9,
    ),
    "a search for the learning rate, and then epochs": (
        "finder: 50 batches\n"
        + lines("  #/50 lr=1e-05 loss=2.3", *range(0, 50, 5))
        + "Training for 6 epochs\n"
        + lines("epoch #  train 0.9  valid 0.8", 0, 1, 2),
        2,
        6,
    ),
    "timesteps beside episodes": (
        "Training for 90000 timesteps\n"
        + "".join(f"t={1000 * at} ep={7 * at} eps=0.5 loss=0.4\n" for at in range(1, 61)),
        60000,
        90000,
    ),
    "frames beside episodes": (
        "total frames: 8000, target update: 50\n"
        + "".join(f"frame {97 * at} episode {at} return 9.0 loss 0.2\n" for at in range(1, 61)),
        5820,
        8000,
    ),
    "an epoch and its step, in letters": (
        "".join(f"e{epoch} s{step} | G 1.2 D 0.5\n" for epoch in (1, 2) for step in (0, 50, 100)),
        2,
        None,
    ),
    "which task of an array this is": (
        "array task 4/30\n" + lines("Epoch #: | loss: 0.5", *range(1, 12)) + "Task 4/30 finished in 9s\n",
        11,
        None,
    ),
    "candidates of a search": (
        "".join(f"[CV {fold}/2; {at}/9] END depth=3;, score=0.9\n" for at in (1, 2, 3) for fold in (1, 2)),
        3,
        9,
    ),
    "done, failed and waiting": (
        "".join(f"[*] done={90 * at} failed={10 * at} queued={2000 - 100 * at}\n" for at in (1, 2, 3)),
        270,
        2000,
    ),
    "a date is no batch": ("batch 2026-11-28: starting\n" + lines("batch 2026-11-28: # rows", 90, 70), None, None),
    "how many there are, told in a list": (
        "world size 2, backend gloo, epochs 9\n" + lines("epoch # loss 0.5", 0, 1, 2),
        2,
        9,
    ),
    "iterations among settings": (
        "Optimizer: Adam | Iterations: 700 | Log every: 50\n"
        + "".join(f"i=   {at} | loss=1.{at}e+00 | rmse=1.0{at % 7}e+00\n" for at in range(50, 450, 50)),
        400,
        700,
    ),
    "a row of a queue": ("| fit-b   PENDING   0/8   96    -         3/11    2026-11-28 |\n" * 2, None, None),
    "time and count of a tutorial": (lines("0m #s (320 80%) 0.0026", 3), 320, None),
    "lines that were read": (lines("#0000 lines read", 2, 4, 6), 60000, None),
    "how many of another word, below what is done": (
        "launcher: n_jobs=24 backend=local\n" + lines("status completed=# running=4 failed=0", *range(1, 16)),
        15,
        24,
    ),
    "files in the head, and how many are done": (
        "scan: files=1840 size=12.4G\n" + lines("hash done=# rate=80.1/s", *range(20, 1141, 20)),
        1140,
        1840,
    ),
    "jobs of a sweep, and the epochs of each": (
        "[2026-01-02 08:11:02,589][HYDRA] Launching 6 jobs locally\n"
        + "".join(
            f"[2026-01-02 08:11:0{job},593][HYDRA] \t#{job} : +lr=0.{job}\n"
            + lines("[2026-01-02 08:11:05,086][__main__][INFO] - epoch #/3 loss=0.9", *range(1, 4))
            for job in range(4)
        ),
        3,
        6,
    ),
    "rows of one table after another, and the tables": (
        "Migrating 8 tables\n"
        + "".join(
            lines(f"  {name}: #/{most} rows", *range(5000, most + 1, 5000)) + f"[{at}/8] {name} OK\n"
            for at, (name, most) in enumerate([("users", 15000), ("orders", 40000), ("items", 25000)], 1)
        )
        + lines("  payments: #/38000 rows", 5000, 10000, 15000),
        3,
        8,
    ),
    "iterations of each increment": (
        "".join(
            f" INCREMENT  {at} OF  10   LOAD FACTOR 0.{at}\n"
            + lines("    ITERATION #  RESIDUAL NORM 2.0E-02", 1, 2, 3, 4)
            + "    CONVERGED\n"
            for at in range(1, 7)
        ),
        6,
        10,
    ),
    "a program's place in the code is no epoch": (
        "I 1129 08:10:24 k_epoch0:4] Total epochs: 24. Early stop patience: 5\n"
        + lines("I 1129 08:10:24 k_epoch0:9] epoch=# train_loss=0.75", *range(14)),
        13,
        24,
    ),
    "environment steps are timesteps": (
        "training on CartPole for 6000 env steps\n"
        + "".join(f"timesteps {at * 300} | episodes {at * 13} | mean_return 2{at}.9\n" for at in range(1, 9)),
        2400,
        6000,
    ),
    "configurations of which the head tells nothing else": (
        "24 configurations\n" + "".join(f"#{at:02} lr=0.1 drop=0 -> acc 0.9{at * 7 % 10}\n" for at in range(11)),
        10,
        24,
    ),
    "one task of one, and its share": (
        "".join(f"\rEncoding: task 1 of 1, {at}.41 % (30.12 fps, ETA 00h01m12s)" for at in range(1, 36)),
        None,
        None,
    ),
    "trials of which more may come": (
        "".join(f"Trial status: {at} TERMINATED | 2 RUNNING | {18 - at} PENDING\n" for at in range(7)),
        6,
        None,
    ),
    "epochs and steps, each of how many": (
        "".join(
            f"\x1b[32mINFO    \x1b[0m \x1b[34mepoch={at}/8 step={step}/90 loss=0.9{step}\x1b[0m\n"
            for at in range(1, 5)
            for step in (30, 60, 90)
        ),
        4,
        8,
    ),
    "rounds, and the epochs of each client": (
        "FedAvg: 50 rounds, 10 clients/round, 5 local epochs\n"
        + "".join(
            f"  [client 0{at}1] local loss 0.7{at} (5/5 epochs)\n  [client 0{at}4] local loss 0.6{at} (5/5 epochs)\n"
            f"Round {at}/50: global acc 0.84 global loss 0.5{at}\n"
            for at in range(1, 8)
        )
        + "  [client 022] local loss 0.70 (5/5 epochs)\n",
        7,
        50,
    ),
    "episodes of as many steps": (lines("Episode # reward 63.1 steps 200", *range(1, 40)), 39, None),
    "a target beside the steps": (
        "".join(
            f"{rank}: step {at}, loss 0.6{rank}, target 3000 steps\n" for at in (50, 100, 150) for rank in range(4)
        ),
        150,
        3000,
    ),
    "as many time steps": (
        "2-D heat equation, 400 time steps\n"
        + "".join(f"t-step {at}  t = {at / 100:.3f}  max(u) = 0.9{at}\n" for at in range(10, 200, 10)),
        190,
        400,
    ),
    "up to so many": (
        "running up to 3000 iterations, checking every 250\n"
        + "".join(f"iteration {at}: mean tau = 1{at % 9}.35\n" for at in range(250, 2000, 250)),
        1750,
        3000,
    ),
    "rounds at most": (
        "1000 rounds max, early stopping 20\n"
        + "".join(f"[{at}]\tvalidation_0-logloss:0.63{at}\n" for at in range(33)),
        32,
        1000,
    ),
    "a table whose first column is padded": (
        "".join(f"{at:5} | {at / 10:5.1f}% | nll 0.48 | 500 it/s\n" for at in range(50, 1001, 50)),
        1000,
        1000,
    ),
    "what a killed run left on the line of its restart": (
        "".join(f"\r {at // 2}%|##   | {at}/200 [00:00<00:01, 95.02it/s]" for at in range(0, 71, 10))
        + "[supervisor] worker exited with 137, relaunching\n"
        + "".join(
            f"\r {at // 2}%|##   | {at}/200 [00:00<00:01, 95.02it/s]\n{{'loss': '5.1', 'epoch': '{at / 100}'}}\n"
            for at in (0, *range(70, 161, 10))
        ),
        160,
        200,
    ),
    "jobs of GNU parallel, done and left": (
        "".join(f"\r{at * 100 // 60}% {at}:{60 - at}=1s {at}" for at in range(5, 42)),
        41,
        60,
    ),
    "bytes of rsync, rounded": (
        "".join(
            f"\r   {at * 0.7:.2f}M  {at * 2}%    7.81MB/s    0:00:03 (xfr#{at}, to-chk={40 - at}/41)" for at in (9, 20)
        ),
        14000000,
        None,
    ),
    "shards of how many are done, and what was written": (
        "".join(
            lines(f"[07:27:49][hm15.py:7] shard 0000{at}-of-00016: #000 docs tokenized, 123 tokens", *range(1, 10))
            + f"[07:27:50][hm15.py:8] wrote train_0000{at}.bin (24.8 MB); {at + 1}/16 shards done\n"
            for at in range(4)
        ),
        4,
        16,
    ),
    "draws of PyMC": (
        (
            "\n  Progre…   Draw   Diverg…   size      evals      Speed     Elapsed   Remaini…\n"
            "  ━━━━━━━   1200   0         1.056     1          443.34    0:00:05   0:00:00\n"
            "                                                  draws/s\n"
            "  ━━━━━━━   2300   0         1.056     1          443.34    0:00:05   0:00:00\n"
        ),
        2300,
        None,
    ),
    "what is told after each evaluation": (
        "".join(f"After {at}, recommendation is Array{{(3,)}}:[0.2 0.3 0.{at}]\n" for at in range(60)),
        59,
        None,
    ),
    "an estimate that changes": (
        "\r  9%|▉ | 90/984 [00:00<00:00, 899.44it/s]\r 54%|██ | 363/672 [00:00<00:00, 422.10it/s]\n",
        363,
        None,
    ),
    "thousands of images": (
        "Total kimg: 25000\n"
        + "".join(f"tick {at}    kimg {at * 4}.0     time 0h 00m 40s   sec/tick 8.1\n" for at in range(0, 110, 10)),
        400.0,
        25000,
    ),
    "shards by their number and how many there are": (
        "".join(
            f"I 1129 09:12:24 h1.py:158] tokenized shard {at:05}-of-00256  docs=39{at}00 tokens=41575\n"
            for at in range(12)
        ),
        11,
        256,
    ),
    "a bar without an end, of which a carriage return is the last": (
        "".join(f"\rstreaming docs: {at} docs [00:{at:02},  3.94 docs/s]" for at in range(40)) + "\r",
        39,
        None,
    ),
    "optimizer steps of so many epochs, and a place in the code": (
        "[09:10:29] INFO     Loaded 12480 pairs; 390 steps per epoch, 4 epochs = 1560 optimizer steps     h2.py:122\n"
        + lines("           INFO     step # loss 0.5049 lr 1.95e-05               h2.py:125", *range(40, 400, 40)),
        360,
        1560,
    ),
    "rungs of a search, and the configurations of each": (
        "".join(f"rung 1/4  config {at}/27  epochs=2  val=0.64{at}\n" for at in range(1, 28))
        + "".join(f"rung 2/4  config {at}/9  epochs=6  val=0.51{at}\n" for at in range(1, 6)),
        2,
        4,
    ),
    "a banner behind a logger's prefix begins a run": (
        "".join(
            f"2026-01-02 09:16:25,427 | INFO    | === launch, host gpu-0{host} ===\n"
            + lines("2026-01-02 09:16:25,468 | INFO    | step #/300  loss 0.6360", *range(10, most, 10))
            for host, most in ((2, 130), (3, 50))
        ),
        40,
        300,
    ),
    "stages of Spark": (
        "".join(f"\r[Stage 1:===>                ({at} + 16) / 64]" for at in range(0, 40, 3)),
        39,
        64,
    ),
    "energies of NAMD": (
        "Info: TIMESTEP               2\nInfo: NUMBER OF STEPS        500000\n"
        + "".join(f"ENERGY:   {at}000       775.5034      2002.8190       961.3759\n" for at in range(1, 30)),
        29000,
        500000,
    ),
    "jobs of GNU parallel, left and completed": (
        "".join(f"\rETA: 195s Left: {40 - at} AVG: 7.46s  local:1/{at}/100%/7.5s " for at in range(1, 14)),
        13,
        40,
    ),
    "hours of a simulation, with their unit": (
        "".join(f"[sim] t= {at:5} h of 8760 h   queue= 3{at % 9}   served={at * 3}\n" for at in range(6, 300, 6)),
        294,
        8760,
    ),
    "folds of which nobody tells how many": (
        "".join(
            "".join(
                f"\rfold {fold}: {at * 100 // 30}%|##| {at}/30 [00:0{fold}<00:45, 1.7s/it]" for at in (0, 10, 20, 30)
            )
            + f"\nfold {fold}: rmse 0.34{fold}\n"
            for fold in range(3)
        ),
        2,
        None,
    ),
    "updates, and how many there are to be, in each record": (
        "".join(
            f'{{"update": {at}, "num_updates": 976, "global_step": {at * 2048}, "kl": 0.0{at}}}\n'
            for at in range(1, 63)
        ),
        62,
        976,
    ),
    "a budget of so many rounds, each of so many": (
        "Cross-entropy search; budget: 15 rounds x 64 samples\n"
        + lines("<round #> elite mean 0.300 max 0.400", *range(12)),
        11,
        15,
    ),
    "a maximum of nothing": ("status: OPTIMAL\niterations: 0\nwalltime: 0.119998\n", None, None),
    "merges of a vocabulary": (
        "".join(
            f"I0000 00:00:17.687026 24 bpe_model_trainer.cc:421] Merged: freq={90 - at // 50} merges={at} piece=▁t\n"
            for at in range(500, 2200, 100)
        ),
        2100,
        None,
    ),
    "checkpoints of tar": (
        "".join(f"tar: #{at}: W: {at * 10240} ({at * 10}KiB, 4.4MiB/s)\n" for at in range(20, 240, 20)),
        220,
        None,
    ),
    "a trial that begins behind the word of the last one's end": (
        "".join(
            f"Search: Running Trial #{at}\n\nEpoch 1/3\nEpoch 2/3\nEpoch 3/3\nTrial {at} Complete [00h 00m 03s]\n"
            for at in range(1, 5)
        )
        + "Search: Running Trial #5\n\nEpoch 1/3\n",
        5,
        None,
    ),
    "regions of GATK": (
        "".join(
            f"09:12:2{at}.217 INFO  ProgressMeter -   chr20:40{at}779   0.{at}   {at}555   9330.0\n"
            for at in range(1, 9)
        ),
        8555,
        None,
    ),
    "cells of a table of results": (
        (
            "| Model | Params | Steps |\n|---|---|---|\n| base | 354M | 100k |\n"
            "| sft | 1.31B | 3/3 ep |\n| dpo | 1.31B | 1/1 ep |\n"
        ),
        None,
        None,
    ),
    "bytes that wget has fetched, with a name of one's own": (
        "Length: 40000000 (38M) [text/plain]\n"
        + "".join(f"\rd1    {at}%[====>        ]  {at * 0.4:.2f}M  9.97MB/s        " for at in range(5, 56, 5)),
        23068672,
        40000000,
    ),
    "things and the time that they took": (
        "total: 1200000 records\n" + "".join(f"{at * 50000} records in {at * 3.17:.1f}s\n" for at in range(1, 14)),
        650000,
        1200000,
    ),
}

ENDS |= {
    "a piece that is worked on": (lines("Processing shard #/4 ...", 1, 2, 3, 4), False),
    "the last epoch's bar": (
        "".join(f"Epoch {at}/3 [####################] 100%  loss 0.4\n" for at in (1, 2))
        + "Epoch 3/3 [#########...........]  45%  loss 0.3\n",
        False,
    ),
    "the last file's frames": (
        "".join(f"[file {at}/3] {frame}/90 frames\n" for at in (1, 2) for frame in (30, 60, 90))
        + "[file 3/3] 30/90 frames\n",
        False,
    ),
    "a test in the last epoch": (
        "".join(
            f"\nEpoch {at}/2\n" + lines("  train #/60 loss 0.8", 1, 30, 60) + "train Loss: 0.8\n  val 1/20 loss 0.9\n"
            for at in (1, 2)
        ),
        False,
    ),
    "a method that converged before its limit": (
        "k=8 max_iter=100\n" + lines("iter #: inertia 90.7, moved 3", *range(1, 9)) + "converged at iter 8\n",
        True,
    ),
    "a bar of epochs that is full above an inner one which was not drawn to its end": (
        "\r".join(
            (
                "",
                "Training:  93%|#########3| 14/15 [00:02<00:00,  5.1ep/s]\n",
                "  ep 14:  53%|#####3    | 32/60 [00:00<00:00, 316it/s]",
                "Training: 100%|##########| 15/15 [00:02<00:00,  5.0ep/s]\n",
            )
        ),
        True,
    ),
    "ffmpeg's own word of the end": (
        "".join(
            f"frame={n * 40}\nfps=41.2\nspeed=  19x\nprogress={'end' if n == 6 else 'continue'}\n" for n in range(1, 7)
        ),
        True,
    ),
    "a percentage that is drawn up to 100, and nothing else": (
        "".join(f"\r{'#' * (n // 4)} {n:.1f}%" for n in range(4, 101, 4)) + "\n",
        True,
    ),
    "a loop that stops as nothing improves": (
        lines("Epoch #/70 val_loss 0.4", *range(1, 43))
        + "Validation performance didn't improve for 40 epochs. Training stops.\n",
        True,
    ),
    "a loop that would stop later": (
        lines("epoch #/70 val_loss 0.4", *range(1, 43)) + "no improvement for 3 epochs, stopping in 7 more\n",
        False,
    ),
    "a configuration that tells how many samples there are": (
        (
            "=====\nepochs : 90\nlr : 0.1\n=====\n"
            "Number of training samples: 1,281,167\nNumber of validation samples: 50,000\n"
        ),
        False,
    ),
    "a worker that tells what it has done and what is queued": (
        "".join(f"job 65e87{at % 10} ok in {90 + at} ms (done {at}, queue {300 - at})\n" for at in range(1, 20)),
        False,
    ),
    "a genetic algorithm that stands still": (
        lines("Generation = #/80  best fitness = -0.00192", *range(1, 51))
        + "GA terminated after 50 generations (fitness saturated)\n",
        True,
    ),
    "how patient it will be": (
        "1000 rounds max, early stopping 20\n"
        + "".join(f"[{at}]\tvalidation_0-logloss:0.63{at}\n" for at in range(33)),
        False,
    ),
    "all pages, counted once more": (
        lines("INFO crawler: fetched # of 137 pages", *range(10, 131, 10))
        + "INFO crawler: crawl complete: 137 pages, 3271 items -> items.jsonl\n",
        True,
    ),
    "the best iteration and its loss": (
        lines("[#]\tvalidation_0-logloss:0.53083", *range(33)) + "best iteration: 12 best logloss: 0.52303\n",
        True,
    ),
    "Luigi's tally": (
        (
            "INFO: task a has status PENDING\n\n===== Luigi Execution Summary =====\n\n* 9 ran successfully:\n"
            "    - 9 P(n=0)\n\nThis progress looks :) because there were no failed tasks\n\n"
            "===== Luigi Execution Summary =====\n\n"
        ),
        True,
    ),
    "a layer of an image": (
        (
            "24.04: Pulling from library/x\n3b1c55e8f2aa: Pulling fs layer\na91f55e8f2aa: Pulling fs layer\n"
            "3b1c55e8f2aa: Download complete\n3b1c55e8f2aa: Pull complete\n"
        ),
        False,
    ),
    "the time that was to be simulated": (
        "CFD solver: t_end = 10.0, grid 512x512\n"
        + "".join(f"it  {at}  t = {at / 342:.4e}  dt = 2.5e-03  res = 5.94e-04\n" for at in range(20, 3421, 20))
        + "reached t_end, writing fields\n",
        True,
    ),
    "Ansible's recap": (
        "PLAY [all] ***\n\nTASK [ping] ***\nok: [db1]\n\nPLAY RECAP ***\ndb1 : ok=4 changed=2 unreachable=0 failed=0\n",
        True,
    ),
    "a patience that is used up": (
        lines("epoch #/100 loss 0.4", *range(40, 58)) + "EarlyStopping counter: 9 out of 8\n",
        True,
    ),
    "a patience that is not used up": (
        lines("epoch #/100 loss 0.4", *range(40, 58)) + "EarlyStopping counter: 7 out of 8\n",
        False,
    ),
    "the last display is one stride before the end": (
        lines("[main.py:41] step #/400  error=0.8", *range(0, 351, 50)) + "[main.py:60] finished; test error=0.15\n",
        True,
    ),
    "runs that were told one by one, and their mean": (
        "".join(
            f"=== run {n} of 5 (seed {n}) ===\n  epoch 10: train 0.09 dev 0.10\n  epoch 20: train 0.04 dev 0.06\n"
            "  test accuracy: 0.8623\n"
            for n in range(1, 6)
        )
        + "mean 0.8651 std 0.0087\n",
        True,
    ),
}

COUNTS |= {
    "all rounds, told in Chinese, and the steps of each": (
        "开始训练,共 12 轮,每轮 8 步\n"
        + "".join(f"第 {at} 轮 第 {step}/8 步 损失 0.4\n" for at in (1, 2, 3) for step in (4, 8)),
        3,
        12,
    ),
    "a total with its name, in Chinese": ("总步数: 900\n" + lines("第 # 步 损失 0.4", 100, 200, 300), 300, 900),
    "where it goes on by what each line says was done": (
        lines("loaded 250 rows into sales (offset #)", *range(250, 2000, 250)),
        1750,
        None,
    ),
    "a heading with the start of each epoch": (
        "".join(f"Start of epoch {at}\n" + lines("loss at step #: 0.71", 0, 10, 20) for at in range(4)),
        3,
        None,
    ),
    "a number that was named once in a list of settings": (
        "me [info]: cu-tree  : 2 / 1.0\n" + lines("frame=#\nfps=25.1", 1, 30, 52, 71),
        71,
        None,
    ),
    "one of one, and then what there is more of": (
        "check\n[0:00] 100.00%  1 / 1 roots\nread all data\n[0:04] 100.00%  24 / 24 blobs\nno errors were found\n",
        24,
        24,
    ),
    "seconds of a clock before the things that are done": (
        "2026/11/02 10:00:00 walk: grids=4000 seed=3\n"
        + "".join(f"2026/11/02 10:00:0{at} grids done: {at}00, mean 3.1{at}\n" for at in range(1, 7)),
        600,
        4000,
    ),
    "a number of the head of which the shares are": (
        "reading list: 8000 ids\n"
        + lines("#00 ids seen (#.3%)".replace("#.3", "@"), 4).replace("@", "5.0")
        + "800 ids seen (10.0%)\n1200 ids seen (15.0%)\n",
        1200,
        8000,
    ),
    "rows beside batches without an end": (
        "-- 7000 rows to fill, batches of 300\n"
        + "".join(f"batch {at:4}  last_id={300 * at}  {300 * at // 70}%\n" for at in range(1, 8)),
        2100,
        7000,
    ),
    "an accuracy beside a step is no share of it": (
        "seed 30, 40 classes\n" + "".join(f"step {at}  acc {at * 2 + at % 2}%\n" for at in range(10, 17)),
        16,
        None,
    ),
    "a simulated time, and the head's end of it": (
        "grid 64x64, dt=0.02, t_end=30\n"
        + "".join(f" n={50 * at:6}  t={at:8.3f}  res=4.{at}e-1\n" for at in range(1, 9)),
        8.0,
        30,
    ),
    "a horizon of a simulation": (
        "INFO: Simulation horizon: 700 ticks, agents=50\n" + lines("INFO: tick # alive=50 wealth=10.5", 100, 200, 300),
        300,
        700,
    ),
    "seconds between two reports": (
        lines("[ #s ] thds: 2 eps: 8#2.02 lat: 1#.7", 5, 10, 15, 20),
        20.0,
        None,
    ),
    "heartbeats with a time": (lines("[ #s ] waiting for a worker", 5, 10, 15, 20), None, None),
    "bytes in a unit that is told behind them": (
        "  90/4200 kB (2%), 0/1 parts\n 2100/4200 kB (50%), 0/1 parts\n",
        2100,
        4200,
    ),
    "megabytes, which are rounded": ("0/96 MB (0%) hashed\n48/96 MB (50%) hashed\n", 48, None),
    "bytes beside one file": (
        "".join(
            f"Transferred:    {at}.715 MiB / 100 MiB, {at}%, 9.1 MiB/s, ETA 6s\nTransferred:   0 / 1, 0%\n"
            for at in (6, 12, 18)
        ),
        18.715,
        None,
    ),
    "a counter far from its word": (
        f"MD| Number of time steps{'6000':>60}\n" + "".join(f"MD| Step number{at:>60}\n" for at in (1, 2, 3)),
        3,
        6000,
    ),
    "bars that each have a name, in the steps of one around them": (
        "\rsets:   0%|    | 0/5 [00:00<?, ?it/s]"
        + "".join(
            "\n" + bar(f"{name} seeds", 4) + f"\rsets:  {20 * at}%|##  | {at}/5 [00:02<00:03,  1.37it/s]"
            for at, name in enumerate(("mnist", "pets", "cars"), 1)
        )
        + "\n\rbirds seeds:  25%|#   | 1/4 [00:00<00:00,  6.9it/s]",
        3,
        5,
    ),
}

ENDS |= {
    "what each epoch ended with, behind the last one": (
        "Namespace(epochs=6, lr=0.1)\n"
        + "".join(
            lines(f"Epoch: [{at}][#/25]\tTime 0.01\tLoss 0.61", 0, 10, 20) + f" * Acc@1 64.{at}\n" for at in range(6)
        ),
        True,
    ),
    "what each epoch ended with, behind the last one but one": (
        "Namespace(epochs=7, lr=0.1)\n"
        + "".join(
            lines(f"Epoch: [{at}][#/25]\tTime 0.01\tLoss 0.61", 0, 10, 20) + f" * Acc@1 64.{at}\n" for at in range(6)
        ),
        False,
    ),
    "a score that is told within the epochs": (
        "Namespace(epochs=6, lr=0.1)\n"
        + "".join(lines(f"Epoch: [{at}][#/25]\tTime 0.01\tLoss 0.61\n * Acc@1 64.2", 0, 10, 20) for at in range(5))
        + "Epoch: [5][0/25]\tTime 0.01\tLoss 0.61\n * Acc@1 64.2\n",
        False,
    ),
    "an end that is told again behind what was saved": (
        "{'loss': '0.69', 'epoch': '1.5'}\n{'train_runtime': '1.8', 'train_loss': '0.69', 'epoch': '2'}\n"
        + bar("Writing shards", 2)
        + "{'train_runtime': 1.8, 'train_loss': 0.69, 'epoch': 2.0}\n",
        True,
    ),
    "a task that its scheduler marks": (
        lines("[10:00:0#] {task.py:241} INFO - loaded 250 rows (offset #00)", 2, 3, 4, 5, 6)
        + "[10:00:07] {task.py:242} INFO - Marking task as SUCCESS. task_id=load\n",
        True,
    ),
    "a program that names itself": (
        "  90/4200 kB (2%)\n 4200/4200 kB (100%)\nfs_copy: syncing\nfs_copy: base copy completed\n",
        True,
    ),
}

COUNTS |= {
    "thousands with a unit of its own": (
        "\r".join(f"rows: {at}krow [00:0{at[0]}, 2.5krow/s]" for at in ("1.24", "2.51", "3.77")) + "\n",
        3770,
        None,
    ),
    "what the head tells of a rounded total": (
        "index of 48000 words (dim 64)\n"
        + "\r".join(f"hash: {at}%|## | {at}.3k/48.0k [00:03<00:08, 5.1kword/s]" for at in (12, 14, 16)),
        16300,
        48000,
    ),
    "two numbers of the head that round to the total": (
        "48010 words, 48020 ids\n"
        + "\r".join(f"hash: {at}%|## | {at}.3k/48.0k [00:03<00:08, 5.1kword/s]" for at in (12, 14, 16)),
        16300,
        None,
    ),
    "the first bar, which Rich counts from 0": (
        (
            "GPU available: False\nEpoch 1/1  ━━━━━━━━━━━━━━━━━ 60/60 0:00:02 • 0:00:00 34.8it/s loss: 0.15\n"
            "Testing ━━━━━━━━━━━━━━━━━━ 10/10 0:00:00 • 0:00:00 241.2it/s\n"
        ),
        1,
        1,
    ),
    "questions that a letter numbers": (
        "".join(f"Q{at}: right  [0.{at * at % 7}1s]\n" for at in range(1, 10)),
        9,
        None,
    ),
    "epochs that a letter numbers, and a crash": (
        "".join(f"10:00:0{at} E00{at} L=0.{9 - at}44 V=0.5{at}\n" for at in range(1, 9))
        + 'Traceback (most recent call last):\n  File "loop.py", line 77, in <module>\nOSError: No space left\n',
        8,
        None,
    ),
    "pieces whose names say of how many": (
        "".join(f"part-000{at}-of-00048 done: {at * 7},250 words\n" for at in range(11, 17)),
        16,
        48,
    ),
    "ranges of rows": (
        "".join(f"scored rows {500 * at + 1:,}-{500 * at + 500:,} of 8,000 -> p-{at}.bin\n" for at in range(1, 9)),
        4500,
        8000,
    ),
    "a share of a number that stands beside it": (
        "".join(f"iter={100 * at} lm=2.4{at % 7} left=4.4h ({at / 4:.1f}% of 40000 iters)\n" for at in range(40, 50)),
        4900,
        40000,
    ),
    "a last line that was cut before its figures": (
        "training net on 9000 iterations\n"
        + lines("iterations: #, training error: 0.25#", 200, 400, 600)
        + "iterations: 800, tra",
        800,
        9000,
    ),
    "rows below a head that names what they are": (
        "backend cpu | steps 700\n"
        + "".join(f"{at:6}  nll=0.{693 - at}  |g|=3.9{at}e-1\n" for at in range(0, 400, 50)),
        350,
        700,
    ),
    "a limit that is told when it is over": (
        lines("Gen  #  |  best 32.2#  |  0.06 sec", *range(1, 10))
        + "Threshold 38.5 reached, stopping evolution (limit was 90 generations)\n",
        9,
        90,
    ),
    "a queue beside numbered batches": (
        "".join(f"Crawl batch {at} ok={238 + at * at * 7 % 12} queue={9000 - 180 * at}\n" for at in range(8)),
        7,
        None,
    ),
    "a bar whose end is estimated anew, behind one without": (
        "".join(f"\r{at}it [00:00,  9.1it/s, nc: 1]" for at in (0, 2))
        + "".join(
            f"\n {9 + at}%|#   | {at}/{most} [00:0{at // 15}<00:09, 17.6it/s, nc: 2]"
            for at, most in ((12, 129), (31, 203), (60, 402), (77, 390))
        )
        + "\nniter: 77\n",
        77,
        None,
    ),
    "a maximum in the source that a traceback shows": (
        lines("Search: Running Trial #\nValue |Best", 1, 2, 3)
        + 'Traceback (most recent call last):\n  File "s.py", line 3, in <module>\n    t=kt.Search(f,max_trials=5)\n'
        + "RuntimeError: no room\n",
        3,
        None,
    ),
}

ENDS |= {
    "settings that were found, and their score": (
        lines("[CV 1/3] END depth=#, trees=20;, score=0.9#3 total time=   1.2s", *(3, 3, 3, 6, 6, 6) * 3)
        + "{'depth': 6, 'trees': 20} 0.984\n",
        True,
    ),
    "what was found in a search for a rate": (
        lines("lr=#.00e-05 loss=3.01#", *range(1, 15)) + "Suggested lr: 3.2e-03\n",
        True,
    ),
    "a score across all parts": (
        lines(
            "*.*\noptimization finished, #iter = #50\nTotal nSV = 8#1".replace("#iter", "@iter"), 10, 11, 12, 13
        ).replace("@", "#")
        + "Cross Validation Accuracy = 74.4%\n",
        True,
    ),
    "times of training in each line, and much to go": (
        lines("I batch  #00 training time 3.1# s, total wall time 3.2# s, eta = 8:5#:00", 1, 2, 3, 4),
        False,
    ),
    "what a model's summary says again": (
        "Iter   TrainDev   ValidDev   Step\n"
        + "".join(f"{at:6}     1.{99 - at}2     1.4{at}9   0.0500\n" for at in (1, 2, 3, 10, 20, 40, 60))
        + "60 iterations were performed.\nThe best test-set iteration was 60.\nThere were 6 predictors.\n",
        True,
    ),
    "the most generations": (
        lines("INFO:ABC:t: #, eps: 4.90#e+00.", *range(8)) + "INFO:ABC:Stop: Maximum number of generations.\n",
        True,
    ),
}

COUNTS |= {
    "steps of time, by the name that programs have for it": (
        "cavity 24x24  Re=90\nnt = 3000, output every 250\n"
        + "".join(f"t={at:6}  res=9.{at * at % 97}e-1\n" for at in range(0, 2000, 250)),
        1750,
        3000,
    ),
    "a number of threads is no last step": (
        "nt = 16, output every 1\n" + "".join(f"t={at:6}  res=9.{at * at % 97}e-1\n" for at in range(9)),
        8,
        None,
    ),
    "few rows of a loop whose last one the head sets": (
        "pic 3, 64 x 32 cells\nnmax = 80000, dump every 20000\n"
        + "".join(f"n = {at:8}  t = {at / 20:8.1f}  E = 1.0002\n" for at in (20000, 40000, 60000)),
        60000,
        80000,
    ),
    "a range of rows, and where the rows begin and end": (
        "10:00:00 starting table=events from=1 to=9000 batch=500\n"
        + "".join(f"10:00:0{at} filled rows {500 * at + 1}..{500 * at + 500} dup={at * at % 7}\n" for at in range(8)),
        4000,
        9000,
    ),
    "how many the answer of a database is": (
        "select count(*) from orders where total is null -> 48120\n"
        + lines("... #000 rows updated, last id 22#118", 1, 2, 3, 4),
        4000,
        48120,
    ),
    "what was counted before": (
        "counting reads in a.bam ... 41,203,118\n" + lines("10:0#:00 parsed #,000,000 input reads", 1, 2, 3, 4),
        4_000_000,
        41_203_118,
    ),
    "what there is to be done": (
        "10:00:00 | INFO | main:run - ligands to dock: 5000\n"
        + lines("10:00:0# | INFO | dock:one - [120#] Z41204 -8.#", 1, 2, 3),
        1203,
        5000,
    ),
    "sweeps of a list of settings": (
        "ising L=128 sweeps=20000 therm=2000\n" + lines("#000 m=0.22#0 e=-0.99# chi=41#.2", 12, 13, 14, 15),
        15000,
        20000,
    ),
    "a test of rates has iterations, too": (
        "# lr range test, 80 iterations from 1e-6 to 1\niter\tlr\tloss\n" + lines("#\t1.#e-06\t3.4#", *range(12)),
        11,
        80,
    ),
    "stamps that differ in their digits": (
        "ts='2026-02-14T04:46:30Z' event='started' files=840\n"
        + "".join(
            f"ts='2026-02-14T04:{46 + at}:{at * 7 % 60:02}Z' event='part' done={20 * at} rtf=0.04{at * at % 7}\n"
            for at in range(1, 9)
        ),
        160,
        840,
    ),
    "days that lead each line": (
        "".join(f"day {at}  wet 12.{at * at % 7} km2  err 0.01{at * at % 5}\n" for at in range(100, 108)),
        107,
        None,
    ),
    "records beside their bytes": (
        "".join(f"tar: {50 * at}: W: {512000 * at} (490KiB, 7.{at}MiB/s)\n" for at in range(1, 9)),
        400,
        None,
    ),
    "events from the first on": (lines("--> Event # starts.", *range(0, 700, 100)), 600, None),
    "thousands in German": (lines("\u2714 # von 2.400 Dateien fertig (\u00d8 0,21 s)", 15, 30, 45), 45, 2400),
    "a last time that the head tells as how long": (
        "gz, world a.sdf\nscenario: 12 robots, 1800 s simulated\n"
        + lines("t=  # s   orders done #   rtf 3.1", 540, 600, 660, 720),
        720.0,
        1800,
    ),
    "sections, and the sentences of the newest": (
        lines("section  #/12   18# sentences   ... 12.1 min", 6, 7, 8)
        + "section  9/12   177 sentences\n"
        + lines("    sentence #/177   rtf 0.08", 40, 80, 120),
        9,
        12,
    ),
    "a loop that ended before its time, and the next one": (
        lines("part-a #/90 loss 0.5", 10, 20, 30) + lines("part-b #/40 loss 0.4", 2, 4, 6),
        6,
        40,
    ),
    "which run of several a heading tells": (
        "grid of 64 combinations\n--- combo 27/64: lr=0.003 wd=0.01 ---\n" + lines("epoch # val 0.66#", 1, 2, 3, 4),
        27,
        64,
    ),
    "prompts, and the few steps of each": (
        "pipe: fp16, steps 4\n"
        + "".join(f"prompt {at}/90\n100%|##########| 4/4 [00:00<00:00, 14.1it/s]\n" for at in range(80, 85)),
        84,
        90,
    ),
    "steps of a report, far from their word": (
        f"MD_PAR| STEPS{'2000':>67}\n"
        + "".join(f"MD| Step number{at:>65}\nMD| Energy [K]  0.4{at}\n" for at in (7, 8, 9)),
        9,
        2000,
    ),
}

COUNTS |= {
    "frames of a stack are no rows": (
        "poisson: 3 ranks, 600 iterations\n"
        + lines("[vm:00024] [ #] /lib/libc.so(+0x3c05#) [0x7f8a12c0#]", 0, 1, 2, 3, 4),
        None,
        None,
    ),
    "bytes of a table's columns": (
        lines("chr1\t#00\t#60\tpeak", 1, 2, 3, 4, 5, 6, 7),
        None,
        None,
    ),
}

ENDS |= {
    "an archive that was cut": (
        lines("list: p#.gz listed, #000 docs", *range(1, 12))
        + "p1: 179\n4050\ngzip: p2.gz: unexpected end of file\n1.79e+308\n",
        False,
    ),
    "pieces that are numbered from 0, and all of them": (
        lines("wrote data-0000#-of-00004 (rows=2048)", 0, 1, 2, 3) + "all jobs succeeded (4/4)\n",
        True,
    ),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_what_is_counted(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


@pytest.mark.parametrize(("log", "finished"), ENDS.values(), ids=ENDS)
def test_what_has_come_to_its_end(log: str, finished: object) -> None:
    assert read(log).finished is finished


def test_a_beginning_is_the_same_wherever_its_pieces_were_cut() -> None:
    log = "frames 96, fps 24\n" + lines("Frame 00# rendered in 0.04s  depth 13.2", *range(10, 30))
    data = log.replace("\n", "\r\n").encode()
    pieces = ProgressReader()
    for at in range(len(data)):
        pieces.feed(data[at : at + 1])
    whole = ProgressReader()
    whole.feed(data)
    assert pieces.result() == whole.result()
    assert whole.result().exact_max == 96


@pytest.mark.parametrize(
    "head",
    [
        "Epochs to run: 20",
        "epoch limit 20",
        "epochs           20",
        "epochs......: 20",
        "20-epoch schedule",
        "config: epochs 20, lr 1e-3",
        "lr 3e-4  epochs 20  batch 32",
        "epochs: 20 | batch: 32 | lr: 3e-4",
        "20 epochs (warmup 2)",
        "at most 20 epochs",
        "pruning, 20 epochs at 5 %, floor 0.9",
    ],
)
def test_a_head_tells_how_many_there_are(head: str) -> None:
    seen = read(head + "\n" + lines("epoch #: loss 0.41 acc 0.71", 3, 4, 5, 6))
    assert (seen.current, seen.exact_max) == (6, 20)


@pytest.mark.parametrize(
    "head",
    [
        "gradient accumulation: 700 steps",
        "horizon: 700 steps",
        "700 diffusion steps",
        "resuming from 700 steps",
        "val for 700 steps",
        "warm-up: 700 steps",
        "a run of 700 steps took 3 s",
    ],
)
def test_a_head_tells_of_something_else(head: str) -> None:
    seen = read(head + "\n" + lines("step # | loss 0.41 | lr 3e-4", 600, 610, 620, 630))
    assert (seen.current, seen.exact_max) == (630, None)


def test_settings_in_the_last_line_are_no_step() -> None:
    seen = read("Total params: 7,050\nlr 0.01, epochs 40, batch 32, workers 8\n")
    assert (seen.current, seen.finished) == (None, False)


@pytest.mark.parametrize("word", ["epoch", "Epoch", "EPOCH"])
def test_an_epoch_is_told_once_whatever_its_letters(word: str) -> None:
    told = "".join(f"{word} {at}/5: batch {batch}/96 loss 0.3\n" for at in (1, 2, 3) for batch in (48, 96))
    seen = read(told)
    assert (seen.current, seen.exact_max, seen.unit) == (3, 5, "epoch")
    assert (seen.inner_current, seen.inner_max) == (96, 96)


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("Epoche 3/30 Verlust: 1,45", 1.45),
        ("époque 3/30 perte: 1.45", 1.45),
        ("步骤 3/10 损失: 1.45", 1.45),
        ("epoch 3/30 loss: 0,45", 0.45),
        ("epoch 3/30 loss: 1,234.5", 1234.5),
        ("epoch 3/30 loss: 0.45, acc 0.9", 0.45),
    ],
)
def test_a_loss_as_other_countries_write_it(line: str, loss: float) -> None:
    assert read(line + "\n").loss == loss


def test_a_share_that_stands_alone_comes_to_its_end() -> None:
    seen = read(lines("stitching mosaic: #%", *range(0, 101, 4)))
    assert (seen.percent, seen.finished) == (100, True)
