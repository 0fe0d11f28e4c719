"""What happens to a message when the receiver misbehaves: onbox beside `curl`, `requests` and the apprise CLI.

    python scripts/bench/notify.py [--messages 1000] [--limit 45]

Every sender gets the same real receiver on loopback (tests/fault_server.py) and one message per fault. Per cell: what
became of the message, whether the sender's own report is right, and how long it took. Verdicts:

    ok       delivered, and said so            kept     not delivered, said so, and will be tried again
    refused  not delivered, said so for good   LIE      not delivered, but exit code 0
    LOST     not delivered, said so, and gone  HANG     no end within the limit
    false    delivered, but reported as failed   followed   posted to another host that the receiver named
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from onbox.contract.notices import notice_from_dict
from onbox.contract.notify_targets import NotifyTarget
from onbox.contract.paths import RunPaths
from onbox.notify.queue.outbox import Message, Name, Outbox
from onbox.system.clock import utc_text
from tests.fault_server import FaultServer, self_signed
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
ATTEMPT_SECONDS = 3


class Fault(NamedTuple):
    """path: what the server does. plan: answers before that. heal: whether it works again after `plan`."""

    name: str
    path: str
    plan: tuple[str, ...] = ()
    form: str = "generic"


FAULTS = (
    Fault("200", "200"),
    Fault("204", "204"),
    Fault("400", "400"),
    Fault("401", "401"),
    Fault("404", "404"),
    Fault("410", "410"),
    Fault("429 once, Retry-After 1", "200", ("retry_seconds",)),
    Fault("429 once, Retry-After a date", "200", ("retry_date",)),
    Fault("429, Retry-After 3600", "retry_hour"),
    Fault("500 twice, then 200", "200", ("500", "500")),
    Fault("500 always", "500"),
    Fault("hangs before headers", "hang"),
    Fault("hangs once", "200", ("hang",)),
    Fault("hangs in the headers", "hang_in_headers"),
    Fault("drip in the headers", "drip_headers"),
    Fault("interim answers for ever", "drip_interim"),
    Fault("reset twice", "200", ("reset", "reset")),
    Fault("302 to a GET page", "redirect_302"),
    Fault("307 to another host", "redirect_other"),
    Fault("garbage", "garbage"),
    Fault("200 and a huge body", "huge"),
    Fault("taken, answered after 1.5 s", "slow"),
    Fault("wrong certificate", "tls"),
    Fault("no such host", "dns"),
    Fault("nobody listens", "down"),
    Fault("Feishu: 200 with code 19021", "feishu_refused", form="feishu"),
    Fault("DingTalk: 200 with errcode", "dingtalk_refused", form="dingtalk"),
    Fault("WeCom: 200 with errcode", "wecom_refused", form="wecom"),
)


class Result(NamedTuple):
    """exit_code: None for no end within the limit. kept: how many still wait."""

    exit_code: int | None
    seconds: float
    kept: int = 0
    dead: int = 0


def run(words: Sequence[str], limit: float, env: dict[str, str] | None = None, cwd: str | None = None) -> Result:
    began = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, timeout=limit, check=False, env=env, cwd=cwd)
    except subprocess.TimeoutExpired:
        return Result(None, time.monotonic() - began)
    return Result(done.returncode, time.monotonic() - began)


def by_curl(url: str, _fault: Fault, limit: float) -> Result:
    return run(["curl", "-sS", "-X", "POST", "-d", '{"text":"done"}', url], limit)


def by_requests(url: str, _fault: Fault, limit: float) -> Result:
    code = f"import requests; requests.post(sys.argv[1], json={{'text': 'done'}}, timeout={ATTEMPT_SECONDS})"
    return run([sys.executable, "-c", f"import sys; {code}", url], limit)


def by_apprise(url: str, _fault: Fault, limit: float) -> Result:
    words = shutil.which("apprise") or str(Path(sys.executable).parent / "apprise")
    return run([words, "-b", "done", url.replace("http", "json", 1)], limit)


class Project:
    """A finished run whose outbox is filled by hand."""

    def __init__(self, folder: Path, form: str) -> None:
        self.folder = folder / "digits"
        self.folder.mkdir()
        (self.folder / "onbox.toml").write_text(
            "[stages.a]\ncmd = 'true'\n[notify]\non = []\n"
            f"attempt_timeout = '{ATTEMPT_SECONDS}s'\nbackoff = '50ms'\nbackoff_limit = '500ms'\n"
            f"[notify.targets.hook]\nurl = 'env:HOOK'\nformat = '{form}'\n"
        )
        self.env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self.onbox("chain")
        self.outbox = Outbox(RunPaths(str(self.folder / ".onbox" / "digits")))
        self.outbox.make()

    def onbox(self, *words: str, limit: float = 60.0) -> Result:
        return run([sys.executable, "-m", "onbox", *words], limit, self.env, str(self.folder))

    def put(self, number: int) -> str:
        facts = {"at": utc_text(time.time()), "event": "chain_done", "state": "done", "run": "digits"}
        notice = notice_from_dict({"id": f"msg_{number}", **facts, "run_id": "r", "project": str(self.folder)})
        self.outbox.put(Message(Name(number, "hook"), facts["at"], NotifyTarget("hook", "env:HOOK"), notice))
        return notice.id

    def counts(self) -> tuple[int, int]:
        paths = self.outbox.paths
        return len(self.outbox.pending()), len(self.outbox.names(paths.dead))


def by_onbox(url: str, fault: Fault, limit: float) -> Result:
    """One message in the outbox, and a flush of at most 8 s: what a deliverer does, with an end to wait for."""
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        project = Project(Path(folder), fault.form)
        project.put(1_000_000)
        project.env["HOOK"] = url
        result = project.onbox("notify", "flush", "--limit", "8", limit=limit)
        kept, dead = project.counts()
        return result._replace(kept=kept, dead=dead)


def judge(fault: Fault, result: Result, delivered: int) -> str:
    if result.exit_code is None:
        return "HANG"
    if result.kept:
        return "kept" if not delivered else "false"
    if result.dead:
        return "refused"
    if delivered and fault.path == "redirect_other":
        return "followed"
    if delivered:
        return ("ok" if result.exit_code == 0 else "false") + (f", {delivered} copies" if delivered > 1 else "")
    return "LIE" if result.exit_code == 0 else "LOST"


def bench_faults(senders: dict[str, Callable[[str, Fault, float], Result]], limit: float, tls: Path) -> dict[str, int]:
    pair = self_signed(tls)
    print(f"{'fault':<32}" + "".join(f"{name:>22}" for name in senders))
    good = dict.fromkeys(senders, 0)
    for fault in FAULTS:
        cells = []
        for name, send in senders.items():
            server = FaultServer(tls=pair if fault.path == "tls" else None)
            server.plan = list(fault.plan)
            url = server.url("200" if fault.path == "tls" else fault.path)
            if fault.path == "dns":
                url = "https://no-such-host.invalid/x"
            elif fault.path == "down":
                url = f"http://127.0.0.1:{free_port()}/x"
            result = send(url, fault, limit)
            # A channel that refuses inside a 200 has taken nothing.
            taken = sum(1 for one in server.acknowledged if one.method == "POST" and one.body)
            if fault.path in ("huge", "drip_body"):
                taken = len(server.received)
            server.close()
            verdict = judge(fault, result, taken)
            good[name] += verdict.split(",")[0] in ("ok", "kept", "refused")
            cells.append(f"{verdict} {result.seconds:.1f}s")
        print(f"{fault.name:<32}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    print(f"{'right report, nothing lost':<32}" + "".join(f"{f'{n} of {len(FAULTS)}':>22}" for n in good.values()))
    return good


def bench_random(messages: int) -> None:
    """Many messages, a receiver that fails at random: lost, doubled without the same id, time."""
    with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
        project = Project(Path(folder), "generic")
        server = FaultServer(seed=7)
        project.env["HOOK"] = server.url("random")
        began = time.monotonic()
        ids = [project.put(1_000_000 + number) for number in range(messages)]
        put_seconds = time.monotonic() - began
        began = time.monotonic()
        result = project.onbox("notify", "flush", "--limit", "600", limit=700)
        seconds = time.monotonic() - began
        got = [json.loads(one.body)["data"]["id"] for one in server.acknowledged]
        heads = [one.id for one in server.acknowledged]
        server.close()
    lost = len(set(ids) - set(got))
    tries = len(server.received)
    print(f"\n{messages} messages, two thirds of the tries fail at random: exit {result.exit_code}, {tries} tries")
    print(f"lost {lost} · copies {len(got) - len(set(got))}, all with the id of the first: {heads == got}")
    print(f"in order: {list(dict.fromkeys(got)) == ids} · {seconds:.1f} s, {1000 * seconds / messages:.0f} ms each")
    print(f"put into the outbox (two flushes each): {1000 * put_seconds / messages:.1f} ms a message")


def bench_chain() -> None:
    """How much a chain of two stages is delayed by a receiver that hangs."""
    # A deliverer may still be at work there when the folder is removed.
    with tempfile.TemporaryDirectory(prefix="onbox-bench-", ignore_cleanup_errors=True) as folder:
        server = FaultServer()
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "HOOK": server.url("hang")}
        stages = "[stages.a]\ncmd = 'true'\n[stages.b]\ncmd = 'true'\n"
        for name, more in (("without", ""), ("hanging", "[notify]\nurls = ['env:HOOK']\n")):
            best = 9e9
            for number in range(5):
                project = Path(folder) / f"{name}{number}"
                project.mkdir()
                (project / "onbox.toml").write_text(stages + more)
                result = run([sys.executable, "-m", "onbox", "chain"], 60, env, str(project))
                best = min(best, result.seconds)
            print(f"a chain of two stages, {name:<8} receiver: {1000 * best:.0f} ms (best of 5)")
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which a sender counts as hanging")
    parser.add_argument("--only", choices=["faults", "random", "chain"])
    args = parser.parse_args()
    if args.only in (None, "faults"):
        senders: dict[str, Callable[[str, Fault, float], Result]] = {"onbox": by_onbox}
        if shutil.which("curl"):
            senders["curl -X POST"] = by_curl
        senders["requests.post"] = by_requests
        if shutil.which("apprise") or (Path(sys.executable).parent / "apprise").exists():
            senders["apprise"] = by_apprise
        with tempfile.TemporaryDirectory(prefix="onbox-bench-") as folder:
            bench_faults(senders, args.limit, Path(folder))
    if args.only in (None, "random"):
        bench_random(args.messages)
    if args.only in (None, "chain"):
        bench_chain()


if __name__ == "__main__":
    main()
