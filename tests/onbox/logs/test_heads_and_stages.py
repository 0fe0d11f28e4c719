"""Loops whose whole is told above them: in a head, in the heading of a stage, in a column; and ends in more words."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "what was done to the things of the head": (
        "Checking 418 links\n" + lines("# checked, 3 broken", 60, 120, 180, 240, 300, 360),
        360,
        418,
    ),
    "the same, the word first": ("resizing 5000 images\n" + lines("resized #", 500, 1000, 1500, 2000), 2000, 5000),
    "a masked model and its epochs": (
        "pretraining masked LM | 3 epochs | 41,200 sentences | log every 200 batches\n"
        + lines("| epoch   # |   400/ 1288 batches | lr 5.00 | loss 15.93 | ppl  8103.08", 1, 2),
        2,
        3,
    ),
    "a stage with fewer epochs than the one before": (
        "phase 1: pretrain (8 epochs)\n"
        + lines("  epoch # loss 0.31", *range(1, 9))
        + "phase 2: finetune (3 epochs)\n"
        + lines("  epoch # loss 0.31", 1, 2),
        2,
        3,
    ),
    "stages that count from zero": (
        "== burn-in, 4 epochs ==\n"
        + lines("ep # loss 0.31 acc 0.5", 0, 1, 2, 3)
        + "== joint, 12 epochs ==\n"
        + lines("ep # loss 0.31 acc 0.5", *range(12))
        + "== distill, 6 epochs ==\n"
        + lines("ep # loss 0.31 acc 0.5", 0, 1),
        1,
        6,
    ),
    "a stage without a loss behind one that has it": (
        "[warm] 5 epochs\n"
        + lines("[warm] #/5 loss 0.31", 1, 2, 3, 4, 5)
        + "[evolve] 30 generations\n"
        + lines("[evolve] gen #/30 best 0.61", *range(1, 8)),
        7,
        30,
    ),
    "stages, in German": (
        "Phase 1: Vortraining (6 Epochen)\n"
        + lines("Epoche # Verlust 0.31", *range(1, 7))
        + "Phase 2: Feinabstimmung (4 Epochen)\n"
        + lines("Epoche # Verlust 0.31", 1, 2),
        2,
        4,
    ),
    "cycles around epochs": (
        "curriculum from 0.1 to 1.0 over 9 cycles, 2 epochs each\n"
        + "".join(f"# cycle {at}: difficulty 0.{at}\n" + lines("   epoch # loss 0.31", 1, 2) for at in range(1, 6)),
        5,
        9,
    ),
    "models around epochs": (
        "Bagging with 8 models\n"
        + "".join(f"> model {at}\n" + lines(f"model {at} | epoch #/12 | mse 0.31", 4, 8, 12) for at in (0, 1, 2)),
        2,
        8,
    ),
    "a list of seeds": (
        "name=ablate seeds=[1, 2, 3] epochs=20\n"
        + "".join(lines(f"seed={at} epoch=#/20 val=1.015", 5, 10, 15, 20) for at in (1, 2)),
        2,
        3,
    ),
    "two loops of one name in each round": (
        "".join(
            f"---- ROUND {at} ----\n"
            + lines("actor step #/80 loss 0.31", 20, 40, 60, 80)
            + lines("critic step #/80 loss 0.31", 20, 40, 60, 80)
            + f"round {at} return 31.{at}\n"
            for at in (1, 2, 3)
        ),
        3,
        None,
    ),
    "behind a slash": ("train: unet on camvid / 25 epochs / batch 8\n" + lines("epoch # loss 0.31", 1, 2, 3), 3, 25),
    "behind a dash": ("resnet18 - cifar10 - 90 epochs\n" + lines("epoch # loss 0.31", 1, 2, 3), 3, 90),
    "where a loop begins": ("begin 50000 iters (from 20000)\n" + lines("it # L 0.31", 20000, 20100), 20100, 50000),
    "where it will stop": ("log every 10, stop at 3000\n" + lines("step # loss 0.31", *range(10, 90, 10)), 80, 3000),
    "to which epoch it goes on": (
        "loaded last.pt (epoch 17)\ncontinuing to epoch 40\n" + lines("E0# | trn 0.31 | val 0.33", *range(18, 26)),
        25,
        40,
    ),
    "a total behind its word": ("epochs_total=120\n" + lines("train_epoch=# train_loss=0.31", 1, 2, 3), 3, 120),
    "of how many, in brackets behind each": (
        "".join(f"Round {at} begins (of 12)\nRound {at}: train 0.3{at}\n" for at in range(1, 6)),
        5,
        12,
    ),
    "how many of a pool are complete": (
        "queued 25 trials on 4 cores\n"
        + "".join(f"trial {at * 7 % 25:02} done  energy=0.3{at}  ({at}/25 done)\n" for at in range(1, 12)),
        11,
        25,
    ),
    "one by one, as the head has it": (
        "tournament of 64 matches\n" + lines("match #: white wins", *range(1, 21)),
        20,
        64,
    ),
    "some of them, not evenly": (
        "random search with 300 evaluations\n" + lines("eval #: best 0.31", 0, 1, 3, 9, 20, 40, 71, 80),
        80,
        300,
    ),
    "ranges of windows": (
        "rolling forecast, 90 windows\n" + "".join(f"window {at}1-{at + 1}0 mape 0.3{at}\n" for at in range(1, 8)),
        80,
        90,
    ),
    "by their first letter": ("LOSO over 15 subjects\n" + lines("S0#: f1=0.5 auc=0.31", *range(1, 9)), 8, 15),
    "a column of the whole": ("step,total,loss\n" + lines("#,900,0.31", *range(50, 651, 50)), 650, 900),
    "columns with semicolons": ("epoch;epochs;val\n" + lines("#;30;0.31", *range(1, 12)), 11, 30),
    "a column that only adds up": (
        "step,total,loss\n" + "".join(f"{at},{at * 64},0.31\n" for at in range(50, 651, 50)),
        650,
        None,
    ),
    "an epoch of epochs that leads a table": (
        "Epoch   mem    box    cls\n"
        + "".join(f"{epoch}/4   3.2G   0.310   0.612   img {at}/64\n" for epoch in (1, 2) for at in (16, 32, 64)),
        2,
        4,
    ),
    "in Spanish, until which epoch": (
        "entrenando hasta la época 30\n" + lines("época # pérdida 0.31", 1, 2, 3),
        3,
        30,
    ),
    "in Portuguese, for how many": ("treinando por 18 épocas\n" + lines("época #: perda 0.31", 1, 2, 3), 3, 18),
    "in Italian, of how many": ("addestramento di 18 epoche\n" + lines("epoca #: perdita 0.31", 1, 2, 3), 3, 18),
    "in Chinese, how many it needs": ("共需训练 20 轮\n" + lines("第 # 轮 损失 0.31", 1, 2, 3), 3, 20),
    "sizes of batches in one line": (
        "batch = 32, mini_batch = 8, time_steps = 1\nmax_batches = 4000\n"
        + "".join(f" {at}: 0.31{at % 7}, 0.32{at % 5} avg loss\nLoaded: 0.01 s\n" for at in range(1, 30)),
        29,
        4000,
    ),
    "in Japanese, for how many it learns": ("30エポック学習します\n" + lines("エポック # 損失 0.31", 1, 2, 3), 3, 30),
    "a grid that is run": (
        "grid [0.1, 0.01, 0.001]\n" + "".join(lines(f"run {at} | step # | loss 0.31", 100, 200) for at in (0, 1)),
        1,
        3,
    ),
    "a number of generations, set with a sign": (
        "number of generations = 90\n" + lines("gen #: best 0.31", *range(1, 20)),
        19,
        90,
    ),
    "what it will take": ("will take 32 rounds\n" + lines("round #: loss 0.31", *range(1, 9)), 8, 32),
    "time steps of a run": ("a run of 600 time steps\n" + lines("time step #  res 0.31", *range(10, 90, 10)), 80, 600),
    "behind a sign of times": ("mobilenet x 35 epochs\n" + lines("epoch # loss 0.31", 1, 2, 3), 3, 35),
    # Told of something else.
    "parts of a model, one by one": (
        'config: {"width": 64, "lr": 0.001, "epochs": 4}\nSequential(\n'
        + lines("  (#): Linear(in_features=16, out_features=64, bias=True)", 0, 1, 2)
        + ")\n",
        None,
        None,
    ),
    "bins, one by one": ("histogram with 20 bins\n" + lines("bin #: 31", *range(1, 8)), None, None),
    "steps of each epoch, in a column": (
        "epoch  steps  loss  acc\n" + lines("#   500  0.31  0.5", *range(1, 9)),
        8,
        None,
    ),
    "samples of each epoch, in a column": (
        "epoch,total,correct,acc\n" + lines("#,10000,9031,0.9", *range(1, 9)),
        8,
        None,
    ),
    "over how many a weight rises": (
        "KL weight annealed from 0 to 1 over 20 epochs\n" + lines("epoch # loss 0.31", 1, 2, 3),
        3,
        None,
    ),
    "to which epoch it has come": (lines("moving on to epoch #\n  loss 0.31", 1, 2, 3), 3, None),
    "where it would stop, in percent": (
        "stop at 95% accuracy\n" + lines("step # loss 0.31", *range(10, 90, 10)),
        80,
        None,
    ),
    "layers, one by one": ("model with 8 layers\n" + lines("layer #: 31k params", *range(1, 9)), None, None),
    "batches of an epoch that are done": (
        "".join(lines(f"epoch {at} loss 0.31 (#/400 done)", 100, 200, 300, 400) for at in (1, 2)),
        2,
        None,
    ),
    "over how many a mean is taken": (
        "reward is averaged over 20 episodes\n" + lines("episode # reward 0.31", 1, 2, 3, 4),
        4,
        None,
    ),
    "who is waited for": (
        "waiting for 7 more peers (1/8)\nwaiting for 5 more peers (3/8)\nwaiting for 1 more peers (7/8)\n",
        None,
        None,
    ),
    "who has joined": (lines("rendezvous: #/16 ranks joined", 1, 9, 16) + "compiling\n", None, None),
    "what is beside the frames": (
        "".join(f"[l] updates={at}0 frames={at},640 loss=0.3{at % 7} queue={at % 5}/32\n" for at in range(10, 30)),
        290,
        None,
    ),
    "how often it is evaluated": (
        "eval every 200, save every 400, stop early after 5 bad evals\n" + lines("step # loss 0.31", 20, 40, 60),
        60,
        None,
    ),
    "how many would be possible": (
        "n_iterations: 6\nn_possible_iterations: 9\n" + lines("iter: #\nresources: 8", 0, 1, 2, 3),
        3,
        6,
    ),
    "rows done, of nobody knows how many": (
        "reading in.parquet\n" + lines("#,000 rows processed (13 dropped)", *range(1, 9)),
        8000,
        None,
    ),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


_LEVELS = "".join(f"level {at}: T=0.{at} E=-2.{at * 7 % 91} acc=0.{at * at % 89}\n" for at in range(1, 30))
ENDS = {
    "all of them were checked": "checking 30 archives\n"
    + lines("  part-#.zip crc32 9af1 OK", *range(30))
    + "30/30 checked\nno damage found\n",
    "the last of them, by their first letter": "plate P7: 24 wells\n"
    + "".join(f"W{at:02}  od=0.{at * 37 % 91}  rfu=0.3{at}\n" for at in range(1, 25))
    + "mean od 0.43\n",
    "the share of what was inserted": "building kd-tree\n"
    + lines("  inserted #%", *range(10, 101, 10))
    + "tree written to tree.bin (44 MB)\n",
    "in two words": "n_epoch=3\n" + lines("epoch=# loss=0.31", 0, 1, 2) + "RUN END\n",
    "a search": "n_iterations: 4\n" + lines("iter: #\nn_candidates: 8", 0, 1, 2, 3) + "search done\n",
    "a tolerance": "NMF max_iter=200 tol=1e-4\n" + lines("nmf iter #: err=0.31", *range(1, 15)) + "tolerance met\n",
    "a reason to stop": "boosting up to 400 rounds\n"
    + lines("round # train 0.31 valid 0.33", *range(1, 61))
    + "stopping: validation gain below 1e-4\n",
    "what was frozen is saved": "annealing: 60 levels\n" + _LEVELS + "frozen, acceptance below 5%\ntour saved\n",
    "a summary of the run": lines("train step: #, loss: 0.31", *range(100, 1500, 100)) + 'Run stats: {"wall": 120.1}\n',
    "all fits of a search": "Fitting 2 folds for each of 3 candidates, totalling 6 fits\n"
    + "".join(f"[CV {at}/2] END C={c};, score=0.9{at}\n" for c in (1, 2, 3) for at in (1, 2))
    + "best found\n",
    "a change that is small": "max_iter: 80\n"
    + lines("sweep #: change 0.31", *range(1, 23))
    + "change below eps after sweep 22\nlabels written to labels.npy\n",
    "a delta, and a word": "max_iter=500\n" + lines("iter # obj 0.31", *range(1, 43)) + "delta < 1e-6, done\n",
    "no gain": "max 100 rounds\n" + lines("round # auc 0.31", *range(1, 33)) + "no gain in 10 rounds -> stop\n",
    "a plateau": "epochs=80\n"
    + lines("epoch # loss 0.31", *range(1, 30))
    + "loss plateaued, finishing early\nweights in out/w.npz\n",
    "a row of a table short of its whole": "ES  population 50   generations 60\n  gen   mean_R   max_R\n"
    + "".join(f" {at:4}  -{60 - at}.434  -{60 - at}.290\n" for at in range(0, 60, 5))
    + "final reward -0.629 after 60 generations\n",
    "scores behind a share, parted by tabs": lines("Progress: #.0% words/sec: 812 lr: 0.01", 60, 80, 100)
    + "N\t5000\nP@1\t0.91\nR@1\t0.91\n",
    "a solver that converged": "minimizing (maxiter=500)\n"
    + lines("it # f = 0.45", *range(10, 420, 10))
    + "CONVERGENCE: NORM OF PROJECTED GRADIENT <= PGTOL nit = 415\n",
    "an event of JSON": lines('{"event": "step", "done": #, "planned": 80, "loss": 0.31}', *range(10, 81, 10))
    + '{"event": "exit", "code": 0}\n',
}


@pytest.mark.parametrize("log", ENDS.values(), ids=ENDS)
def test_ends(log: str) -> None:
    assert read(log).finished is True


GOES_ON = {
    "one model of several is done": "Bagging with 8 models\n"
    + "".join(lines(f"model {at} | epoch #/12 | mse 0.31", 4, 8, 12) for at in (0, 1, 2)),
    "all that take part have joined": lines("Waiting for # more workers", 3, 2, 1)
    + "All 4 workers joined, rendezvous complete\nBuilding model... 7.2B params\n",
    "what an epoch came to": lines("epoch #\ntrain metrics: loss 0.31\nval metrics: loss 0.33", 1, 2, 3, 4),
    "when it would stop": "max_iter=90\nends when the change is below eps\nchange below eps: would end it\n"
    + lines("iter # obj 0.31", 1),
    "a pipeline that failed after all": lines("Iteration # of 30", *range(1, 12)) + "Converged after 11 iterations\n"
    "RNA pipeline failed: Cell type clustering required.\n\nTotal execution time: 1300.77 seconds (21.68 minutes)\n",
    "a job that ended with a code": lines("epoch #/9 loss 0.31", *range(1, 10))
    + "Job terminated of its own accord at 2024-09-13T14:20:15Z with exit-code 1.\n...\n",
    "why it would stop": "stopping: off\n" + lines("epoch #/60 loss 0.31", *range(1, 15)),
}


@pytest.mark.parametrize("log", GOES_ON.values(), ids=GOES_ON)
def test_goes_on(log: str) -> None:
    assert not read(log).finished


BOOSTED = "      Iter       Train Loss   Remaining Time\n" + lines(
    "         #           3.9386            1.75s", *range(1, 8)
)
SCORES = (
    "llama-7b   0.55  349/1319    36/164\nllama-13b  0.68  387/1319    69/164\nqwen-7b    0.68  453/1319    44/164\n"
)
SHARD = "# writing out/{0:06}.tar  300 rows, 0.9 MB   [{0} of 40 shards, {1} rows total]\n"
STANDS = {
    "a fold that is named again with its score": (
        "".join(f"===== Fold {at} of 8 =====\n{BOOSTED}fold {at} r2 = 0.9{at}\n" for at in (1, 2, 3, 4))
        + f"===== Fold 5 of 8 =====\n{BOOSTED}",
        (5, 8),
    ),
    "pieces counted in brackets at the end": ("".join(SHARD.format(at, 300 * at) for at in range(1, 5)), (4, 40)),
    "epochs beside what a metric was over one": (
        "".join(
            f"Epoch {epoch}:  {at}%|##4  | {at}/25 [00:02<00:17,  1.53it/s, v_num=0, train_loss_step=14.90, "
            f"train_loss_epoch=15.00]\n"
            for epoch in (66, 67, 68)
            for at in range(1, 26)
        ),
        (68, None),
    ),
    "epochs above what DeepSpeed lists in any case": (
        "[config.py:1000:print]   data_efficiency_config ....... {'enabled': False, 'seed': 1234, 'data_sampling': "
        "{'enabled': False, 'num_epochs': 1000, 'num_workers': 0}}\n"
        + lines("{'loss': 0.6931, 'learning_rate': 5e-07, 'epoch': 0.#}", 1, 2, 3, 4),
        (0.4, None),
    ),
    "iterations above the settings of another thing": (
        "SOLVER:\n  MAX_ITER: 180000\nTEST:\n  PRECISE_BN:\n    ENABLED: false\n    NUM_ITER: 200\n"
        + lines("eta: 1 day, 12:33:32  iter: #  total_loss: 7.951  lr: 1e-05", *range(20, 180, 20)),
        (160, 180000),
    ),
    "a table of scores": ("model      mmlu  gsm8k     humaneval\n" + SCORES, (None, None)),
}


@pytest.mark.parametrize(("log", "stands"), STANDS.values(), ids=STANDS)
def test_stands(log: str, stands: tuple[float | None, int | None]) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == stands
