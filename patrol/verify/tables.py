"""JSON, lines of JSON, CSV, Parquet."""

from __future__ import annotations

import csv
import importlib.util
import os

from onbox.contract.json_text import parse_json
from patrol.verify.loaded import Broken, NotLoaded

JSON_LIMIT_BYTES = 256 << 20  # read into memory it takes several times as much
LINE_LIMIT_BYTES = 64 << 20
FIELD_LIMIT = 1 << 24
_PARQUET = b"PAR1"


def load_json(path: str) -> str:
    """Raises Broken, TooLong, OSError."""
    if os.path.getsize(path) > JSON_LIMIT_BYTES:
        raise NotLoaded(f"longer than {JSON_LIMIT_BYTES} bytes")
    with open(path, "rb") as file:
        text = file.read()
    try:
        data = parse_json(text)
    except ValueError as error:
        raise Broken(f"it does not hold a whole JSON value ({error})") from error
    return f"{len(data)} items" if isinstance(data, dict | list) else "a value"


def load_jsonl(path: str) -> str:
    """Every line."""
    count = 0
    with open(path, "rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_LIMIT_BYTES), b""), start=1):
            if not line.strip():
                continue
            try:
                parse_json(line)
            except ValueError as error:
                cut = "" if line.endswith(b"\n") else ", and the file ends there"
                raise Broken(f"line {number} does not hold a whole JSON value{cut}") from error
            count += 1
    return f"{count} lines"


def load_csv(path: str) -> str:
    """Every row. A last row that is shorter than the others and has no line break was cut off."""
    delimiter = "\t" if path.endswith(".tsv") else ","
    csv.field_size_limit(FIELD_LIMIT)
    rows, widths, last = 0, set[int](), 0
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file, delimiter=delimiter):
                if rows:
                    widths.add(last)
                rows, last = rows + 1, len(row)
    except UnicodeDecodeError as error:
        raise Broken(f"it is not UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise Broken(f"row {rows + 1}: {error}") from error
    if widths and last < min(widths) and not _ends_with_break(path):
        raise Broken("its last row is cut off")
    return f"{rows} rows"


def _ends_with_break(path: str) -> bool:
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) in (b"\n", b"\r")


def load_parquet(path: str) -> str:
    """With pyarrow, where it is installed, every row; without it the marks and the length of its foot."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        begin = file.read(4)
        if size < 12 or begin != _PARQUET:
            raise Broken("it does not begin as Parquet does")
        file.seek(-8, os.SEEK_END)
        foot, mark = int.from_bytes(file.read(4), "little"), file.read(4)
    if mark != _PARQUET or not 0 < foot <= size - 12:
        raise Broken("its end is missing: it was cut off while it was written")
    if importlib.util.find_spec("pyarrow") is None:
        return "its foot is there; its rows were not read: pyarrow is not installed here"
    return _rows(path)


def _rows(path: str) -> str:
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            rows = sum(batch.num_rows for batch in file.iter_batches())
    except Exception as error:
        raise Broken(f"pyarrow: {error}") from error
    return f"{rows} rows"
