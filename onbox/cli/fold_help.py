"""Examples, exit codes and closing words of a help text, folded to the width of the terminal. Pure."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMENT_INDENT = " " * 6
GAP = " " * 3  # at least, between a command and its comment
_CODE = re.compile(r"(?P<head> +\d+  )(?P<meaning>\S.*)")


def fold_help(text: str, width: int) -> str:
    """Prose is filled anew; an example whose comment does not fit has it below; a command stays whole."""
    blocks = (block.split("\n") for block in text.split("\n\n"))
    return "\n\n".join("\n".join(_fold_block(block, width)) for block in blocks)


def _fold_block(lines: Sequence[str], width: int) -> Iterator[str]:
    if all(len(line) <= width for line in lines):
        yield from lines
        return
    for kind, found in groupby(lines, key=lambda line: "" if line.startswith(" ") or line.endswith(":") else "prose"):
        if kind:
            yield from textwrap.wrap(" ".join(found), width, break_on_hyphens=False, break_long_words=False)
        else:
            for line in found:
                yield from _fold_line(line, width)


def _fold_line(line: str, width: int) -> list[str]:
    if code := _CODE.fullmatch(line):
        head = code["head"]
        return textwrap.wrap(code["meaning"], width, initial_indent=head, subsequent_indent=" " * len(head))
    text = line.lstrip()
    command, _, comment = text.partition(GAP)
    below = textwrap.wrap(comment.strip(), width - len(COMMENT_INDENT), break_on_hyphens=False)
    return [line[: len(line) - len(text)] + command, *(COMMENT_INDENT + one for one in below)]
