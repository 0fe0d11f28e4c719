"""Lines whose first column is the counter, without a word beside it: boosting libraries. Pure."""

from __future__ import annotations

import math
import re

from onbox.logs.line.numbers import parse_clock, parse_count
from onbox.logs.line.remarks import read_loss
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

PREFIX_LIMIT = 120  # characters
_BOOST = lazy(
    r"^(?:\[[\d:. -]+\]\s*)?\[(\d{1,18})\]\s+"
    r"(?=[^\s:]{0,80}?(?:train|valid|eval|test|learn))[^\s:]{4,120}(?: [ \w@.-]{0,80})?:\s?\S"
)
_BOOST_NAMED = lazy(r"^\[(\d{1,18})\](?:\s+[\w.]{1,40}-[\w@.]{1,40}:(-?[\d.]+(?:e-?\d+)?)(?:\+[\d.]+)?)+$")
_CATBOOST = lazy(r"^(\d{1,18}):\s+(?:learn: (\S+)|test|total)")
_TAGGED = lazy(r"^\s*(\d{1,18})[\s,|]+train[\s,|]+(-?\d+\.\d+(?:e-?\d+)?)\s*$", re.IGNORECASE)
_LEADING_LOSS = lazy(
    r"^(?:.{0,80}?(?:\]|INFO)[: ]\s{0,4})?\s*(\d{1,18})\s{0,20}[|,:\t]\s{0,20}"
    r"(?:(?:train(?:ing)?[ _]?)?loss[\s:=]+(-?\d+\.\d+(?:e-?\d+)?)"
    r"|(-?\d+\.\d+), -?\d+\.\d+ avg(?![a-z])|-?\d+\.\d+,? .{0,40}?loss)",
    re.IGNORECASE,
)
_PLAIN_LOSS = lazy(
    r"\s{0,12}(?:\[[A-Za-z][A-Za-z _-]{0,20}\]\s{1,4})?(\d{1,12})\s{1,8}(?:train )?loss[\s:=]{1,4}(-?\d{1,9}\.\d{1,12})"
)
_LEADING_NAMED = lazy(
    r"^(?:\[\s{0,12}(\d{1,3}(?:,\d{3}){1,4}|\d{1,18})\]|<\s{0,12}(\d{1,18})>)\s{0,4}[|:,]?\s{1,4}"
    r"(?:[a-z_]{2,20}=[a-z_]{2,20},?\s{1,3})?[A-Za-z][\w/.-]{1,60}(?:\s{1,4}|:\s?|\s?=\s?)-?\d{1,18}\.\d"
)
_LEADING_SHARE = lazy(r"^\s*(\d{1,18}) \(\d+(?:\.\d+)?%\)\s{2,}\S")
_CHAINS = lazy(r"^\s*(\d{1,18}) -- (?:\* )?[\[(]-?\d.* -- (\d{1,9}:\d\d:\d\d)$")  # MrBayes
_ENCODED = lazy(r"^frame=\s{0,8}(\d{1,12}) fps=\s{0,8}[\d.]{1,12} q=")  # ffmpeg
_IONIC = lazy(r"^\s{1,4}(\d{1,6}) F= ?-?\.\d+E[+-]\d+ E0= ")  # VASP
# PyMC: a bar, draws, divergences, step size, gradient evaluations, speed
_DRAWS = lazy(
    r"\s{0,8}[\u2501\u2578\u257a\u2500]{3,60}\s{1,8}(\d{1,9})\s{1,20}\d{1,9}\s{1,20}\d{1,6}\.\d{1,6}\s{1,20}\d{1,6}\s"
)
_ENERGY = lazy(r"ENERGY:\s{1,12}(\d{1,12})\s{1,20}-?\d{1,12}\.\d{1,6}\s")  # NAMD
_METER = lazy(
    r"ProgressMeter -\s{1,40}\S{1,80}:\d{1,12}\s{1,40}[\d.]{1,12}\s{1,40}(\d{1,15})\s{1,40}[\d.]{1,15}$"
)  # GATK
_TAP = lazy(r"^(?:not )?ok (\d{1,9})(?: |$)")  # of the Test Anything Protocol; those that are indented are parts
_FUZZED = lazy(r"#(\d{1,15})(?::|\t[A-Za-z]{3,8}) {1,4}cov: \d")  # libFuzzer: inputs tried
_LOGGER = lazy(r"(?:DEBUG|INFO):[\w.]{1,40}:\s?")
_BEHIND_A_PREFIX = lazy(r"(?:\]|: | - |INFO)\s{0,4}[\[<]\s{0,12}\d")
_RSYNC = lazy(r"^\s*([\d,]{1,24}|\d{1,4}\.\d\d[KMGT])\s+\d+%\s+[\d.]+[kMGT]?B/s\s+[\d:]+")
_REMAINING = lazy(r"remaining: (.+)$")
_TRAIN_METRIC = lazy(r"train\S{0,40}?[a-z0-9]:\s?(-?[\d.]{1,24}(?:e-?\d{1,4})?|[-+]?(?:nan|inf)\b)")


