"""Train a small network on scikit-learn's bundled digits: real data, real checkpoints, resumes where it was stopped.

Always continues from the newest whole checkpoint, so the identical command resumes; a broken checkpoint is named and
skipped. Ends with exit code 143 soon after SIGTERM, with its work saved. A finished run that is started again trains
nothing: it reads its checkpoints in full, measures the best one anew and writes them again.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from data import FOLDER, Split, load_split
from model import Network, accuracy

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINTS = FOLDER / "ckpt"
BEST, LATEST = CHECKPOINTS / "best.npz", CHECKPOINTS / "latest.npz"
KEPT_CHECKPOINTS = 3
BATCH = 64
PASSES_PER_EPOCH = 200  # each pass sees every image once, shifted by up to one pixel
EXIT_SIGTERM = 143

asked_to_stop = False


def on_sigterm(*_: object) -> None:
    global asked_to_stop  # noqa: PLW0603 - a signal handler has no other way to tell
    asked_to_stop = True


def save(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint in one step: beside, flushed, renamed. A kill leaves the old one or the new one."""
    beside = path.with_suffix(".tmp")
    with beside.open("wb") as file:
        np.savez(file, **state)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def load(path: Path) -> dict[str, Any] | None:
    """A checkpoint read in full; None if there is none or it is broken, which is then said."""
    try:
        with np.load(path) as file:
            state = {key: file[key] for key in file.files}
        Network(seed=0).load(state)
        return {**state, **{key: state[key].item() for key in ("epoch", "seed", "val_acc")}}
    except FileNotFoundError:
        return None
    except Exception as error:  # noqa: BLE001 - a torn or overwritten zip raises whatever its bytes happen to mean
        print(f"skipping {path.name}: not a whole checkpoint ({type(error).__name__}: {error})")
        return None


def epoch_files() -> list[Path]:
    """The epochs' checkpoints, newest first."""
    return sorted(CHECKPOINTS.glob("epoch_*.npz"), reverse=True)


def newest_whole_checkpoint() -> dict[str, Any] | None:
    return next((state for path in [*epoch_files(), LATEST] if (state := load(path)) is not None), None)


def shifted(images: Any, rng: np.random.Generator) -> Any:
    """The 8x8 images, each moved by at most one pixel: a little augmentation."""
    down, right = rng.integers(-1, 2, 2)
    return np.roll(images.reshape(-1, 8, 8), (down, right), axis=(1, 2)).reshape(-1, 64)


def train_epoch(net: Network, data: Split, rng: np.random.Generator, rate: float) -> float:
    losses = []
    for _ in range(PASSES_PER_EPOCH):
        order = rng.permutation(len(data.train_x))
        images = shifted(data.train_x, rng)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            losses.append(net.step(images[rows], data.train_y[rows], rate))
    return float(np.mean(losses))


def save_epoch(state: dict[str, Any], *, improved: bool) -> None:
    """The best first: killed in between, the epoch is trained again, in the same way, and nothing is missed."""
    if improved:
        save(BEST, state)
    save(CHECKPOINTS / f"epoch_{state['epoch']:03d}.npz", state)
    save(LATEST, state)
    for old in epoch_files()[KEPT_CHECKPOINTS:]:
        old.unlink()


def train(net: Network, data: Split, begin: dict[str, Any], epochs: int) -> int:
    """Train from the state `begin` to `epochs`; the number of the last epoch done, less if asked to stop."""
    best = load(BEST)
    best_acc = best["val_acc"] if best else 0.0
    steps = PASSES_PER_EPOCH * -(-len(data.train_x) // BATCH)
    for epoch in range(begin["epoch"] + 1, epochs + 1):
        if asked_to_stop:
            return epoch - 1
        began = time.perf_counter()
        # The generator depends on seed and epoch alone, so a resumed run goes the very way of an undisturbed one.
        loss = train_epoch(net, data, np.random.default_rng((begin["seed"], epoch)), rate=0.002 * 0.93 ** (epoch - 1))
        val_acc = accuracy(net.predict(data.val_x), data.val_y)
        state = {**net.state(), "epoch": epoch, "seed": begin["seed"], "val_acc": val_acc}
        save_epoch(state, improved=val_acc > best_acc)
        best_acc = max(val_acc, best_acc)
        print(
            f"epoch {epoch}/{epochs} step {epoch * steps}/{epochs * steps} "
            f"loss {loss:.4f} val_acc {val_acc:.4f} {time.perf_counter() - began:.1f}s",
            flush=True,
        )
    return epochs


def finish_again(newest: dict[str, Any], data: Split) -> None:
    """Nothing left to train: read every checkpoint in full, measure the best anew, write them again."""
    best = load(BEST) or newest
    net = Network(seed=best["seed"])
    net.load(best)
    save(BEST, {**best, "val_acc": accuracy(net.predict(data.val_x), data.val_y)})
    for path in epoch_files():
        if (state := load(path)) is not None:
            save(path, state)
    print(f"already finished after epoch {newest['epoch']}: checkpoints read, best one measured anew")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=7, help="of a new run; a resumed one keeps its own")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, on_sigterm)
    CHECKPOINTS.mkdir(exist_ok=True)
    data, net = load_split(), Network(seed=args.seed)
    print(f"{len(data.train_x)} images to train on, {len(data.val_x)} to validate")
    newest = newest_whole_checkpoint()
    if newest is not None:
        net.load(newest)
        print(f"resuming after epoch {newest['epoch']}/{args.epochs} (seed {newest['seed']})")
    if newest is not None and newest["epoch"] >= args.epochs:
        finish_again(newest, data)
    else:
        reached = train(net, data, newest or {"epoch": 0, "seed": args.seed}, args.epochs)
        if reached < args.epochs:
            print(f"asked to stop: saved after epoch {reached}")
            return EXIT_SIGTERM
    best = load(BEST)
    print(f"training completed: {args.epochs} epochs, best val_acc {best['val_acc'] if best else 0.0:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
