"""The tools: each asks one of our own programs, and makes an answer of what it says.

What a tool is for stands in its docstring, which agents read: short, and the same whatever a box says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import anyio

from onbox.contract.exits import Exit
from onbox.contract.names import name_problem
from onbox.contract.readings import Absent, Unseen
from onbox.errors import Trouble
from onbox.fence import fence, fenced, fenced_lines
from onbox.outside import safe_line
from onbox.system.clock import monotonic, parse_utc, utc_text, wall
from onbox.system.files import read_file
from patrol.config.configured import choose_boxes, split_run
from patrol.config.ssh_target import target_of
from patrol.mcp.answers import answer, name_of, named, page, plain, unseen_of
from patrol.mcp.log_tail import GREP_BYTES, LINES_LIMIT, read_tail
from patrol.mcp.shapes import (
    failure_row,
    fence_all,
    flag_row,
    moment_of,
    not_seen,
    resume_row,
    rows_of,
    run_row,
    stage_row,
    time_text,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from patrol.config.settings import Settings
    from patrol.mcp.children import ChildEnded, Programs

    Report = Callable[[float, float, str], Awaitable[None]]

LOOK_SECONDS = 120.0
FRESH_SECONDS = 5.0  # calls that come together share one look
WAIT_LIMIT_SECONDS = 600.0
PROGRESS_SECONDS = 10.0
GREP_LIMIT = 200
NOTE_LIMIT = 4000
POINTS_LIMIT = 1000
RUN = re.compile(r"[^/:\s]{1,100}[/:][^/:\s]{1,100}")


class CallRefused(Exception):
    """A call that cannot be answered: what, what was seen, what to do. One line."""


class Tools:
    """allow: what a person allowed when the server was started: nothing, or `resume`."""

    def __init__(self, settings: Settings, programs: Programs, allow: frozenset[str] = frozenset()) -> None:
        self.settings, self.programs, self.allow = settings, programs, allow
        self._looking = anyio.Lock()
        self._looked: tuple[float, ChildEnded] | None = None

    # -- what is known without a look

    async def list_runs(self, cursor: str | None = None) -> dict[str, Any]:
        """Every run that the patrol knows, by its last tick. Looks at no box; `tick` looks now."""
        said = await self.programs.run("patrol", ("status", "--json"), limit_seconds=LOOK_SECONDS)
        document = _document(said, "patrol status")
        rows = [run_row(row) for row in document.get("runs", ())]
        shown, following = _page(rows, cursor)
        patrol = document.get("patrol", {})
        last = patrol.get("last_tick") or {}
        ended = last.get("ended_at")
        missing = [] if ended else ["no tick has looked yet: call `tick`"]
        if patrol.get("stale"):
            missing.append("the patrol has been silent for more than two of its cadences")
        return answer(shown, as_of=time_text(ended), could_not_look=missing, next_cursor=following)

    # -- what is looked at now

    async def tick(self, box: str = "") -> dict[str, Any]:
        """Look at every box now, or at one, in one SSH connection each. Changes nothing on a box."""
        words = ["tick", "--json", "--look-only"]
        if box:
            choose_boxes(self.settings, [box])
            words.append(box)
        said = await self.programs.run("patrol", words, limit_seconds=LOOK_SECONDS)
        document = _document(said, "patrol tick")
        rows = [run_row(row) for row in document.get("runs", ())]
        missing = [f"{name_of(row)}: not reached" for row in document.get("runs", ()) if not row.get("look")]
        return answer(rows, as_of=time_text(document.get("at")) or utc_text(wall()), could_not_look=missing)

    async def run_summary(self, run: str) -> dict[str, Any]:
        """One run, looked at now: state and the rule that says so, stages with exit codes and durations, attempt,
        progress, failure, where its log lies.
        """
        facts, as_of = await self._facts(run)
        missing = not_seen(facts)
        missing += [f"{key}: {why}" for key, value in facts.items() if (why := unseen_of(value)) is not None]
        progress = plain(facts.get("progress"))
        data = {
            **{key: named(facts.get(key)) for key in _PLAIN},
            "run": name_of(facts),
            **{key: fenced(plain(facts.get(key))) for key in ("says", "remedy", "place", "log")},
            "progress": fenced(progress) if isinstance(progress, str) else progress and fence_all(progress),
            "stages": [stage_row(stage) for stage in plain(facts.get("stages")) or ()],
            "failure": failure_row(plain(facts.get("failure"))),
            "further": [flag_row(one) for one in plain(facts.get("further")) or ()],
        }
        return answer(data, as_of=as_of, could_not_look=missing)

    async def triage(self, run: str) -> dict[str, Any]:
        """Why a run failed: class, the line that proves it, what to do, whether a retry can help. null: no failure."""
        facts, as_of = await self._facts(run)
        failure = plain(facts.get("failure"))
        why = unseen_of(facts.get("failure"))
        data = {"run": name_of(facts), "state": facts.get("state"), "rule": facts.get("rule"), "failure": None}
        if failure:
            data |= {"failure": failure_row(failure), "never": facts.get("never"), "then": facts.get("then")}
        return answer(data, as_of=as_of, could_not_look=[*not_seen(facts), *([f"failure: {why}"] if why else ())])

    async def checkpoints(self, run: str, cursor: str | None = None) -> dict[str, Any]:
        """What a run has saved: step, path, size, age, whole or why not, why each is kept; `select`: what a resume goes
        on from. Highest step first, 200 an answer; cursor: the next ones.
        """
        box, name = self._run(run)
        said = await self.programs.run("patrol", ("checkpoints", "--json", f"{box}/{name}"), limit_seconds=LOOK_SECONDS)
        if not isinstance(said.document, dict):
            return answer(None, as_of=None, could_not_look=[_why_not(said)])
        chosen = said.document.get("select")
        why = unseen_of(chosen)
        found = [fence_all(one) for one in rows_of(said.document.get("checkpoints"))]
        found.sort(key=lambda one: -(one["step"] if isinstance(one.get("step"), int) else -1))
        missing = [
            f"{named(one.get('stage'))}: {fence(text)}"
            for one in rows_of(said.document.get("stages"))
            for text in one.get("could_not_look") or ()
        ]
        shown, following = _page(found, cursor)
        data = {"run": f"{box}/{name}", "select": fence_all(plain(chosen)), "checkpoints": shown}
        missing = [*([why] if why else ()), *missing]
        return answer(data, as_of=moment_of(said.document.get("at")), could_not_look=missing, next_cursor=following)

    async def series(self, run: str, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """A run's numbers, newest last: step, loss, learning rate, speed, memory, checkpoints. limit: at most 1000
        points an answer; cursor: the ones before them. Of the ticks where the box keeps none.
        """
        box, name = self._run(run)
        most = max(1, min(limit, POINTS_LIMIT))
        said = await self.programs.run("patrol", ("series", "--json", f"{box}/{name}"), limit_seconds=LOOK_SECONDS)
        if isinstance(said.document, dict):
            points = [{key: named(value) for key, value in one.items()} for one in rows_of(said.document.get("points"))]
            missing = [] if points else ["no point was taken yet"]
            as_of = moment_of(points[-1].get("at")) if points else None
            shown, following = _page_back(points, cursor, most)
            return answer(shown, as_of=as_of, could_not_look=missing, next_cursor=following)
        words = ("history", f"{box}/{name}", "--points", "--json", "-n", str(POINTS_LIMIT))
        ticks = await self.programs.run("patrol", words, limit_seconds=LOOK_SECONDS)
        rows = ticks.document.get("rows", []) if isinstance(ticks.document, dict) else []  # no tick has seen it
        as_of = time_text(rows[-1].get("at")) if rows else None
        shown, following = _page_back(rows, cursor, most)
        return answer(shown, as_of=as_of, could_not_look=[_why_not(said)], next_cursor=following)

    async def next_step(self, run: str) -> dict[str, Any]:
        """What a person or an agent may type next for a run, and what needs a person's word. Runs nothing."""
        facts, as_of = await self._facts(run)
        data = {"run": name_of(facts), "state": facts.get("state"), **{key: plain(facts.get(key)) for key in _STEP}}
        data["a_resume_would"] = resume_row(plain(facts.get("resume")))
        return answer(data, as_of=as_of, could_not_look=not_seen(facts))

    async def tail_logs(self, run: str, lines: int = 50, since: str | None = None, grep: str = "") -> dict[str, Any]:
        """The end of a run's log. lines: at most 500. since: the cursor of an earlier answer: only what came after it.
        grep: only lines that match this extended regular expression, within the last 16 MiB.
        """
        if len(grep) > GREP_LIMIT or "\n" in grep or "\0" in grep:
            raise CallRefused(f"grep: at most {GREP_LIMIT} characters on one line")
        if since is not None and not re.fullmatch(r"[0-9]{1,15}", since):
            raise CallRefused(f"since: {safe_line(since, 40)!r} is not a cursor of an earlier answer")
        facts, _ = await self._facts(run)
        path = plain(facts.get("log"))
        if not path:
            why = unseen_of(facts.get("log"))
            return answer([], as_of=None, could_not_look=[why or "no log of this run is known"])
        (box,) = choose_boxes(self.settings, [facts["box"]])
        wanted = max(1, min(lines, LINES_LIMIT))
        offset = None if since is None else int(since)
        found = await anyio.to_thread.run_sync(
            read_tail, target_of(self.settings, box), path, wanted, offset, grep, abandon_on_cancel=True
        )
        if isinstance(found, Absent | Unseen):
            return answer([], as_of=None, could_not_look=[fence(found.why)])
        missing = [f"only the last {GREP_BYTES >> 20} MiB were searched"] if grep and found.begins else []
        return answer(
            fenced_lines(found.lines), as_of=utc_text(wall()), could_not_look=missing, next_cursor=str(found.ends)
        )

    # -- waiting and writing

    async def wait(self, run: str, timeout_seconds: float, report: Report) -> dict[str, Any]:
        """Wait until a run ends, at most 600 s. Ends early when it is done, or when it is clear that it never will be;
        `timed_out` means that it goes on: call again.
        """
        box, name = self._run(run)
        limit = max(1.0, min(float(timeout_seconds), WAIT_LIMIT_SECONDS))
        words = ("wait", "--json", "--timeout", f"{limit:g}s", f"{box}:{name}")
        began = monotonic()
        said: list[ChildEnded] = []

        async def ask() -> None:
            said.append(await self.programs.run("sentinels", words, limit_seconds=limit + 60.0))
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while True:
                await report(monotonic() - began, limit, f"waiting for {box}/{name}")
                await anyio.sleep(PROGRESS_SECONDS)
        ended = said[0]
        document = ended.document if isinstance(ended.document, dict) else {}
        if not document:
            why = fence(ended.complaint) or "it said nothing"
            return answer(None, as_of=None, could_not_look=[f"sentinel wait: {why}"])
        data = {key: document.get(key) for key in ("outcome", "exit_code", "waited_seconds")}
        data |= {"run": f"{box}/{name}", "says": fenced(document.get("say"))}
        return answer(data, as_of=utc_text(wall()))

    async def log_note(
        self, run: str, text: str, kind: Literal["observation", "decision", "escalation"] = "observation"
    ) -> dict[str, Any]:
        """Write a note into a run's logbook, which is append-only. The only thing here that changes anything."""
        box, name = self._run(run)
        if not text.strip() or len(text) > NOTE_LIMIT or "\0" in text:
            raise CallRefused(f"text: 1 to {NOTE_LIMIT} characters")
        words = ("log", "--run", f"{box}/{name}", "--kind", kind, "--", text)
        said = await self.programs.run(
            "handbook", words, limit_seconds=LOOK_SECONDS, environment={"ONBOX_ACTOR": "agent"}
        )
        if said.exit_code != 0:
            raise CallRefused(f"not written: {fence(said.complaint) or 'the handbook did not answer'}")
        return answer({"written": True, "run": f"{box}/{name}", "kind": kind}, as_of=utc_text(wall()))

    async def act(self, run: str, action: Literal["resume", "stop", "prune", "acknowledge"]) -> dict[str, Any]:
        """Ask for something that changes a run. Answers with the command for a person, and why; runs it only where a
        person allowed it when the server was started, and the run's rule allows it.
        """
        facts, as_of = await self._facts(run)
        commands = {
            "resume": facts.get("resume_command"),
            "stop": facts.get("stop_command"),
            "prune": facts.get("prune_command"),
            "acknowledge": f"patrol ack {name_of(facts)}",
        }
        data = {"run": name_of(facts), "done": False, "command": commands[action], "never": facts.get("never")}
        if action not in self.allow or not data["command"]:
            why = _ASK[action] if data["command"] else _NO_COMMAND[action]
            return answer({**data, "why": why}, as_of=as_of, could_not_look=not_seen(facts))
        # Resume as `recover = "resume"` does it: by a tick that acts, which asks the same rules and looks twice.
        began = wall()
        said = await self.programs.run("patrol", ("tick", "--json", facts["box"]), limit_seconds=LOOK_SECONDS)
        rows = _document(said, "patrol tick").get("runs", ())
        row: Mapping[str, Any] = next((row for row in rows if row["run"] == facts["run"]), {})
        return answer(
            {**data, "done": await self._was_resumed(facts, began), "why": fenced(row.get("line"))},
            as_of=utc_text(wall()),
        )

    async def _was_resumed(self, facts: Mapping[str, Any], since: float) -> bool:
        """Whether the patrol has put a resume of this run on record since then."""
        said = await self.programs.run("patrol", ("history", "--acts", "--json"), limit_seconds=LOOK_SECONDS)
        acts = _document(said, "patrol history").get("rows", ())
        own = (act for act in acts if (act["box"], act["run"]) == (facts["box"], facts["run"]) and act["at"] >= since)
        return any((act["kind"], act["outcome"]) == ("resume-outcome", "resumed") for act in own)

    # -- resources

    async def handbook_page(self) -> str:
        """The handbook's page."""
        return await anyio.to_thread.run_sync(_read, f"{self.settings.folder}/HANDBOOK.md")

    async def logbook(self, run: str) -> str:
        """A run's logbook."""
        if (problem := name_problem(run)) is not None:
            raise CallRefused(f"{safe_line(run, 60)!r} is not a run's name: {problem}")
        return await anyio.to_thread.run_sync(_read, f"{self.settings.folder}/logbook/{run}.md")

    # -- shared

    def _run(self, word: str) -> tuple[str, str]:
        """Box and run of `BOX/RUN`. Raises CallRefused, Trouble."""
        if not RUN.fullmatch(word):
            raise CallRefused(f"run: {safe_line(word, 60)!r} is not BOX/RUN, as `list_runs` names it")
        box, name = split_run(word)
        choose_boxes(self.settings, [box])
        if name is None or name_problem(name) is not None:
            raise CallRefused(f"run: {safe_line(word, 60)!r} is not a run's name")
        return box, name

    async def _facts(self, word: str) -> tuple[Mapping[str, Any], str | None]:
        """What a look of now says of one run."""
        box, name = self._run(word)
        document = _document(await self._look(), "handbook resume")
        runs = document.get("runs", ())
        for facts in runs:
            if (facts["box"], facts["run"]) == (box, name):
                return facts, plain(facts.get("seen_at")) or document.get("as_of")
        known = ", ".join(name_of(facts) for facts in runs[:10])
        raise CallRefused(f"no run {box}/{name} is known; there are: {known or 'none'}")

    async def _look(self) -> ChildEnded:
        async with self._looking:
            if self._looked is not None and monotonic() - self._looked[0] < FRESH_SECONDS:
                return self._looked[1]
            said = await self.programs.run("handbook", ("resume", "--json"), limit_seconds=LOOK_SECONDS)
            if self.settings.config.boxes and isinstance(said.document, dict) and said.document.get("here"):
                # Nobody has looked at a box from here yet, and the project has runs of its own: it told of those.
                await self.programs.run("patrol", ("tick", "--json", "--look-only"), limit_seconds=LOOK_SECONDS)
                said = await self.programs.run("handbook", ("resume", "--json"), limit_seconds=LOOK_SECONDS)
            self._looked = (monotonic(), said)
            return said


