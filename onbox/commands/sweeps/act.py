"""Stop a sweep, skip cells, run the failed ones again: a person's word, with or without a live runner."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from onbox.chain.lock.lock_owner import Holder
from onbox.cli.amounts import MOST_SECONDS, Number
from onbox.cli.command import argument, command
from onbox.commands.launch.say import say
from onbox.commands.launch.start import lock_of
from onbox.commands.stop import stop_run
from onbox.commands.sweeps.named import sweep_paths
from onbox.commands.sweeps.options import HOW, common, how, sweep_argument
from onbox.commands.sweeps.start import resume_at
from onbox.contract.exits import Exit
from onbox.did_you_mean import meant
from onbox.errors import Trouble
from onbox.outside import safe_line
from onbox.sweep.launch import read_known, reopen, skip
from onbox.sweep.state import orders
from onbox.sweep.state.board import SweepStanding
from onbox.system.process import has_open, is_alive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.cli.command import Options
    from onbox.contract.paths import RunPaths
    from onbox.sweep.state.board import Board


@command(exclusive=[("--grace", "--now")])
@sweep_argument
@click.option("--grace", type=Number(0, MOST_SECONDS), metavar="SECONDS", help="between SIGTERM and SIGKILL of a cell")
@click.option("--now", is_flag=True, help="SIGKILL at once")
@common
def run_stop(args: Options) -> int:
    return stop_run(sweep_paths(args, act=True), args.grace, now=args.now)


@command()
@argument("cells", nargs=-1, required=True, metavar="CELL", help="its name, as status and table show it")
@common
def run_skip(args: Options) -> int:
    paths = sweep_paths(args, act=True)
    board = read_known(paths).board
    numbers = _numbers(board, args.cells)
    done = [board.name(one) for one in numbers if board.standing(one) is SweepStanding.DONE]
    if done:
        raise Trouble(Exit.USAGE, f"done already: {', '.join(done[:10])}; nothing was changed")
    is_told = _tell(paths, board, orders.SKIP, numbers)
    names = ", ".join(board.name(one) for one in numbers[:10])
    then = "its runner takes it in" if is_told else f"go on: onbox sweep resume {os.path.basename(paths.root)}"
    say(
        args,
        {"event": "skipped", "cells": [board.name(one) for one in numbers]},
        f"skipped: {safe_line(names)}; {then}",
    )
    return Exit.DONE


@command(exclusive=HOW)
@sweep_argument
@how
@common
def run_retry(args: Options) -> int:
    paths = sweep_paths(args, act=True)
    board = read_known(paths).board
    numbers = list(board.all(SweepStanding.FAILED))
    if not numbers:
        say(args, {"event": "nothing_failed"}, "no cell has failed")
        return Exit.DONE
    is_told = _tell(paths, board, orders.REOPEN, numbers)
    plural = "s" if len(numbers) > 1 else ""
    say(
        args,
        {"event": "reopened", "cells": [board.name(one) for one in numbers]},
        f"{len(numbers)} failed cell{plural} will run again",
    )
    return int(Exit.DONE) if is_told else resume_at(args, paths)


def _numbers(board: Board, names: Sequence[str]) -> list[int]:
    """Of the cells. Raises Trouble naming what is not known."""
    unknown = [name for name in names if name not in board.number_of]
    if unknown:
        hint = meant(unknown[0], board.number_of) or "onbox sweep table --all names them"
        raise Trouble(Exit.USAGE, f"no cell {safe_line(unknown[0], 120)}; {hint}; nothing was changed")
    return list(dict.fromkeys(board.number_of[name] for name in names))


def _tell(paths: RunPaths, board: Board, what: str, numbers: Sequence[int]) -> bool:
    """True: a live runner has been told; False: none lives, and it stands in the journal now."""
    lock = lock_of(paths)
    if isinstance(lock, Holder):
        orders.leave(paths, what, numbers)
        if is_alive(lock.identity) and has_open(lock.pid, paths.lock):
            with suppress(ProcessLookupError):
                os.kill(lock.pid, signal.SIGUSR1)
        return True
    try:
        if what == orders.SKIP:
            skip(paths, board, numbers)
        else:
            reopen(paths, board, numbers, "by a person's word")
    finally:
        os.close(lock.lock_fd)
    return False
