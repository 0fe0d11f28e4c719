"""The lines with which programs take leave. Pure.

One row a program: what is told of a process by whoever has run it, or the last line that a tool prints. Such a line
ends the log by itself, whatever any counter shows: there may be no other sign.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERDICT_OF_GO = "FAIL"  # behind the line of each package


class Leave(NamedTuple):
    """program: whose last line it is. form: of that line. example: such a line."""

    program: str
    form: re.Pattern[str]
    example: str
    sign: re.Pattern[str] | None = None  # of each of its lines: before the last one, whatever they say is no end


def _of(program: str, form: str, example: str, sign: str = "") -> Leave:
    return Leave(program, lazy(form, re.IGNORECASE), example, lazy(sign) if sign else None)


LEAVES = (
    _of("bwa, minimap2", r"^(?:\[main\] )?real time: \d.{0,40}\bcpu: \d", "[main] Real time: 1.2 sec; CPU: 1.1 sec"),
    _of("time -v", r"^\W*maximum resident set size\b.{0,20}\d", "Maximum resident set size (kbytes): 48120"),
    _of("time of csh", r"^\W*(?:total )?elapsed\b.{0,20}\bcpu\b.{0,20}\d", "elapsed 1:20.1 cpu 71.2"),
    _of(
        "zstd",
        r"^[^:]{1,200}: {0,4}\d{1,3}\.\d\d% {1,8}\( {0,8}[\d.]+ [kmg]?i?b => {1,8}[\d.]+ [kmg]?i?b, [^()]{1,200}\)$",
        "nums.txt             :  7.05%   (  21.8 MiB =>   1.54 MiB, n.zst)",
    ),
    _of(
        "badblocks", r"^pass completed, \d{1,12} bad blocks found", "Pass completed, 0 bad blocks found. (0/0/0 errors)"
    ),
    _of(
        "mke2fs",
        r"^writing superblocks and filesystem accounting information: .{0,80}\bdone$",
        "Writing superblocks and filesystem accounting information:  0/25     done",
    ),
    _of(
        "HiGHS",
        r"^\s{4,40}\d{1,12} \(heuristics\)$|^\s{2}LP iterations\s{1,20}\d{1,12}$",
        "                    1702 (heuristics)",
    ),
    _of(
        "FastTree",
        r"^total time: [\d.]{1,12} seconds unique: \d",
        "Total time: 20.80 seconds Unique: 40/40 Bad splits: 0/37",
    ),
    _of(
        "SentencePiece",
        r"\btrainer_interface\.cc:\d{1,6}\] saving vocabs: ",
        "trainer_interface.cc:767] Saving vocabs: m.vocab",
        r"\b(?:trainer_interface|(?:bpe|unigram|word|char)_model_trainer)\.cc:\d{1,6}\] ",
    ),
    _of(
        "npm",
        r"^(?:found 0 vulnerabilities|added \d{1,6} packages?(?:, [a-z ]{2,24}\d{1,6} packages?){0,4} in \d{1,6}m?s"
        r"|\s{0,4}run `npm (?:audit|fund)` for details\.?"
        r"|\d{1,6} (?:[a-z]{3,10} severity )?vulnerabilit(?:y|ies)(?: \([\w, ]{1,80}\))?)$",
        "found 0 vulnerabilities",
    ),
    _of(
        "docker pull",
        r"^status: (?:downloaded newer image|image is up to date) for \S{1,200}$",
        "Status: Downloaded newer image for redis:7",
    ),
    _of(
        "fio",
        r"^\s{2,8}[\w-]{2,20}: ios=\d{1,15}/\d{1,15}(?:,\d)?.{0,200}\butil=\d",
        "  vda: ios=2251/45, merge=110/34, ticks=888/118, in_queue=1024, util=2.31%",
    ),
    _of(
        "apt",
        r"^processing triggers for \S{2,80} \(\S{1,80}\) \.\.\.$",
        "Processing triggers for man-db (2.11.2-2) ...",
    ),
    _of(
        "hyperfine",
        r"^\s{2,4}range \([^()]{3,20}\):.{0,120}\s\d{1,6} runs$"
        r"|^\s{2,4}warning: (?:command took less than|the first benchmarking run|statistical outliers)",
        "  Range (min \u2026 max):   108.8 ms \u2026 188.9 ms    30 runs",
    ),
    _of("MiniZinc", r"^%%%mzn-stat-end$", "%%%mzn-stat-end"),
    _of("restic", r"^snapshot [0-9a-f]{8} saved$", "snapshot 66e74a8a saved"),
    _of(
        "openssl speed",
        r"^[\w.-]{2,40}(?:\s{1,12}\d{1,12}\.\d\dk){4,8}$",
        "sha256   151226.00k   397522.56k   971088.00k  1478963.20k",
    ),
    _of("node --test", r"^[\u2139#] duration_ms \d{1,12}(?:\.\d{1,9})?$", "\u2139 duration_ms 2387.385938"),
    _of("Kaldi", r"^%wer \d{1,3}\.\d\d \[ \d", "%WER 6.79 [ 349 / 5140, 31 ins, 40 del, 210 sub ]"),
    _of(
        "pytest",
        r"^={2,200} (?:\d{1,9} [a-z]{4,12}(?:, )?){1,8} in [\d.]{1,12}s(?: \([\d:]{1,12}\))? ={2,200}$",
        "===== 20 warnings, 4 errors in 13.34s =====",
    ),
    _of(
        "snakemake -n",
        r"^this was a dry-run \(flag -n\)\.",
        "This was a dry-run (flag -n). The order of jobs does not reflect the order of execution.",
    ),
    _of(
        "libFuzzer",
        r"^stat::peak_rss_mb: {1,20}\d{1,9}$|^info: exiting: \d{1,4} time: \d{1,12}s$",
        "stat::peak_rss_mb:              738",
    ),
    _of(
        "Horovod's benchmarks",
        r"(?:^|[\]>:] ?)total img/sec on \d{1,6} [a-z]{2,8}\(s\): \d",
        "Total img/sec on 2 GPU(s): 817.6 +-158.8",
    ),
    _of("go test", r"^(?:ok|fail)\s{1,8}\S{1,200}\s{1,8}(?:\d{1,9}\.\d{1,4}s|\(cached\))$", "FAIL\tex.com/gt\t0.110s"),
)


def goes_on(lines: Sequence[str]) -> bool:
    """Whether the last line is one of a program that has another last line."""
    signed = [leave for leave in LEAVES if leave.sign is not None and lines and leave.sign.search(lines[-1])]
    return any(not leave.form.search(lines[-1]) for leave in signed)


# What rclone draws once more when all is there; while some are left, it names them below.
_THROUGH = lazy(r"(?i)^transferred:\s{1,20}(\d{1,12}) / \1, 100%$")
_SO_LONG = lazy(r"(?i)^elapsed time:\s{1,20}[\d.hms]{2,20}$")


_SUMMED_UP = lazy(r"^Results \(\d{1,6}\.\d{1,3}s\):$")  # pytest-sugar
_OF_A_SUM = lazy(r"^\s{1,12}(?:\d{1,9} [a-z]{3,12}$|- \S)")


def ends_a_process(lines: Sequence[str]) -> bool:
    """Whether the last line is one of these."""
    if lines and _OF_A_SUM.match(lines[-1]):
        above = next((line for line in reversed(lines) if not _OF_A_SUM.match(line)), "")
        return _SUMMED_UP.match(above) is not None
    if _SO_LONG.match(lines[-1] if lines else ""):
        return any(_THROUGH.match(line) for line in lines[-3:-1])
    last = lines[:-1] if lines[-1:] == [_VERDICT_OF_GO] else lines
    return bool(last) and any(leave.form.search(last[-1]) for leave in LEAVES)
