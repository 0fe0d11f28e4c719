"""`patrol add URL --backend ENGINE --job ID`: a cluster as a box, with the jobs that are to be looked at."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from onbox.config.fields import Unwanted
from onbox.config.tables.clusters import name_of_job
from onbox.config.tables.engines import PARTS, job_id
from onbox.config.values import http_url, secret_reference
from onbox.contract.exits import Exit
from onbox.contract.names import run_name_from
from onbox.errors import Trouble
from onbox.model.boxes import BoxSettings, Watch
from onbox.model.engines import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from onbox.cli.command import Options


def cluster_options(function: Any) -> Any:
    """A cluster, instead of a box: HOST is then the URL of its dashboard or controller."""
    examples = " or ".join(f"{PARTS[one].job_example} ({one})" for one in CLUSTERS)
    declared = (
        click.option("--backend", type=click.Choice(CLUSTERS), help="HOST is the URL of a cluster of this kind"),
        click.option(
            "--job", multiple=True, metavar="ID", help=f"with --backend: a job to look at, such as {examples}"
        ),
        click.option(
            "--token",
            metavar="REFERENCE",
            help="with --backend: env:NAME or file:PATH; cron does not know your shell's variables",
        ),
    )
    for option in reversed(declared):
        function = option(function)
    return function


def is_cluster(args: Options) -> bool:
    return bool(args.backend or args.job or args.token or args.host.startswith(("http://", "https://")))


def asked_for(args: Options, name: str | None) -> BoxSettings:
    """The box of the words. Raises Trouble."""
    if args.backend is None:
        raise Trouble(Exit.USAGE, "what answers there? add: " + ", or ".join(f"--backend {one}" for one in CLUSTERS))
    if args.project or args.local:
        raise Trouble(Exit.USAGE, "a cluster has no --project and is not --local: it is asked over HTTP about jobs")
    if not args.job:
        raise Trouble(Exit.USAGE, f"which jobs? add: --job ID ({PARTS[args.backend].job_example}), once or more often")
    address = _checked("HOST", args.host, http_url)
    jobs = [_checked("--job", job, partial(job_id, args.backend)) for job in args.job]
    names = [name_of_job(job) for job in jobs]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise Trouble(
            Exit.USAGE, f"two jobs would be called {twice!r}; add one now, and write the other into onbox.toml"
        )
    return BoxSettings(
        name=name or run_name_from(urlsplit(address).hostname or args.backend),
        host=address,
        backend=args.backend,
        watches=tuple(Watch(one, job=job) for one, job in zip(names, jobs, strict=True)),
        address=address,
        token=_checked("--token", args.token, secret_reference) if args.token else None,
    )


def _checked(what: str, value: str, parse: Callable[[object], Any]) -> str:
    try:
        return str(parse(value))
    except Unwanted as problem:
        raise Trouble(Exit.USAGE, f"{what} {value!r}: wanted {problem.wanted}") from problem


def values_of(box: BoxSettings) -> dict[str, str | None]:
    """What is written into the box's table, beside its jobs."""
    return {"backend": box.backend, "address": box.address, "token": box.token}