class BareRow(NamedTuple):
    """A row's counter. loss, eta: None if the row has none; a loss of `"nan"` is not a number. bare: it is a counter
    only if it goes on.
    """

    key: str
    unit: str
    current: int
    rule: str
    loss: float | str | None
    eta: float | None
    bare: bool = False


def read_row(text: str) -> BareRow | None:
    """`175:<tab>learn: 0.30<tab>...remaining: 2.29s`, `[10]<tab>train-rmse:0.5`; None for any other line."""
    of_tool = _of_tool(text)
    if of_tool is not None:
        return of_tool
    tagged = _TAGGED.match(text) if "train" in text else None
    if tagged:
        return BareRow("step", "step", int(tagged[1]), "tagged", _float(tagged[2]), None)
    leading = _LEADING_LOSS.match(text) if "oss" in text or " avg" in text else None
    if leading:
        loss = _float(leading[2] or leading[3])
        return BareRow("step", "step", int(leading[1]), "leading", loss, None, bare=leading[3] is None)
    plain = _PLAIN_LOSS.match(text) if "loss" in text else None
    if plain:
        return BareRow("step", "step", int(plain[1]), "leading", _float(plain[2]), None, bare=True)
    share = _LEADING_SHARE.match(text) if "%)  " in text else None
    if share:
        return BareRow("step", "step", int(share[1]), "leading-share", None, None, bare=True)
    text = _said(text)
    chains = _CHAINS.match(text) if " -- " in text else None
    if chains:
        return BareRow("generation", "generation", int(chains[1]), "chains", None, parse_clock(chains[2]))
    if not text[:1].isdigit() and text[:1] not in ("[", "<"):
        return None
    found = _CATBOOST.match(text)
    if found:
        eta = _REMAINING.search(text)
        return BareRow(
            "round", "round", int(found[1]), "catboost", _float(found[2]), parse_clock(eta[1]) if eta else None
        )
    found = _BOOST.match(text) or _BOOST_NAMED.match(text)
    if found:
        metric = _TRAIN_METRIC.search(text)
        return BareRow("round", "round", int(found[1]), "boosting", _float(metric[1]) if metric else None, None)
    named = _LEADING_NAMED.match(text)
    if named:
        return BareRow(
            "step", "step", int((named[1] or named[2]).replace(",", "")), "leading", read_loss(text), None, bare=True
        )
    return None


def _of_tool(text: str) -> BareRow | None:
    """What rsync, ffmpeg, VASP, PyMC, NAMD, GATK, libFuzzer and the Test Anything Protocol show."""
    moved = _RSYNC.match(text) if "B/s" in text else None
    if moved:
        return BareRow("byte", "byte", int(parse_count(moved[1]).value), "rsync", None, None)
    encoded = _ENCODED.match(text) if text.startswith("frame=") else None
    if encoded:
        return BareRow("frame", "frame", int(encoded[1]), "encoded", None, None)
    drawn = _DRAWS.match(text) if "\u2501" in text else None
    if drawn:
        return BareRow("draw", "draw", int(drawn[1]), "table", None, None)
    met = _METER.search(text) if "ProgressMeter -" in text else None
    if met:
        return BareRow("done", "item", int(met[1]), "meter", None, None)
    energies = _ENERGY.match(text) if text.startswith("ENERGY:") else None
    if energies:
        return BareRow("step", "step", int(energies[1]), "table", None, None)
    ionic = _IONIC.match(text) if " F= " in text else None
    if ionic:
        return BareRow("step", "step", int(ionic[1]), "leading-share", None, None)
    fuzzed = _FUZZED.match(text) if "cov: " in text else None
    if fuzzed:
        return BareRow("done input", "item", int(fuzzed[1]), "meter", None, None)
    test = _TAP.match(text) if "ok " in text[:7] else None
    return BareRow("test", "test", int(test[1]), "tap", None, None, bare=True) if test else None


def _said(text: str) -> str:
    """A line without what a logger writes before it, where a row may stand behind that."""
    prefix = _LOGGER.match(text)
    if prefix:
        return text[prefix.end() :]
    return message(text).text if _BEHIND_A_PREFIX.search(text[:PREFIX_LIMIT]) else text


def _float(text: str | None) -> float | str | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return "nan" if value is not None and math.isnan(value) else value
