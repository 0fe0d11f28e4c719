"""Tables that grow by a row a step: a head that names the counter, then numbers. Pure."""

from __future__ import annotations

import re

from onbox.logs.line.numbers import parse_clock, parse_count
from onbox.logs.line.sights import CounterSight, SeenOnLine
from onbox.logs.model.lines import message
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

# A column's name -> what it counts. `E` and `#` are spaCy's.
COLUMNS = {
    "epoch": "epoch", "ep": "epoch", "e": "epoch", "#": "step", "step": "step", "steps": "step", "iter": "iter",
    "iteration": "iter", "it": "iter", "niter": "iter", "round": "round", "trial": "trial",
    "tree": "round", "time step": "step", "gen": "generation", "generation": "generation", "episode": "episode",
    "update": "update", "counter": "sample", "state": "step", "cycle": "cycle", "sweep": "sweep", "draw": "draw",
    "epoche": "epoch", "epoca": "epoch", "época": "epoch", "époque": "epoch", "schritt": "step",
    "paso": "step", "passo": "step", "simulated time": "time",
}  # fmt: skip
TOTALS = frozenset({"total", "of", "max", "von", "sur", "de", "di", "van"})  # behind the counter
NUMBERS_SHARE = 0.6  # of the cells of a row
FEWER_NUMBERS = 0.5  # of a row that begins with `3/10`
_BETWEEN = lazy(r"[|│┃\s]+")
_COUNTING = lazy(
    r"(?:n[_ ]?|no\.? |num[_ ]|#\s?|(?:global|inner|outer|train)[_ ])?([a-z]{3,10})s?"
    r"(?:[ _]?(?:#|no\.?|num|idx|id)| #\w+)?$"
)
_FRAMED = lazy(r"\s{0,8}\|[^|]{1,40}\|[^|]{1,40}\|.{0,400}\|\s*$")  # `|  Epoch|  Batch|    Loss|`
_UNIT_OF = lazy(r"\s{0,8}\([^()]{0,40}\)$")  # `Step (fs)`
_CLOCK_UNIT = lazy(r"\[[a-z]:[a-z]\]")  # `t[m:s]`
_SIMULATED = lazy(r"\s{0,20}[Tt]ime ?[\[(][fpn]s[\])](?=\s)")  # `Time[ps]`: no clock has such a unit
_IN_BRACKETS = lazy(r"\[[^\[\]\s]{1,10}\]")
_COMMENT = lazy(r"^#\s+(?=[A-Za-z])")  # `# step  time  energy`
_QUOTED = lazy(r"#?\"([^\",\t]{1,40})\"[,\t ]{0,3}")  # `#"Step","Temperature (K)"`
# `10:02 [INFO]:  Epoch   Batch`
_PREFIXED = lazy(r"[\[\d].{0,60}?[\]:]\s{2,40}[A-Za-z]{2,12}\s{2,40}[A-Za-z]")
_SHARE = lazy(r"^\d{1,3}(?:\.\d+)?%$")
_NUMBER = lazy(r"^-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?$", re.IGNORECASE)
_ROUNDED = lazy(r"^\d{1,4}(?:\.\d)?[km]$")  # `0.5k`
_NAME = lazy(r"^\s*[A-Za-z]\w{1,20}:\s+(?=\d{1,9}\s+\d{1,3}:\d\d:\d)")  # `BFGS:    3 20:33:35  1.907`, of ASE
_INDEX = lazy(r"(?<=\w)\[\d{1,3}\](?=\s|$)")  # `c_com[3]`
_FIGURE = r"-?\d{1,12}(?:\.\d{0,12})?(?:e[-+]?\d{1,3})?"
_LIST = lazy(rf"\[ {{0,4}}(?:{_FIGURE}(?:[ ,]{{1,4}}{_FIGURE}){{0,40}})?[ ,]{{0,4}}\]")  # several numbers in a cell
SEVERAL = "[]"  # what is left of such a cell
_OF = lazy(
    r"^[\s|│┃]*(\d{1,9})/(\d{1,9})(?=[\s│|])(?!.*%\|.*\d/\d)"
)  # the first cell, `47/100`, of a row without a bar's


