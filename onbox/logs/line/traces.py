"""Which lines of a log are worth reading: those with a trace of a counter, a loss, a start or an end. Pure.

Most lines show nothing, so they are told apart without a regular expression: small letters, every digit a 0, and then a
search for any of some dozen traces. Traces that a block of new lines has nowhere are not looked for in each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Collection

FOLD = bytes(ord("0") if 48 <= c <= 57 else c + 32 if 65 <= c <= 90 else c for c in range(256))
_KNOWN_BYTES = 1 << 21

_OF_A_FRACTION = (
    "0/0", "0m/0", "0k/0", "0s/0", "0 / 0", ") / 0", "0/ ", " /  ", " of 0", "(of 0", "0 of ", " von 0", "of [0",
    " over 0", "0%", "0 %", ",[0", "0 -- ", "0> ", "(xfr#", "|   ", "#  ", "]\t", "/s]", "-of-0", "\"of\": 0",
    "\"of\":0",
)  # fmt: skip
# Without their first letter where it may be a capital of another script.
_OF_A_COUNT = (
    "epoch", "step", "iter", "itmax", "maxit", "it 0", " ite 0", "ep 0", "ep  ", "e0 s0", "e0 it ", "e00 it ", "0 i0",
    "[e:",
    "upd", "tick", "round", "trial", "episode", "gen\t", "gen ", "gen=", "gens", "gera", "genera", "cycle", "sweep",
    "draw", "batch", "tree", "estimators", "queue", "frame 0", "frame=", "fra:", "image 0", "img", "document 0",
    "record 0", "chunk 0", "item 0", "game 0", "sampl", "nstlim", "increment ", "progressmeter -", "[hydra]",
    "\u2501  ", "state\t", " f= ", " cov: 0",
    "requested", "total", "_cycle(0", "_tune(0", "energy:  ", "left: ",
    "length: ", " copied", "schritt", "durchlauf", "pas ", "anzahl", "nombre ", "mero de ", "paso ", "passo ", "tape",
    "poca", "ep0",
    "poque", "ération", "пох", "шаг", "терация", "околение", "第", "共",
    "轮数", "步数", "迭代", "ステップ", "エポック", "에포크", "에폭", "스텝",
)  # fmt: skip
_OF_WORK_DONE = (
    "ing 0", "ed 0", "wrote 0", "done", "built 0", "seen", "solved", "handled", "visited", "scored", "consumed",
    "fitted",
    "after 0", "processing ", "processed", "s read", "s parsed", "s scanned", "s written", "s indexed", "s inserted",
    "s imported", "s exported", "s converted", "s simulated", "s translated", "s embedded", "s rendered", "s crawled",
    "s fetched", "s ingested", "s aligned", "s annotated", "s extracted", "s analy", "s tokeni",
    "s download", "s upload", "s copied", "s hashed", "s checked", "s label", "s classified",
)  # fmt: skip
_OF_A_VALUE = (
    "loss", "eta", "remain", "elapsed", " avg, ", "rate:", "learn:", "patience",
)  # fmt: skip
_OF_A_TURN = (
    "train", "start", "launch", "run", "resum", "attempt", "complet", "finish", "stop", "converg", "parada ", "arrêt ",
    "vorzeitig ", "\"end", "state: ", "exit", "rc=0", " signal ", "exceeded", "end of ", "terminat", "traceback",
    "exception", "error", "killed", "sigterm", "preempt", "out of mem", "evaluat", "validat", "testing", "test set",
    "predict", " up. ", "完成", "结束", "結束", "完了", "완료", "종료",
)  # fmt: skip
_OF_A_TRACKER = (
    "://", "task id=", "offline", "trackio", " utc 0000",
)  # fmt: skip
_TRACES = tuple(
    trace.encode()
    for trace in (*_OF_A_FRACTION, *_OF_A_COUNT, *_OF_WORK_DONE, *_OF_A_VALUE, *_OF_A_TURN, *_OF_A_TRACKER)
)
_REPETITIONS = (  # that a heading names, with their number
    b"config", b"configuration", b"candidate", b"member", b"variant", b"subject", b"scenario", b"setting",
    b"combination", b"experiment", b"replicate", b"repeat", b"repetition", b"split", b"bootstrap", b"dataset",
    b"experience",
)  # fmt: skip
_BEGINNINGS = (  # of a whole line
    b"ok 0", b"not ok 0", b"0..0", b"time = 0", b"increment", b"e0", b"ite 0", b"ite:",
    b"task 0", b"seed 0", b"fold 0", b"model 0", b"== ", b"=== ", b"--- ", b"### ",
    *(word + sign for word in _REPETITIONS for sign in (b" 0", b" #0")),
)  # fmt: skip
_NUMBERED = lazy(rb"\[[ 0]{1,18}\] {1,4}[a-z]")  # `[00100] xent 3.2`


class Traces:
    """Judges folded lines, and remembers what it said of each, as long as that is not too much."""

    def __init__(self) -> None:
        self._known: dict[bytes, bool] = {}
        self._bytes = 0  # of what is known, roughly

    def look(self, folds: Collection[bytes]) -> dict[bytes, bool]:
        """Whether each of these folded lines shows a trace. The answer holds others as well."""
        if self._bytes > _KNOWN_BYTES:
            self._known.clear()
            self._bytes = 0
        known = self._known
        new = [folded for folded in set(folds) if folded not in known]
        text = b"\n".join(new)
        self._bytes += len(text) + 100 * len(new)
        traces = [trace for trace in _TRACES if trace in text]
        for folded in new:
            known[folded] = _begins(folded) or any(trace in folded for trace in traces)
        return known


def _begins(folded: bytes) -> bool:
    """Whether a line's beginning is a trace."""
    if folded.startswith(_BEGINNINGS):
        return True
    return folded[:1] == b"[" and _NUMBERED.match(folded) is not None
