"""`patrol mcp`: an MCP server for coding agents, on stdio or on 127.0.0.1."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from onbox.cli.amounts import WholeNumber
from onbox.cli.command import command
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from patrol.commands.options import common_options
from patrol.config.configured import load_settings

if TYPE_CHECKING:
    from onbox.cli.command import Options

EXAMPLES = """\
examples:
  claude mcp add onbox -- patrol mcp --folder ~/digits      the agent starts it, and asks over its stdin
  codex mcp add onbox -- patrol mcp --folder ~/digits
  ONBOX_MCP_TOKEN=$(openssl rand -hex 16) patrol mcp --http 8765    on http://127.0.0.1:8765/mcp
"""
TOKEN_VARIABLE = "ONBOX_MCP_TOKEN"  # noqa: S105 - the name of the variable
TOKEN_CHARACTERS = 16


@command(EXAMPLES)
@common_options
@click.option(
    "--http", type=WholeNumber(1, 65535), metavar="PORT", help=f"serve HTTP; ${TOKEN_VARIABLE} holds the token"
)
@click.option(
    "--allow", type=click.Choice(["resume"]), multiple=True, help="let agents do this if a run's rule allows it"
)
def run(args: Options) -> int:
    settings = load_settings(args, os.environ)
    try:
        from pydantic import BaseModel  # noqa: PLC0415 - an extra: with the SDK 0.4 s of CPU

        # The SDK declares hundreds of types of messages, of which a server needs a few: each is built when first used.
        BaseModel.model_config["defer_build"] = True
        from patrol.mcp.server import serve_http, serve_stdio  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Trouble(
            Exit.UNAVAILABLE, f"{error.name} is not installed: in onbox's checkout: pip install '.[mcp]'"
        ) from error
    from patrol.mcp.children import Programs  # noqa: PLC0415 - with it
    from patrol.mcp.tools import Tools  # noqa: PLC0415

    options = ("-c", os.path.abspath(settings.config_path)) if settings.config_path else ()
    tools = Tools(settings, Programs(settings.folder, options), frozenset(args.allow))
    if args.http is None:
        serve_stdio(tools)
        return Exit.DONE
    token = os.environ.get(TOKEN_VARIABLE, "")
    if len(token) < TOKEN_CHARACTERS:
        raise Trouble(Exit.USAGE, f"{TOKEN_VARIABLE} must hold a token of at least {TOKEN_CHARACTERS} characters")
    print(f"http://127.0.0.1:{args.http}/mcp", file=sys.stderr)
    serve_http(tools, args.http, token)
    return Exit.DONE
