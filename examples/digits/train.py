"""Train a small network on scikit-learn's bundled digits: real data, real checkpoints, resumes where it was stopped.

Always continues from the newest whole checkpoint, so the identical command resumes. Ends with exit code 143 soon after
SIGTERM, with its work saved.
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
KEPT_CHECKPOINTS = 3
BATCH = 64
PASSES_PER_EPOCH = 200  # each pass sees every image once, shifted by up to one pixel

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


def newest_whole_checkpoint() -> dict[str, Any] | None:
    for path in sorted(CHECKPOINTS.glob("epoch_*.npz"), reverse=True):
        try:
            with np.load(path) as file:
                return {key: file[key] for key in file.files}
        except (OSError, ValueError, EOFError, KeyError) as error:
            print(f"skipping {path.name}: not a whole checkpoint ({type(error).__name__})")
    return None


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, on_sigterm)
    CHECKPOINTS.mkdir(exist_ok=True)
    data, net = load_split(), Network(seed=args.seed)
    steps_per_epoch = PASSES_PER_EPOCH * -(-len(data.train_x) // BATCH)
    found, done, best = newest_whole_checkpoint(), 0, 0.0
    if found is not None:
        net.load(found)
        done, best = int(found["epoch"]), float(found["best"])
        print(f"resuming after epoch {done}/{args.epochs} (best val_acc {best:.4f})")
    print(f"{len(data.train_x)} images to train on, {len(data.val_x)} to validate, {steps_per_epoch} steps an epoch")
    for epoch in range(done + 1, args.epochs + 1):
        began = time.perf_counter()
        # The generator depends on the epoch alone, so a resumed run goes the very way of an undisturbed one.
        loss = train_epoch(net, data, np.random.default_rng((args.seed, epoch)), rate=0.05 * 0.93 ** (epoch - 1))
        val_acc = accuracy(net.predict(data.val_x), data.val_y)
        improved, best = val_acc > best, max(val_acc, best)
        state = {**net.state(), "epoch": epoch, "val_acc": val_acc, "best": best}
        save(CHECKPOINTS / f"epoch_{epoch:03d}.npz", state)
        if improved:
            save(CHECKPOINTS / "best.npz", state)
        for old in sorted(CHECKPOINTS.glob("epoch_*.npz"))[:-KEPT_CHECKPOINTS]:
            old.unlink()
        print(
            f"epoch {epoch}/{args.epochs} step {epoch * steps_per_epoch}/{args.epochs * steps_per_epoch} "
            f"loss {loss:.4f} val_acc {val_acc:.4f} {time.perf_counter() - began:.1f}s",
            flush=True,
        )
        if asked_to_stop and epoch < args.epochs:
            print(f"asked to stop: saved after epoch {epoch}")
            return 143
    print(f"training completed: {args.epochs} epochs, best val_acc {best:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
