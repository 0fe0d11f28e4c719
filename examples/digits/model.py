"""A network of two hidden layers with momentum, in plain numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

SIZES = (64, 256, 128, 10)
MOMENTUM = 0.9


class Network:
    """Weights and their velocities. Images are rows of 64 numbers between 0 and 1, labels whole numbers 0-9."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        pairs = list(itertools.pairwise(SIZES))
        self.weights: list[Any] = [rng.normal(0, np.sqrt(2 / fan_in), (fan_in, out)) for fan_in, out in pairs]
        self.weights += [np.zeros(out) for _, out in pairs]
        self.velocity: list[Any] = [np.zeros_like(weight) for weight in self.weights]

    def _forward(self, images: Any) -> list[Any]:
        layers = [images]
        for index in range(3):
            out = layers[-1] @ self.weights[index] + self.weights[index + 3]
            layers.append(np.maximum(out, 0) if index < 2 else out)
        return layers

    def predict(self, images: Any) -> Any:
        return self._forward(images)[-1].argmax(axis=1)

    def step(self, images: Any, labels: Any, rate: float) -> float:
        """One step of gradient descent; the batch's mean cross entropy before it."""
        layers = self._forward(images)
        shifted = layers[-1] - layers[-1].max(axis=1, keepdims=True)
        probabilities = np.exp(shifted)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = float(-np.log(probabilities[rows, labels] + 1e-12).mean())
        delta = probabilities
        delta[rows, labels] -= 1
        delta /= len(labels)
        for index in reversed(range(3)):
            gradients = {index: layers[index].T @ delta, index + 3: delta.sum(axis=0)}
            delta = (delta @ self.weights[index].T) * (layers[index] > 0)
            for place, gradient in gradients.items():
                self.velocity[place] = MOMENTUM * self.velocity[place] - rate * gradient
                self.weights[place] += self.velocity[place]
        return loss

    def state(self) -> dict[str, Any]:
        return {f"{kind}{i}": array for kind in ("weights", "velocity") for i, array in enumerate(getattr(self, kind))}

    def load(self, state: dict[str, Any]) -> None:
        for kind in ("weights", "velocity"):
            setattr(self, kind, [state[f"{kind}{i}"].copy() for i in range(6)])


def accuracy(predicted: Any, labels: Any) -> float:
    return float((predicted == labels).mean())
