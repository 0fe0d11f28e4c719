"""`onbox init`: write an onbox.toml to begin with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from onbox.cli.command import command
from onbox.config.parse import run_name_from
from onbox.config.template import render_template
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE
from onbox.errors import Trouble

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
example:
  cd my-project && onbox init && $EDITOR onbox.toml && onbox chain
  onbox init --full --stdout    every key, with its default and an example
"""


@command(EXAMPLES)
@click.option("--stdout", is_flag=True, help="print it instead of writing it")
@click.option("--full", is_flag=True, help="every key, with its default and an example")
def run(args: Options) -> int:
    text = render_template(run_name_from(os.path.basename(os.getcwd())), full=args.full)
    if args.stdout:
        print(text, end="")
        return Exit.DONE
    path = os.path.join(os.getcwd(), CONFIG_FILE)
    try:
        with open(path, "x", encoding="utf-8") as file:  # never overwrites
            file.write(text)
    except FileExistsError as error:
        raise Trouble(
            Exit.USAGE, f"{path} is there already and was left as it is; see every key: onbox init --full --stdout"
        ) from error
    except OSError as error:
        raise Trouble(Exit.STATE_NOT_WRITTEN, f"cannot write {path}: {error.strerror}") from error
    print(f"wrote {path}; next: fill in the stages, then `onbox chain`")
    return Exit.DONE
