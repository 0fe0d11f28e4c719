"""Learn anew what single lines say (`onbox/triage/wording/sentence_weights.txt`): how strongly each word, and pair of
words, speaks for a failure and for each class.

    python scripts/learn_sentences.py SOURCE... --encoder FOLDER

A SOURCE is `scripts/sentences.tsv` or another such file: in a line the class of the failure that a line of a log tells
of ("unknown" for none in particular, "success_healthy"), a tab, and the line. Or it holds logs: `tests/cases/triage`, a
folder with `labels.jsonl` (as the bench of triage reads it), or a file `*.jsonl` of `{"text", "class", "state",
"cause_line"}`. Of these the line that proves the class is taken; the last lines of healthy ones, and what stands behind
such a line, are learned from as well. The table that is shipped was learned from the first two and from 3,900 ends of
logs that are not kept here.

Logistic regression over words, pairs of words and the vectors of the words, each encoded alone (FOLDER: a sentence
encoder as Hugging Face's `transformers` loads it, such as all-MiniLM-L6-v2). As all of it is linear, a word's weight
and that of its vector are one number in the table: words that no sentence holds are read as well. Needs torch and
transformers; takes minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onbox.triage.classify import FRESH_SECONDS, classify
from onbox.triage.evidence import Evidence
from onbox.triage.wording.lettered import BIAS
from onbox.triage.wording.sentence import ILL, SENTENCES, UNKNOWN, grams_of
from onbox.triage.wording.words import plain_words
from scripts.labelled import HEALTHY, STALLED, cases_in, holds_cases, json_lines, labels_in, read_log
from scripts.regression import write_lettered

STRENGTH, CLASS_STRENGTH = 1.0, 3.0
WORDS_COUNT, VECTORS_COUNT = 3.0, 3.0  # how far words, and their vectors, count beside each other
LAST = 8  # lines of a log
LEAST_SENTENCES = 2  # a word in fewer has the weight of its vector alone
LEAST_WEIGHT, LEAST_CLASS_WEIGHT = 0.5, 1.2  # log-odds: less is left out
ENCODED_AT_ONCE = 256
COMMON = 6_000  # tokens of an encoder's vocabulary, which has the commonest first: of rarer words, those that were met
_WORD = re.compile(r"[a-z]{2,20}")


class Sentence(NamedTuple):
    """A line of a log. failure_class: also `HEALTHY`, and `sentence.UNKNOWN`. tells: it tells the class; else it stands
    behind a line that does, and speaks of a failure or of nothing.
    """

    text: str
    failure_class: str
    tells: bool = True


class Vectors(NamedTuple):
    """at: the row of each word. rows: their vectors, of length 1."""

    at: dict[str, int]
    rows: np.ndarray


def main() -> None:
    """Read the sentences, learn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--encoder", required=True)
    asked = parser.parse_args()
    told = [one for path in asked.files for one in read(path)]
    vectors = encode({word for one in told for word in plain_words(one.text)}, asked.encoder)
    write_lettered(SENTENCES, learn(told, vectors), f"{len(told)} labelled lines by scripts/learn_sentences.py")


def read(path: str) -> list[Sentence]:
    """The sentences of a file, or those that tell in labelled logs."""
    if path.endswith(".tsv"):
        with open(path, encoding="utf-8") as file:
            lines = [line.rstrip("\n").partition("\t") for line in file if not line.startswith("#")]
        return [Sentence(text, name) for name, _, text in lines]
    if holds_cases(path):
        return read_cases(path)
    if os.path.isdir(path):
        return read_logs(path)
    return [one for entry in json_lines(path) for one in _of_end(entry)]


def read_cases(path: str) -> list[Sentence]:
    """Of the logs of the tests: the line that triage shows, if its class is right; the last two of healthy ones."""
    found = []
    for name, classes, _ in cases_in(path):
        log = read_log(path, name)
        verdict = classify(log, Evidence(log_age_seconds=FRESH_SECONDS))
        if verdict.failure_class not in classes:
            continue
        lines = [line for line in _lines_of(log) if line.strip()]
        told = lines[-2:] if verdict.failure_class == HEALTHY else [verdict.line or ""]
        found += [Sentence(line, verdict.failure_class) for line in told]
    return found


def read_logs(path: str) -> list[Sentence]:
    """Of a folder of logs with `labels.jsonl`."""
    labels = [label for label in labels_in(path) if label["state"] != STALLED]
    texts = ["\n".join(_lines_of(read_log(path, label["file"]))) for label in labels]
    return [one for label, text in zip(labels, texts, strict=True) for one in _of_end({**label, "text": text})]


