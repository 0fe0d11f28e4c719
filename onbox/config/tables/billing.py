"""Amounts of money in onbox.toml: a price by the hour or day, and a budget. Pure."""

from __future__ import annotations

import re

from onbox.config import values
from onbox.config.fields import Unwanted
from onbox.model.boxes import DAY_SECONDS, HOUR_SECONDS, Price

_AMOUNT = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([A-Z]{3})"
_TIMES = {"h": HOUR_SECONDS, "hour": HOUR_SECONDS, "d": DAY_SECONDS, "day": DAY_SECONDS}


def price(value: object) -> Price:
    """`2.10 USD/h`. Raises Unwanted."""
    found = re.fullmatch(rf"\s*{_AMOUNT}\s*/\s*(h|hour|d|day)\s*", values.text(value))
    if found is None:
        raise Unwanted('a price such as "2.10 USD/h" or "30 EUR/day"')
    return Price(float(found[1]), found[2], _TIMES[found[3]])


def amount(value: object) -> tuple[float, str]:
    """`50 USD`. Raises Unwanted."""
    found = re.fullmatch(rf"\s*{_AMOUNT}\s*", values.text(value))
    if found is None:
        raise Unwanted('an amount such as "50 USD"')
    return float(found[1]), found[2]
