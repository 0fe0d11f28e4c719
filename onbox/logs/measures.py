"""Learning rate, norm of the gradient, and how good a model is, in the words of a line. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

_VALUE = (
    r"[\"']?\)?\s{0,8}[:=|]?\s{0,8}[\"'\[(]{0,3}(?:tensor\()?"
    r"(?P<value>[-+]?(?:\d{1,18}(?:\.\d{0,30})?|\.\d{1,30})(?:e[-+]?\d{1,4})?|nan|[-+]?inf)(?![\w%])"
)
_LEARNING_RATE = lazy(rf"(?i)(?<![a-z])(?:learning[_ -]?rate|lr)(?:[-_/][a-z0-9]{{1,16}}){{0,2}}{_VALUE}")
_GRAD_NORM = lazy(
    rf"(?i)(?<![a-z])(?:grad(?:ient)?s?[_ ./-]?(?:global[_ -]?)?norm|global[_ -]grad[_ -]norm|gnorm|norm){_VALUE}"
)
_METRIC = lazy(
    r"(?i)(?<![a-z0-9])(?P<name>(?:(?:train|val|valid|validation|eval|test|dev|avg|mean|top)[_/. -]?)?"
    r"(?:acc(?:uracy)?(?:@?1)?|top[_-]?1|f1|auc|auroc|bleu|m?iou|map|dice|recall|precision)(?:[_-]?score)?)" + _VALUE
)


class Measures(NamedTuple):
    """What a line shows beside counters and loss. None: it shows none. grad_norm: `"nan"`, `"inf"` where it is no
    number.
    """

    learning_rate: float | None = None
    grad_norm: float | str | None = None
    metric: float | None = None
    metric_name: str | None = None


NOTHING = Measures()


def read_measures(text: str) -> Measures:
    """The first of each on a line."""
    lower = text.lower()
    rate = _LEARNING_RATE.search(text) if "lr" in lower or "rate" in lower else None
    norm = _GRAD_NORM.search(text) if "norm" in lower else None
    metric = _METRIC.search(text) if any(word in lower for word in _METRIC_WORDS) else None
    if rate is None and norm is None and metric is None:
        return NOTHING
    value = None if metric is None else _finite(metric["value"])
    return Measures(
        None if rate is None else _finite(rate["value"]),
        None if norm is None else _reading(norm["value"]),
        value,
        None if metric is None or value is None else metric["name"].lower().strip(),
    )


_METRIC_WORDS = ("acc", "f1", "auc", "auroc", "bleu", "iou", "map", "dice", "recall", "precision", "top")


def _reading(text: str) -> float | str:
    word = text.lower().lstrip("+")
    return word if word in ("nan", "inf", "-inf") else float(text)


def _finite(text: str) -> float | None:
    value = _reading(text)
    return None if isinstance(value, str) else value
