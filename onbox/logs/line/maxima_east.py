"""How much work there is, as a line tells it in Chinese, Japanese or Korean. Pure."""

from __future__ import annotations

from onbox.regex import lazy

OF_EAST = {"ステップ": "step", "エポック": "epoch", "에포크": "epoch", "에폭": "epoch", "스텝": "step"}
_IN_JAPANESE = lazy(
    r"(?:総|全)?(ステップ|エポック)数\s?[:\uff1a]?\s?(\d{1,12})"
    r"|총\s?(에포크|에폭|스텝)(?: 수)?\s?[:\uff1a]?\s?(\d{1,12})"
)
_IN_ALL_OF_THEM = lazy(  # `全 5000 ステップ`, `総計30エポック`, `총 20 에포크`
    r"(?:全|全部で|合計|総計|총|전체)\s?(\d{1,12})\s?(ステップ|エポック|에포크|에폭|스텝)(?!ごと|마다)"
)
_TO_LEARN = lazy(  # `30エポック学習します`, `30 에포크 동안 학습`; not what was learned already
    r"(?<!\d)(\d{1,12})\s?(ステップ|エポック|에포크|에폭|스텝)\s?(?:の|間|分|동안)?\s?(?:学習|訓練|トレーニング|학습|훈련)"
    r"(?!し(?:た|ました)|済|完了|中|\s?완료|\s?중)"
)
_OF_CHINA = {
    "轮": "epoch",
    "輪": "epoch",
    "周期": "epoch",
    "步": "step",
    "代": "generation",
    "次迭代": "iter",
    "迭代": "iter",
}
# `共 30 轮`, `总计 5000 步`; of `第 3 轮/共 40 轮` too. What is of each epoch (`每轮共 20 步`) is of a part.
_IN_ALL = lazy(
    r"(?<![每本该])(?<!每轮)(?:总共|共计|总计|共)(?:需要?)?(?:训练|訓練|迭代|运行)?\s?(\d{1,12})\s?个?\s?(轮|輪|周期|步|次迭代|代)(?!码)"
)
_SO_MANY = lazy(  # `总轮数: 30`, `训练步数 5000`, `最大迭代次数=200`
    r"(?:总|總|最大|训练|訓練|目标)\s?(?:训练|訓練)?(轮|輪|周期|步|迭代)(?:次)?数?\s?[:\uff1a=为]\s?(\d{1,12})(?![\d./%])"
)


def read_maxima_of_east(text: str) -> list[tuple[str, int]]:
    """The exact maxima by unit; none of a line without letters of these languages."""
    if text.isascii():
        return []
    maxima = []
    told = _IN_JAPANESE.search(text)
    if told:
        maxima.append((OF_EAST[told[1] or told[3]], int(told[2] or told[4])))
    for pattern in (_IN_ALL_OF_THEM, _TO_LEARN):
        maxima += [(OF_EAST[one[2]], int(one[1])) for one in pattern.finditer(text)]
    maxima += [(_OF_CHINA[one[2]], int(one[1])) for one in _IN_ALL.finditer(text)]
    maxima += [(_OF_CHINA[one[1]], int(one[2])) for one in _SO_MANY.finditer(text)]
    return maxima