def _lines_of(log: bytes) -> list[str]:
    return log.decode(errors="replace").splitlines()


def _of_end(entry: dict[str, str]) -> list[Sentence]:
    lines = [line for line in entry["text"].split("\n") if line.strip()][-LAST:]
    if entry["class"] == HEALTHY:
        return [Sentence(line, HEALTHY) for line in lines]
    cause = entry["cause_line"].strip()
    at = next((at for at, line in enumerate(lines) if line.strip() == cause), -1)
    return [Sentence(cause, entry["class"]), *(Sentence(line, UNKNOWN, tells=False) for line in lines[at + 1 :])]


def encode(words: set[str], encoder: str) -> Vectors:
    """The vectors of the words, and of the commonest that the encoder knows, without what all of them share."""
    import torch  # type: ignore[import-not-found]  # noqa: PLC0415 - large, and needed here only
    from transformers import AutoModel, AutoTokenizer  # type: ignore[import-not-found]  # noqa: PLC0415

    tokenizer, model = AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder).eval()
    common = {token for token, at in tokenizer.get_vocab().items() if at < COMMON}
    known = sorted(word for word in words | common if _WORD.fullmatch(word))
    found = []
    with torch.no_grad():
        for begin in range(0, len(known), ENCODED_AT_ONCE):
            batch = tokenizer(known[begin : begin + ENCODED_AT_ONCE], return_tensors="pt", padding=True)
            mask = batch["attention_mask"][..., None]
            found.append((model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1))
    rows = torch.cat(found).numpy()
    rows -= rows.mean(0)
    return Vectors({word: at for at, word in enumerate(known)}, rows / np.linalg.norm(rows, axis=1, keepdims=True))


def learn(told: list[Sentence], vectors: Vectors) -> dict[str, dict[str, float]]:
    """The table: for each word and pair of words, its weights."""
    counts = Counter(gram for one in told for gram in grams_of(plain_words(one.text)))
    known = {gram: at for at, gram in enumerate(sorted(gram for gram, n in counts.items() if n >= LEAST_SENTENCES))}
    met = _features(told, known, vectors)
    ill = LogisticRegression(C=STRENGTH, max_iter=500, class_weight="balanced")
    ill.fit(met, [one.failure_class != HEALTHY for one in told])
    classed = [at for at, one in enumerate(told) if one.failure_class != HEALTHY and one.tells]
    classes = LogisticRegression(C=CLASS_STRENGTH, max_iter=300, class_weight="balanced")
    classes.fit(met[classed], [told[at].failure_class for at in classed])
    names = [ILL, *classes.classes_]
    weights = np.vstack([ill.coef_, classes.coef_])
    biases = [ill.intercept_[0], *classes.intercept_]
    table = {BIAS: {name: round(float(one), 2) for name, one in zip(names, biases, strict=True)}}
    least = dict.fromkeys(names, LEAST_CLASS_WEIGHT) | {ILL: LEAST_WEIGHT}
    by_vector = VECTORS_COUNT * vectors.rows @ weights[:, len(known) :].T
    for gram in sorted({*known, *vectors.at}):
        row = np.zeros(len(names))
        if gram in known:
            row += WORDS_COUNT * weights[:, known[gram]]
        if gram in vectors.at:
            row += by_vector[vectors.at[gram]]
        kept = {name: round(float(one), 1) for name, one in zip(names, row, strict=True) if abs(one) >= least[name]}
        if kept:
            table[gram] = kept
    return table


def _features(told: list[Sentence], known: dict[str, int], vectors: Vectors) -> csr_matrix:
    """A row for each sentence: its words and pairs that are known, and the sum of the vectors of its words."""
    rows, columns, values = [], [], []
    sums = np.zeros((len(told), vectors.rows.shape[1]))
    for at, one in enumerate(told):
        words = plain_words(one.text)
        share = 1 / math.sqrt(max(1, len(set(words))))
        grams = [known[gram] for gram in grams_of(words) if gram in known]
        rows += [at] * len(grams)
        columns += grams
        values += [share * WORDS_COUNT] * len(grams)
        encoded = [vectors.at[word] for word in dict.fromkeys(words) if word in vectors.at]
        sums[at] = vectors.rows[encoded].sum(0) * share * VECTORS_COUNT
    return hstack([csr_matrix((values, (rows, columns)), shape=(len(told), len(known))), sums]).tocsr()


if __name__ == "__main__":
    main()
