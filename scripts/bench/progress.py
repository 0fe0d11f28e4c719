"""How well and how fast `onbox progress` reads logs: `progress.py CORPUS_DIR [--list-wrong] [--no-speed]`.

CORPUS_DIR holds `labels.jsonl` and `tracker_labels.jsonl` (see the corpus README) and one log a case. The reader gets
the bytes of a log and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from onbox.logs.progress import ProgressReader, read_progress

if TYPE_CHECKING:
    from onbox.contract.progress import Progress

Label = dict[str, Any]
FIELDS = ("current", "exact_max", "epoch", "inner", "loss", "eta_seconds", "percent", "finished", "wandb_run")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--list-wrong", action="store_true")
    parser.add_argument("--no-speed", action="store_true")
    args = parser.parse_args()
    labels = _rows(args.corpus, "labels.jsonl")
    _report_progress(args.corpus, labels, list_wrong=args.list_wrong)
    _report_links(args.corpus, _rows(args.corpus, "tracker_labels.jsonl"), list_wrong=args.list_wrong)
    if not args.no_speed:
        _report_speed()
    return 0


def _rows(corpus: str, name: str) -> list[Label]:
    try:
        with open(os.path.join(corpus, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except FileNotFoundError:
        return []


def _bytes(corpus: str, label: Label) -> bytes:
    with open(os.path.join(corpus, label["file"]), "rb") as file:
        return file.read()


def shown(progress: Progress) -> dict[str, Any]:
    """A result in the terms of the labels."""
    return {
        "current": progress.current,
        "exact_max": progress.exact_max,
        "epoch": progress.epoch_current,
        "inner": (progress.inner_current, progress.inner_max) if progress.inner_current is not None else None,
        "loss": progress.loss,
        "eta_seconds": progress.eta_seconds,
        "percent": progress.percent,
        "finished": progress.finished,
        "wandb_run": progress.tracker_run,
    }


def wanted(label: Label, field: str) -> Any:
    if field == "epoch":
        return label["also_epoch"] and label["also_epoch"]["current"]
    if field == "inner":
        return label["inner"] and (label["inner"]["current"], label["inner"].get("max"))
    return label[field]


def is_right(label: Label, field: str, value: Any) -> bool:
    name = {"epoch": "also_epoch"}.get(field, field)
    if name in label.get("unscored", ()):
        return True
    want = wanted(label, field)
    if value == want or value in label.get("accept", {}).get(name, ()):
        return True
    if field in ("eta_seconds", "loss") and isinstance(value, int | float) and isinstance(want, int | float):
        return abs(value - want) <= max(1.0 if field == "eta_seconds" else 1e-9, 0.01 * abs(want) * (field != "loss"))
    if field == "current" and label.get("current_rounded") and value is not None and want is not None:
        return abs(float(value) - float(want)) <= 0.01 * abs(float(want))
    return False


def _report_progress(corpus: str, labels: list[Label], *, list_wrong: bool) -> None:
    right = dict.fromkeys(FIELDS, 0)
    both = naive_both = false = rounded = ends = ends_seen = ends_false = invented = wrong_max = 0
    wrong: list[str] = []
    for label in labels:
        data = _bytes(corpus, label)
        values = shown(read_progress(data))
        marks = {field: is_right(label, field, values[field]) for field in FIELDS}
        for field in FIELDS:
            right[field] += marks[field]
        both += marks["current"] and marks["exact_max"]
        false += "no-progress" in label["traps"] and not (marks["current"] and marks["exact_max"])
        most, told = label["exact_max"], values["exact_max"]
        invented += most is None and told is not None and not marks["exact_max"]
        wrong_max += most is not None and told is not None and not marks["exact_max"]
        ends += label["finished"] is True and None not in label.get("accept", {}).get("finished", ())
        ends_seen += (
            label["finished"] is True
            and values["finished"] is True
            and None not in label.get("accept", {}).get("finished", ())
        )
        ends_false += label["finished"] is False and values["finished"] is True and not marks["finished"]
        rounded += "rounded-max" in label["traps"] and values["exact_max"] is not None and not marks["exact_max"]
        naive_both += all(is_right(label, f, v) for f, v in zip(("current", "exact_max"), naive(data), strict=True))
        wrong += [
            f"{label['id']:36} {f:12} {values[f]!r:>20} want {wanted(label, f)!r}" for f in FIELDS if not marks[f]
        ]
    count = max(1, len(labels))
    print(f"cases {len(labels)}")
    for field in FIELDS:
        print(f"  {field:12} {right[field]:4} {100 * right[field] / count:5.1f} %")
    print(f"current and exact_max both right  {both:4} {100 * both / count:5.1f} %")
    print(f"naive (last N/M), both right      {naive_both:4} {100 * naive_both / count:5.1f} %")
    print(f"a maximum where none is exact {invented}, a wrong one {wrong_max}")
    print(f"finished seen in {ends_seen} of {ends}, said of a run that is not {ends_false}")
    print(f"false progress in no-progress cases {false}, rounded shown as exact {rounded}")
    if list_wrong:
        print("\n".join(wrong))


def naive(data: bytes) -> tuple[int | None, int | None]:
    """The baseline: the last N/M in the file."""
    found = re.findall(rb"(\d+)\s*/\s*(\d+)", data)
    return (int(found[-1][0]), int(found[-1][1])) if found else (None, None)


def _report_links(corpus: str, labels: list[Label], *, list_wrong: bool) -> None:
    fields = ("run_id", "run_url", "project_url", "run_name", "offline_dir")
    right = 0
    for label in labels:
        reader = ProgressReader()
        reader.feed(_bytes(corpus, label))
        links = reader.links()
        wrong = [(f, links[f], label[f]) for f in fields if links[f] != label[f]]
        wrong = [item for item in wrong if item[0] not in label.get("unscored", ())]
        right += not wrong
        if wrong and list_wrong:
            print(label["id"], wrong)
    print(f"tracker files all fields right {right}/{len(labels)}")


def _report_speed() -> None:
    line = (
        b"2026-11-21 03:15:01,658 INFO worker.py: reading part of the data set from the cache, took 0.31 s, 17 rows\n"
    )
    bars = b"".join(
        b"\r%3d%%|#####     | %d/100000 [1:51:40<20:02:03,  3.28s/it, loss=1.84]" % (n // 1000, n)
        for n in range(100000)
    )
    for name, piece in (
        ("plain", line),
        ("tqdm", bars + b"\n"),
        ("steps", b"step 1200/20000 loss 2.310 lr 3e-4 gnorm 0.9\n"),
    ):
        data = (piece * ((64 << 20) // len(piece) + 1))[: (64 << 20) if name != "steps" else (8 << 20)]
        began = time.perf_counter()
        read_progress(data)
        print(f"{name:6} {len(data) / 1e6 / (time.perf_counter() - began):7.0f} MB/s")


if __name__ == "__main__":
    sys.exit(main())
