"""A count and its word in Chinese, Japanese and Korean: `第 9 轮训练开始`, `エポック 3/10`. Pure."""

from __future__ import annotations

from onbox.logs.line.maxima_east import OF_EAST
from onbox.logs.line.sights import CounterSight
from onbox.regex import lazy

_CHINESE_UNITS = {"步": "step", "次": "iter", "代": "generation"}  # of all others: epoch
_NTH_IN_CHINESE = lazy(
    "第 ?(?P<current>\\d{1,9})"
    "(?: ?/ ?(?P<most>\\d{1,9})|轮 ?/ ?共 ?(?P<all>\\d{1,9}))? ?个?(?P<word>轮|輪|周期|epoch|步|次迭代|代)(?!码)"
)
_IN_THE_EAST = lazy(  # of Japan and Korea: `ステップ 3600`, `에포크 3/10`
    r"(?P<word>ステップ|エポック|에포크|에폭|스텝)\s?[:\uff1a]?\s?[\[(]?(?P<current>\d{1,12})"
    r"(?:\s?/\s?(?P<most>\d{1,12}))?(?![\d.])"
)


def read_labelled_of_east(text: str) -> list[CounterSight]:
    """`第 9 轮训练开始`: the ninth round of the training begins."""
    found = _NTH_IN_CHINESE.search(text)
    if found is None:
        found = None if text.isascii() else _IN_THE_EAST.search(text)
        if found is None:
            return []
        unit, most = OF_EAST[found["word"]], int(found["most"]) if found["most"] else None
        return [CounterSight(unit, unit, "train", int(found["current"]), most, False, "labelled-alone", measured=True)]
    unit = _CHINESE_UNITS.get(found["word"][0], "epoch")
    told = found["most"] or found["all"]
    most = int(told) if told else None
    return [CounterSight(f"nth {unit}", unit, "train", int(found["current"]), most, False, "labelled-alone")]
