"""[[verify]]: the user's own commands that load a file once it is home, by pattern. Pure."""

from __future__ import annotations

import shlex

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys


def _command(value: object) -> str:
    text = values.text(value)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Unwanted(f"a command whose quotes are closed ({error})") from error
    if not words:
        raise Unwanted('a command such as "python check.py"')
    return text


class VerifyKeys(Keys):
    """[[verify]]."""

    HEADER = "[[verify]]"
    HELP = "Your own command that loads a file which `patrol pull` copied. The first that matches is used."
    files = Key(values.text, "", "A pattern of its name or path.", '"*.h5"', wanted="a pattern of files")
    command = Key(
        _command,
        "",
        "Gets the file's path as its last argument, and ends with 0 if the file is sound.",
        '"python check_h5.py"',
    )


def read_verify(file: Table) -> tuple[tuple[str, str], ...]:
    """Pairs of a pattern and a command, in file order. One without a command is left out: nobody has accepted it."""
    rows = file.values.get("verify", ())
    if not isinstance(rows, list | tuple):
        file.fail("verify", rows, "a list of tables; write [[verify]]")
        return ()
    tables = [Table(f"verify[{at}]", row, VerifyKeys, file.errors) for at, row in enumerate(rows)]
    found = [(table.get(VerifyKeys.files), table.get(VerifyKeys.command)) for table in tables]
    return tuple((files, command) for files, command in found if command)