_PERSON = "a person types it: no flag of this server allows it to an agent"
_ASK = {
    "resume": "a person types it: this server was not started with --allow resume",
    "stop": _PERSON,
    "acknowledge": f"{_PERSON}; it says that somebody has seen the end",
    "prune": f"{_PERSON}; a removed checkpoint cannot be brought back. This lists what may go and removes nothing; "
    "what to type to remove exactly that list stands below it",
}
_NO_COMMAND = {
    "resume": "it is done: there is nothing to resume",
    "stop": "no process of it is known: there is nothing to stop",
    "prune": "onbox did not start it: nothing here knows which of its files may go",
}
_PLAIN = (
    "run_id", "managed", "state", "rule", "severity", "since", "stage", "attempt", "stages_done", "stages_total",
    "restarts", "acknowledged", "waiting", "memory",
)  # fmt: skip
_STEP = (
    "next_command", "step", "then", "never", "with_a_persons_word", "resume_command", "resume_precondition",
    "dry_run_command", "stop_command",
)  # fmt: skip


def _document(said: ChildEnded, program: str) -> Mapping[str, Any]:
    """Raises CallRefused where it gave no answer in its time."""
    if isinstance(said.document, dict):
        return said.document
    if said.exit_code is None:
        raise CallRefused(f"could not look: {program} did not answer in {LOOK_SECONDS:g} s")
    raise CallRefused(f"could not look: {program}: {fence(said.complaint) or f'exit code {said.exit_code}'}")


