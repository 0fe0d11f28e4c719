"""A real training, small and paced, that goes wrong on request: what scripts/bench/detectors.py runs.

    python scripts/bench/training.py --model mlp --steps 600 --fault rate --at 300

The arithmetic is real (numpy, scikit-learn); only the length of a step is set, so that a busy machine does not decide.
A fault is made, never printed: data are spoilt, rates raised, writers killed, memory of the optimizer lost.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 64
SAVE = "import sys, time, numpy; time.sleep(float(sys.argv[3])); numpy.savez(sys.argv[2], **numpy.load(sys.argv[1]))"
warnings.simplefilter("ignore")
np.seterr(all="ignore")


class Net:
    """Layers of weights with tanh between them, by Adam or by momentum. kind: what the last layer is for."""

    def __init__(self, sizes: list[int], kind: str, seed: int, *, by_adam: bool = True) -> None:
        random = np.random.default_rng(seed)
        self.kind, self.by_adam = kind, by_adam
        self.w = [random.normal(0, 1 / np.sqrt(a), (a, b)) for a, b in pairwise(sizes)]
        self.m = [np.zeros_like(w) for w in self.w]
        self.v = [np.zeros_like(w) for w in self.w]
        self.t = 0

    def step(self, x: Any, y: Any, rate: float) -> tuple[float, float, float]:
        """One step: loss, norm of the gradient, accuracy."""
        layers = [x]
        for w in self.w[:-1]:
            layers.append(np.tanh(layers[-1] @ w))
        out = layers[-1] @ self.w[-1]
        if self.kind == "classes":
            p = np.exp(out - out.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            loss = float(-np.log(p[np.arange(len(y)), y] + 1e-12).mean())
            right = float((p.argmax(1) == y).mean())
            p[np.arange(len(y)), y] -= 1
            back = p / len(y)
        else:
            target = x if self.kind == "itself" else y[:, None]
            loss, right = float(((out - target) ** 2).mean()), 0.5
            back = 2 * (out - target) / out.size
        grads = []
        for at in range(len(self.w) - 1, -1, -1):
            grads.append(layers[at].T @ back)
            back = (back @ self.w[at].T) * (1 - layers[at] ** 2) if at else back
        grads.reverse()
        self.t += 1
        for at, grad in enumerate(grads):
            self.m[at] = 0.9 * self.m[at] + 0.1 * grad
            self.v[at] = 0.99 * self.v[at] + 0.01 * grad**2
            scale = np.sqrt(self.v[at] / (1 - 0.99**self.t)) + 1e-8 if self.by_adam else 1.0
            self.w[at] -= rate * (self.m[at] / (1 - 0.9**self.t)) / scale
        return loss, float(np.sqrt(sum((grad**2).sum() for grad in grads))), right

    def state(self) -> dict[str, Any]:
        return {f"{name}{at}": one for name in "wmv" for at, one in enumerate(getattr(self, name))} | {"t": self.t}

    def load(self, state: Any) -> None:
        for name in "wmv":
            setattr(self, name, [state[f"{name}{at}"] for at in range(len(self.w))])
        self.t = int(state["t"])


class Sklearn:
    """A classifier of scikit-learn, batch by batch. It tells no gradient."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def step(self, x: Any, y: Any, rate: float) -> tuple[float, float, float]:
        if isinstance(self.model, SGDClassifier):
            self.model.set_params(eta0=rate, learning_rate="constant")
        else:
            self.model.set_params(learning_rate_init=rate)
            if hasattr(self.model, "_optimizer"):
                self.model._optimizer.learning_rate_init = rate  # noqa: SLF001 - no other way to change it
        if not np.isfinite(x).all():
            return float(x.sum() * 0), float("nan"), 0.0
        self.model.partial_fit(x, y, classes=np.arange(10))
        p = self.model.predict_proba(x)
        return float(-np.log(p[np.arange(len(y)), y] + 1e-12).mean()), 0.0, float((p.argmax(1) == y).mean())

    def state(self) -> dict[str, Any]:
        names = ("coef_", "intercept_", "coefs_", "intercepts_")
        parts = {name: getattr(self.model, name) for name in names if hasattr(self.model, name)}
        return {
            f"{name}{at}": one
            for name, part in parts.items()
            for at, one in enumerate(part if isinstance(part, list) else [part])
        }


MODELS: dict[str, Callable[[int], Any]] = {
    "softmax": lambda seed: Net([64, 10], "classes", seed),
    "mlp": lambda seed: Net([64, 32, 10], "classes", seed, by_adam=False),
    "deep": lambda seed: Net([64, 48, 32, 10], "classes", seed),
    "regression": lambda seed: Net([10, 16, 1], "number", seed),
    "autoencoder": lambda seed: Net([64, 16, 64], "itself", seed),
    "sgd": lambda seed: Sklearn(SGDClassifier(loss="log_loss", random_state=seed)),
    "sklearn-mlp": lambda seed: Sklearn(MLPClassifier((24,), random_state=seed)),
}
RATES = {
    "softmax": 3e-3,
    "mlp": 0.2,
    "deep": 1e-3,
    "regression": 3e-3,
    "autoencoder": 2e-3,
    "sgd": 1e-3,
    "sklearn-mlp": 1e-3,
}
FORMS = {
    "plain": "step {step}/{steps} | loss {loss:.4f} | lr {rate:.2e} | grad_norm {norm:.3f} | acc {acc:.3f}",
    "dict": "{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'learning_rate': {rate:.3e}, 'step': {step}}}",
    "bare": "step {step}/{steps} loss {loss:.4f} acc {acc:.3f}",
    "iter": "iter {step}/{steps}: loss {loss:.4f}, lr {rate:.3e}, gnorm {norm:.3f}",
}