class TableHead(NamedTuple):
    """A table's head. columns: the names, in small letters. counters: index and unit of the counting ones.
    prefixed: a logger writes something before each row.
    """

    columns: list[str]
    counters: list[list[object]]
    prefixed: bool = False


def read_header(text: str) -> TableHead | None:
    """As `_header`, of what stands in the line, or behind what a logger wrote before it."""
    if "  " not in text or not _PREFIXED.match(text):
        return _header(text)
    head = _header(_behind_prefix(text))
    return head and head._replace(prefixed=True)


def _behind_prefix(text: str) -> str:
    return message(text).text.lstrip(": ")


def _header(text: str) -> TableHead | None:
    """`E    #       LOSS NER  SCORE`, `| epoch | loss |`: names only, the first one a counter. None for other lines."""
    bare = _QUOTED.sub(r"\1  ", text).rstrip() if _QUOTED.match(text) else _COMMENT.sub("", text)
    bare = _INDEX.sub("", _CLOCK_UNIT.sub("", bare))
    if _SIMULATED.match(bare):
        bare = _IN_BRACKETS.sub("", _SIMULATED.sub("simulated time ", bare))
    if len(bare) > 400 or re.search(r"\d[.:/]|[=\"'{}\[\]]|: |^\S+:", bare):
        return None
    names = [_UNIT_OF.sub("", name) for name in _cells(bare, header=True)]
    alone = bare.split(None, 1)[0].lower() if bare.strip() else ""
    if (
        names
        and alone != names[0]
        and not any(map(str.isdigit, bare))
        and names[0] not in COLUMNS
        and len(bare.split()) > len(names)
    ):
        names = bare.lower().split()  # `Iterat #Fevals   function value`
    if names[:1] == ["progress"]:  # OpenMM: a share, then the counter
        names[0] = "%"
    names = [_column(name) for name in names]
    first = _first_counter(names)
    if len(names) < 2 or first not in COLUMNS or (names[0] != "%" and len(names[0]) == 1 and names[1:2] != ["#"]):
        return None
    if any(char.isdigit() for name in names[:2] for char in name) or names[-1].isdigit():
        return None
    counters: list[list[object]] = [
        [at, COLUMNS[name]]
        for at, name in enumerate(names[:3])
        if name in COLUMNS and not (at and (name == f"{names[at - 1]}s" or name == "e"))
    ]
    return TableHead(names, _side_by_side(counters))


def _side_by_side(counters: list[list[object]]) -> list[list[object]]:
    """Without those behind a column of something else: `episode  reward  steps` tells how many each one took."""
    return [one for at, one in enumerate(counters) if not at or one[0] == counters[at - 1][0] + 1]  # type: ignore[operator]


def _first_counter(names: list[str]) -> str:
    """The column that should count: the first, but for a share before it, or the losses (Vowpal Wabbit)."""
    if names[:1] == ["%"] and len(names) > 2:
        return names[1]
    if names[:1] == ["loss"]:
        return next((name for name in names[1:3] if name in COLUMNS), "")
    return names[0] if names else ""


def _column(name: str) -> str:
    """The name as `COLUMNS` has it: `n_gen`, `iterat`, `Epoch #` are what they begin with."""
    found = _COUNTING.match(name)
    if not found or name in COLUMNS:
        return name
    return next((full for full in ("iteration", "generation", "epoch", "step", "round", "trial", "update", "episode")
                 if full.startswith(found[1])), name)  # fmt: skip


def _cells(text: str, *, header: bool = False) -> list[str]:
    bare = text.strip().strip("|│┃")
    parts = (
        re.split(r"[|│┃]", bare)
        if re.search(r"\s[|│┃]\s", bare) or _FRAMED.match(text)
        else re.split(r"\s{2,}|\t" if header else r"\s+", bare.strip())
    )
    cells = [part.strip().lower() for part in parts]
    if header and len(cells) == 1 and ";" in bare:
        cells = bare.lower().split(";")
    elif header and len(cells) == 1:
        cells = bare.lower().split("," if "," in bare and " " not in bare else None)
    return cells