def _why_not(said: ChildEnded) -> str:
    """Why a program on the box gave no document; what it said, it may have said there."""
    if said.exit_code is None:
        return f"no answer in {LOOK_SECONDS:g} s"
    return fence(said.complaint or said.output) or f"exit code {said.exit_code}"


def _page(rows: list[Any], cursor: str | None) -> tuple[list[Any], str | None]:
    try:
        return page(rows, cursor)
    except ValueError:
        raise CallRefused(f"cursor: {safe_line(str(cursor), 40)!r} is not one of an earlier answer") from None


def _page_back(rows: list[Any], cursor: str | None, limit: int) -> tuple[list[Any], str | None]:
    """The newest rows, or those before the moment `cursor`: new ones come at the end, so a place would move."""
    before = None if cursor is None else parse_utc(cursor[:40])
    if cursor is not None and before is None:
        raise CallRefused(f"cursor: {safe_line(cursor, 40)!r} is not one of an earlier answer")
    times = [(parse_utc(time_text(row.get("at")) or "") or 0.0, row) for row in rows]
    older = [(at, row) for at, row in times if before is None or at < before]
    shown = older[-limit:]
    return [row for _, row in shown], utc_text(shown[0][0]) if len(older) > len(shown) else None


def _read(path: str) -> str:
    data = read_file(path)
    if data is None:
        raise Trouble(Exit.USAGE, f"{path} is not there yet: handbook build")
    return data[: 1 << 20].decode("utf-8", "replace")
