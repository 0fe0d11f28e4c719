"""What a word before a number is: a counter, a maximum, or neither. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.line.settings import is_among_settings, is_in_list
from onbox.logs.line.words import (
    ANY_WORD,
    BATCHES,
    COUNTER_LABELS,
    LEADS_UP_TO,
    LONE_UNITS,
    LONE_WORDS,
    MAXIMUM,
    MAXIMUM_WORDS,
    NOT_A_COUNTER,
    PLURALS,
    SELDOM_UNITS,
    TRAINING_WORDS,
    UNITS,
    WEAK_WORDS,
)
from onbox.logs.model.lines import message
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

_BEFORE = lazy(
    r"(?:(?<![A-Za-z])[A-Za-z]+(?:\.? |[_./*-]|$)){1,4}$"
)  # no word is split: that took most of a line's time
_TAG = lazy(  # `[FT] Ep 016 | Loss 0.61`, `[Fold 3 Ep 012] loss=0.1`
    r"\s*(?:\[[A-Za-z][\w ./-]{0,24}\][\s:-]*"
    r"|[\[(]?(?i:fold|seed|run|trial|chain|cv|split|client|task) ?#?\d{1,4}[\s,|:/-]{1,3})?"
)
_MANY = frozenset(
    word for word, unit in UNITS.items() if word.endswith("s") and word != "pass" and unit in LONE_UNITS | SELDOM_UNITS
)
_JOINED = lazy(r"(?:(?<![A-Za-z])[A-Za-z]+_){1,4}$")
_BOUNDS = (["start", "of"], ["beginning", "of"], ["end", "of"])
_ASIDE = NOT_A_COUNTER | MAXIMUM
_MUST_LEAD = PLURALS | {"it", "up", "ep", "gen"} | {word for word, unit in UNITS.items() if unit in SELDOM_UNITS}
_ONE_AND_MANY = lazy(
    r"(?i)(?<![a-z_])([a-z]{3,12})[\"']?\s?[:=]\s?\d+(?![\d.]).{1,60}?(?<![a-z_])([a-z]{3,12}s)[\"']?\s?[:=]"
)
_NUMBERED = lazy(r"(?i)[ _](?:no|nr|number|num)\b")  # `Img No. 9900`
_TRAINS = lazy(r"(?i)(?<![a-z])train(?:ing)?[ _]$")
_SIZE_OF_BATCH = lazy(r"(?i)(?<![a-z])batch[ _-]?size(?![a-z])")
_MEASURED = lazy(r"(?<!\d)[:=]\s*[-+]?\d|\d\.\d|\d\s?%|\bnan\b|\binf\b")


def _leads(text: str, at: int) -> bool:
    """Whether nothing stands before, but for signs and what a logger writes."""
    if not any(map(str.isalnum, text[:at])):
        return True
    begins = len(text) - len(message(text).text)
    return begins <= at and _TAG.fullmatch(text[begins:at]) is not None


def role_in_line(text: str, named: re.Match[str], match: re.Match[str], before: str) -> str:
    """As `_role`, with what else the line shows. named: the word."""
    word = named[0].lower()
    leads = word in _MUST_LEAD and _leads(text, named.start())
    if match["max"] is None and not before.endswith("_") and _stands_beside_its_count(text, word):
        return "maximum"
    if match["max"] is None and LEADS_UP_TO.search(before):
        return "maximum"
    if match["max"] is None and _TRAINS.search(before) and _SIZE_OF_BATCH.search(text) and "oss" not in text:
        return "maximum"  # `batch size: 500, training epoch: 30`
    if word == "gs":
        return "counter" if match["sep"].strip() else ""
    words = _label_words(before)
    if match["max"] is None and before.lower().endswith(("num_", "n_")) and is_among_settings(text):
        return "maximum"
    joined = _JOINED.search(before)
    role = _role(words, word, match, leads=leads, joined=joined[0].count("_") if joined else 0)
    if role == "maximum" or match["max"] is not None:
        return role
    if not {*words[-3:]} & _ASIDE and word in _MANY and is_in_list(text, match):
        return "counter"  # a setting, unless it goes on
    return role or ("counter" if leads and _is_plural_counter(text, word, match) else "")


def _is_plural_counter(text: str, word: str, match: re.Match[str]) -> bool:
    """`Epochs   16. Current error: 0.00652`: it begins the line, and something is measured beside it."""
    return word in PLURALS and not match["sep"].strip() and is_measured(text, match, "")


def _stands_beside_its_count(text: str, word: str) -> bool:
    """`"batch": 4, "batches": 49`: which one, and how many there are."""
    return any(
        many.lower() == word and one.lower() in (many.lower()[:-1], many.lower()[:-2])
        for one, many in _ONE_AND_MANY.findall(text)
    )


def _label_words(before: str) -> list[str]:
    found = _BEFORE.search(before)
    return [word.lower() for word in ANY_WORD.findall(found[0])] if found else []


def _role(words: list[str], unit: str, match: re.Match[str], *, leads: bool, joined: int = 0) -> str:
    """counter, maximum, or nothing. unit: the word as it stands there. leads: it begins the line. joined: so many of
    the words belong to it (`max_iter`).
    """
    if unit in MAXIMUM_WORDS:
        return "maximum" if match["max"] is None else ""
    label = "_".join([*words[-1:], unit])
    near = words[:-2][-1:] if words[-2:] in _BOUNDS else words[-3:]  # `Start of epoch 5`
    if joined and near[-1:] in (["max"], ["total"], ["num"]):
        near = near[-joined:]  # `SOLVER: MAX_ITER: 9000`
    if near[-1:] == ["global"] and near[-2:-1] in (["train"], ["training"]):
        near = near[-1:]  # `training/global_step`: the counter in a group of metrics
    if match["max"] is not None:
        refused = any(
            word in NOT_A_COUNTER and word not in ("val", "validation", "eval", "start") for word in near[-2:]
        )
        return "" if refused or match["max"] == "?" else "counter"
    if label in COUNTER_LABELS:
        return "counter"
    if any(word in NOT_A_COUNTER for word in near):
        return ""
    if any(word in MAXIMUM and (word not in TRAINING_WORDS or unit.endswith("s")) for word in near):
        most = "max" in near or "maximum" in near  # in a cell, `total_timesteps | 20480` is how many by now
        return "maximum" if most or "|" not in match["sep"] else "counter"
    if unit in PLURALS or (unit.endswith("s") and unit != "pass" and "=" in match["sep"]):
        return "maximum" if match["sep"].strip() or near[-1:] == ["for"] else ""
    if unit in ("it", "up", "ep", "gen") and not match["sep"].strip() and not match[0].startswith(".") and not leads:
        return ""
    if unit in SELDOM_UNITS and (leads or "=" not in match["sep"]) and words[-1:] != ["time"]:
        return "counter"
    if unit in WEAK_WORDS and (match["sep"].strip() or _NUMBERED.match(match[0])):
        return "counter"
    return "counter" if unit in LONE_WORDS or unit in BATCHES else ""


def is_measured(text: str, match: re.Match[str], before: str) -> bool:
    """Whether other numbers with a meaning stand beside a counter: a loss, a rate."""
    return bool(_MEASURED.search(f"{before} {text[match.end() :]}"))
