"""Ray, before a chain is handed to it: the head's address, its token, its version. `ray` is not needed here."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onbox.backends.base import QUERY_SECONDS
from onbox.backends.ray.backend import Ray, default_token
from onbox.backends.ray.text import explain_status, read_version
from onbox.preflight.report import EngineCheck, failed, passed, unreached, warned
from onbox.system.http import LOOPBACK, NoReply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onbox.preflight.report import CheckFacts, CheckResult

TOKEN = 'set [ray] token = "env:NAME" or "file:PATH", RAY_AUTH_TOKEN, or write ~/.ray/auth_token'  # noqa: S105 - where one may be


def _check(facts: CheckFacts) -> Iterator[CheckResult]:
    try:
        ray = Ray(facts.engine_settings, ask=facts.ask, environ=facts.environ)
    except ValueError as error:
        yield failed("ray token", str(error), TOKEN)
        return
    has_token = facts.engine_settings.get("token") is not None or default_token(facts.environ) is not None
    answer = facts.ask(ray.version_question(), QUERY_SECONDS)
    if isinstance(answer, NoReply):
        yield unreached(
            "ray", f"{ray.address}: {answer.why}", "start the head, or the ssh tunnel to it; see [ray] address"
        )
    elif answer.status in (401, 403):
        yield failed("ray token", f"{ray.address}: {explain_status(*answer)}", TOKEN)
    elif answer.status != 200:
        yield unreached("ray", f"{ray.address}: {explain_status(*answer)}", "is it Ray's dashboard? see [ray] address")
    else:
        yield _judge_version(ray.address, answer.text)
        yield passed("ray token", "one is sent, and the head answers" if has_token else "the head wants none")
        if has_token and ray.address.startswith("http://") and urlsplit(ray.address).hostname not in LOOPBACK:
            yield warned("ray token", f"it goes to {ray.address} in the clear", "use an ssh tunnel, or https")


def _judge_version(address: str, text: str) -> CheckResult:
    version: str | None = read_version(text)
    if version is None:
        return unreached("ray", f"{address}: its answer is not Ray's", "is it Ray's dashboard? see [ray] address")
    return passed("ray", f"{version} at {address}")


CHECK = EngineCheck(_check)
