"""Loops whose whole, or whose end, is told in one more way: in another language, of the learning rate, by a share."""

from __future__ import annotations

import pytest

from tests.onbox.logs.loops import lines, read

# (log, current, exact maximum)
COUNTS: dict[str, tuple[str, float | None, int | None]] = {
    "all of them, in Japanese": (
        "開始 (全 1200 ステップ)\n" + lines("ステップ #: 損失 0.31", 100, 200, 300),
        300,
        1200,
    ),
    "all of them, in Korean": ("학습 시작, 총 24 에포크\n" + lines("에포크 #: 손실 0.31", 1, 2, 3), 3, 24),
    "many epochs, in Portuguese": ("Lote: 64\nÉpocas: 22\n" + lines("Época #\n  perda 0.31", 1, 2, 3), 3, 22),
    "many epochs, in French": ("Époques : 35\n" + lines("Époque # perte 0.31", 1, 2, 3), 3, 35),
    "over how many the learning rate falls": (
        "lr: linear decay over 640 steps\n" + lines("step # loss 0.31 lr 2e-4", 10, 20, 30),
        30,
        640,
    ),
    "fields of JSON beside each other": (
        "".join(f'{{"prompt": {at}, "of": 96, "chars": {at * 37 % 71}}}\n' for at in range(1, 20)),
        19,
        96,
    ),
    "points of thousands around a slash": (
        "".join(f"{at}.000 / 18.250 klanten bijgewerkt, {at % 3} fouten\n" for at in range(1, 8)),
        7000,
        18250,
    ),
    "the share of the whole, in brackets behind what it is of": (
        "".join(
            f"slice {at}: moved keys {at * 50 - 49}..{at * 50} ({at * 5000 / 730:.1f}% of 730)\n" for at in (1, 2, 3, 4)
        ),
        200,
        730,
    ),
    "how many are completed, and how many of these passed": (
        "".join(f"completed {at}/300 (passed {at * 2 // 5})\n" for at in range(20, 200, 20)),
        180,
        300,
    ),
    "how many of a pool are labelled, beside the round": (
        "".join(f"round {at}: labelled {at * 15}/400  loss=0.3{at}\n" for at in range(1, 13)),
        180,
        400,
    ),
    "things done, in thousands": (
        "".join(f"{at},000 pages tokenized, {at * 1.1:.1f}M tokens, 1.{at}M tok/s\n" for at in range(1, 9)),
        8000,
        None,
    ),
    "what is made, as the verb of the head calls it": (
        "sampling 500 faces at 64x64, batch 48\n" + lines("made # samples", *range(48, 400, 48)),
        384,
        500,
    ),
    "a last batch that goes beyond the end": (
        "sampling 500 faces at 64x64, batch 48\n" + lines("made # samples", *range(48, 529, 48)),
        528,
        500,
    ),
    "days that lead their lines in brackets": (
        "".join(f"[day {at:02}] sold={at * 37 % 90} mean_wait={1 + at * at % 7 / 10}min\n" for at in range(1, 13)),
        12,
        None,
    ),
}


@pytest.mark.parametrize(("log", "current", "most"), COUNTS.values(), ids=COUNTS)
def test_counts(log: str, current: float | None, most: int | None) -> None:
    seen = read(log)
    assert (seen.current, seen.exact_max) == (current, most)


ENDS = {
    "an early stop, in Russian": "".join(f"Эпоха {at}/60: ошибка=0.{at:02}\n" for at in range(1, 15))
    + "Ошибка не улучшалась 5 эпох, остановка\n",
    "an early stop, in Spanish": "".join(f"Época {at}/60: pérdida=0.{at:02}\n" for at in range(1, 15))
    + "Sin mejora en 5 épocas, deteniendo el entrenamiento\n",
    "an early stop, in German": "".join(f"Epoche {at}/60: Verlust=0.{at:02}\n" for at in range(1, 15))
    + "Keine Verbesserung seit 5 Epochen, Abbruch\n",
    "what is kept as nothing got better": lines("Boosting stage #: deviance=0.61", *range(20, 140, 20))
    + "no oob improvement for 50 stages; keeping 70 of 120 trees\n",
    "what was made is there": "Naming 6 pages in ./in\n"
    + "".join(
        f'{name}.png  -> "a {name}"  (1.{at}s)\n' for at, name in enumerate(("owl", "cat", "fog", "sea", "oak", "bee"))
    )
    + "names.csv written\n",
}


@pytest.mark.parametrize("log", ENDS.values(), ids=ENDS)
def test_ends(log: str) -> None:
    assert read(log).finished is True


@pytest.mark.parametrize(
    ("line", "current", "most"),
    [
        ("loss 1.234 / 2.345 best", None, None),
        ("warmup: linear decay over 100 steps", None, None),
    ],
)
def test_is_something_else(line: str, current: float | None, most: int | None) -> None:
    seen = read(lines(line, 1, 2, 3))
    assert (seen.current, seen.exact_max) == (current, most)


@pytest.mark.parametrize(
    "line", ["Wenn keine Verbesserung kommt: Abbruch nach 5 Epochen", "no improvement for 3 epochs"]
)
def test_it_has_not_stopped(line: str) -> None:
    assert read(lines("epoch #/60 loss 0.31", *range(1, 15)) + line + "\n").finished is False