class Training:
    """One process of it. A resumed one goes on from the newest checkpoint."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.x, self.y = _data(args.model)
        self.resumed = os.environ.get("ONBOX_RESUME") == "1"
        seed = args.seed + (1000 if self.resumed and args.fault == "seed" else 0)
        self.model: Any = MODELS[args.model](seed)
        self.seed, self.first = seed, 1
        self.folder = Path("ckpt")
        self.folder.mkdir(exist_ok=True)
        if self.resumed:
            self._go_on()
        self.writer: subprocess.Popen[bytes] | None = None
        self.lines = 0

    def _go_on(self) -> None:
        found = sorted(self.folder.glob("step_*.npz"), key=lambda path: int(path.stem.split("_")[1]))
        if found:
            self.first = int(found[-1].stem.split("_")[1]) + 1
            if self.args.fault != "weights":
                self.model.load(np.load(found[-1]))

    def batch(self, step: int) -> tuple[Any, Any]:
        random = np.random.default_rng((self.seed, step))
        chosen = random.integers(0, len(self.y), BATCH)
        x, y = self.x[chosen], self.y[chosen]
        if not self.is_ill(step):
            return x, y
        if self.args.fault == "labels":
            return x, (y + 5) % 10
        if self.args.fault == "nan-data":
            x = x.copy()
            x[0, 0] = np.nan
        if self.args.fault == "inf-data":
            y = y * 1e200
        if self.args.fault == "wild-data":
            x = x * 300
        return x, y

    def is_ill(self, step: int) -> bool:
        return bool(self.args.fault) and step >= self.args.at

    def rate(self, step: int) -> float:
        rate = RATES[self.args.model]
        if self.args.schedule == "warm-up":
            rate *= min(1.0, step / 150)
        if self.args.schedule == "drops":
            rate *= 0.1 ** (step // 250)
        return rate * (100 if self.is_ill(step) and self.args.fault == "rate" else 1)

    def run(self) -> None:
        due = time.monotonic()
        for step in range(self.first, self.args.steps + 1):
            if step == self.args.at:
                Path("fault.at").write_text(json.dumps(time.time()))
            loss, norm, right = self.model.step(*self.batch(step), self.rate(step))
            if self.args.fault == "metric" and self.is_ill(step):
                right = float((np.zeros(BATCH) == 1).mean())  # compared with labels of another shape
            if self.args.fault == "no-gradient" and self.is_ill(step):
                norm = 0.0
            self._say(step, loss, norm, right)
            if step % self.args.save_every == 0:
                self._save(step)
            if self.args.evaluate_every and step % self.args.evaluate_every == 0:
                time.sleep(self.args.evaluate_seconds)
                due = time.monotonic()
            due += self.args.step_seconds * (self.args.slower if self.is_ill(step) and self.args.fault == "slow" else 1)
            time.sleep(max(0.0, due - time.monotonic()))
            due = max(due, time.monotonic() - self.args.step_seconds)
            if step == self.args.die_at and not self.resumed:
                self._wait_for_writer()
                sys.exit(75)
        self._wait_for_writer()

    def _say(self, step: int, loss: float, norm: float, right: float) -> None:
        if step % self.args.print_every == 0:
            told = {"step": step, "steps": self.args.steps, "loss": loss, "norm": norm, "acc": right}
            print(FORMS[self.args.form].format(**told, rate=self.rate(step)))

    def _save(self, step: int) -> None:
        """By a process of its own, as large trainings do; what it is given lies beside."""
        self._wait_for_writer()
        given = self.folder / f".given_{step}.npz"
        np.savez(given, **self.model.state())
        target = str(self.folder / f"step_{step}.npz")
        if self.args.fault == "cut" and self.is_ill(step):
            Path(target).write_bytes(given.read_bytes()[:-100])
        else:
            words = [sys.executable, "-c", SAVE, str(given), target, "0"]
            if self.args.fault == "writer" and self.is_ill(step):
                words[-1] = "60"
            self.writer = subprocess.Popen(words)
            if words[-1] == "60":
                self.writer.send_signal(signal.SIGKILL)
        kept = sorted(self.folder.glob("step_*.npz"), key=lambda path: int(path.stem.split("_")[1]))
        most = 1 if self.args.fault == "cleanup" and self.is_ill(step) else self.args.keep
        for old in kept[:-most]:
            old.unlink()

    def _wait_for_writer(self) -> None:
        if self.writer is not None:
            self.writer.wait()
        for given in self.folder.glob(".given_*"):
            given.unlink()


def _data(model: str) -> tuple[Any, Any]:
    found = load_diabetes() if model == "regression" else load_digits()
    x = found.data / (16.0 if model != "regression" else 0.05)
    y = found.target if model != "regression" else (found.target - 150) / 80
    return x, y


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=MODELS, default="mlp")
    parser.add_argument("--form", choices=FORMS, default="plain")
    parser.add_argument("--fault", default="")
    parser.add_argument("--schedule", default="")
    for name, usual in (("steps", 600), ("at", 0), ("seed", 7), ("save-every", 50), ("keep", 5), ("print-every", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--evaluate-every", type=int, default=0)
    parser.add_argument("--die-at", type=int, default=0)
    for name, usual_ in (("step-seconds", 0.025), ("evaluate-seconds", 0.0), ("slower", 1.5)):
        parser.add_argument(f"--{name}", type=float, default=usual_)
    Training(parser.parse_args()).run()


if __name__ == "__main__":
    main()
