"""Iris, before a chain is handed to it: the controller, its token, and the verbs of the `iris` command."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from onbox.backends.base import QUERY_SECONDS
from onbox.backends.iris.backend import Iris
from onbox.backends.iris.text import CLUSTER_FILES, explain, is_job_list
from onbox.preflight.report import EngineCheck, failed, passed, unreached, unseen
from onbox.system.command import NotRun
from onbox.system.http import NoReply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.preflight.report import CheckFacts, CheckResult

WORDS = ("--no-wait", "--job-name")  # what a submission needs of `iris job run`
INSTALL = "install marin-iris where this shell finds it, or set [iris] command"


def _check(facts: CheckFacts) -> Iterator[CheckResult]:
    yield from _controller(facts)
    yield _command(facts)
    yield from _config(facts)


def _controller(facts: CheckFacts) -> Iterator[CheckResult]:
    try:
        iris = Iris(facts.engine_settings, ask=facts.ask, environ=facts.environ)
    except ValueError as error:
        yield failed("iris", str(error), "see docs/backends.md, [iris]")
        return
    answer = facts.ask(iris.list_question(), QUERY_SECONDS)
    if isinstance(answer, NoReply):
        yield unreached(
            "iris", f"{iris.address}: {answer.why}", "open the tunnel to the controller; see [iris] controller"
        )
    elif answer.status in (401, 403):
        yield failed("iris token", f"{iris.address}: {explain(answer.status, None)}", 'set [iris] token = "env:NAME"')
    elif answer.status != 200 or not is_job_list(answer.text):
        said = explain(answer.status, None) if answer.status != 200 else "its answer is not a list of jobs"
        yield unreached("iris", f"{iris.address}: {said}", "is it the controller of Iris? see [iris] controller")
    else:
        yield passed("iris", f"the controller at {iris.address} answers")


def _command(facts: CheckFacts) -> CheckResult:
    command = str(facts.engine_settings.get("command") or "iris")
    if shutil.which(command, path=facts.environ.get("PATH")) is None:
        return failed("iris command", f"{command} is not on PATH: it submits the chain", INSTALL)
    answer = facts.run([command, "job", "run", "--help"], timeout_seconds=QUERY_SECONDS, env=facts.environ)
    if isinstance(answer, NotRun):
        return unseen("iris command", answer.why, INSTALL)
    said = answer.out + answer.err
    missing = [word for word in WORDS if not re.search(rf"(?<![\w-]){word}(?![\w-])", said)]
    if answer.code != 0 or missing:
        what = f"does not know {', '.join(missing)}" if missing else f"ended with {answer.code}"
        return failed("iris command", f"`{command} job run --help` {what}", "update marin-iris")
    return passed("iris command", f"`{command} job run` knows {', '.join(WORDS)}")


def _config(facts: CheckFacts) -> Iterator[CheckResult]:
    name = facts.engine_settings.get("config")
    if name is None or "cluster" in facts.engine_settings:
        return
    path = CLUSTER_FILES.get(str(name), str(name))
    if os.path.isfile(os.path.join(facts.folder, path)):
        yield passed("iris config", path)
    else:
        yield failed(
            "iris config", f"there is no file {path} in {facts.folder}", "set [iris] cluster, or config to a file"
        )


CHECK = EngineCheck(_check)