def read_table_row(table: TableHead, text: str) -> SeenOnLine | None:
    """A row below the head: None for a line that is no row of it."""
    text = _behind_prefix(text) if table.prefixed else text
    text = _LIST.sub(SEVERAL, text) if "[" in text else text
    of = _OF.match(text)
    if of and int(of[1]) > int(of[2]):
        return None
    cells = _cells(text[: of.end(1)] + text[of.end() :] if of else _NAME.sub("", text))
    if _NAME.match(text) and len(cells) != len(table.columns):
        return None
    if len(cells) == 1 and ("," in text or ";" in text):
        cells = text.strip().split(";" if ";" in text else ",")
    if table.columns[0] == "%" and _SHARE.match(cells[0]):
        cells[0] = cells[0][:-1]
    share = FEWER_NUMBERS if of else NUMBERS_SHARE
    if sum(map(_is_number, cells)) < len(cells) * share:
        cells = _BETWEEN.split(text.strip(" |│┃"))
    if len(cells) < min(3, len(table.columns)) or not _is_number(cells[0]):
        return None
    if abs(len(cells) - len(table.columns)) > 3 or sum(map(_is_number, cells)) < len(cells) * share:
        return None
    sights = _counters(table, cells, int(of[2]) if of else None)
    if not sights:
        return None
    percent = float(cells[0]) if table.columns[0] == "%" else None
    return SeenOnLine(tuple(sights), loss=_loss(table, cells), eta=_eta(table, cells), percent=percent)


def _is_number(cell: str) -> bool:
    return bool(cell == SEVERAL or _NUMBER.match(cell) or _ROUNDED.match(cell))


def _counters(table: TableHead, cells: list[str], of: int | None) -> list[CounterSight]:
    """What a row counts. of: how many there are of the first column, if its own cell tells that."""
    sights = []
    for at, unit in table.counters:
        assert isinstance(at, int)
        if at >= len(cells) or cells[at] == SEVERAL or not _is_number(cells[at]) or "e" in cells[at]:
            continue
        rounded = _ROUNDED.match(cells[at]) is not None
        value = parse_count(cells[at].upper()).value if rounded else float(cells[at].replace(",", ""))
        if unit == "time":
            sights.append(CounterSight("time", "time", "train", value, None, False, "table"))
        elif float(value).is_integer():
            most = of if of is not None and at == 0 else _total_beside(table, cells, at, value)
            sights.append(CounterSight(str(unit), str(unit), "train", int(value), most, rounded, "table"))
    return sights


def _is_total(columns: list[str], at: int) -> bool:
    """`total` or `epochs` behind `epoch`; not how many samples there were, of which some are correct."""
    return columns[at] == f"{columns[at - 1]}s" or (columns[at] in TOTALS and "correct" not in columns)


def _total_beside(table: TableHead, cells: list[str], at: int, value: float) -> int | None:
    """`step;total;loss`: how many there are to be, in the column behind."""
    named = at + 1 < len(cells) == len(table.columns) and _is_total(table.columns, at + 1)
    most = int(cells[at + 1]) if named and cells[at + 1].isdigit() else 0
    return most if most > 1 and most >= value else None


def _loss(table: TableHead, cells: list[str]) -> float | None:
    for at, name in enumerate(table.columns):
        plain = re.fullmatch(r"(?:train(?:ing)?[ _]?)?loss", name)
        placed = at == 0 or len(cells) == len(table.columns)  # two names with one blank between are taken for one
        if plain and placed and at < len(cells) and _NUMBER.match(cells[at]):
            return float(cells[at].replace(",", ""))
    return None


def _eta(table: TableHead, cells: list[str]) -> float | None:
    return parse_clock(cells[-1]) if "remaining" in table.columns[-1] else None
