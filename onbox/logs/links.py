"""Where an experiment tracker keeps a run, as the tracker's own lines in the log tell. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

if TYPE_CHECKING:
    import re


class LinkRule(NamedTuple):
    """One kind of line. pattern: its groups are fields of `Links`. starts: the line begins a new run, so that what was
    known of the one before no longer holds.
    """

    tracker: str
    pattern: re.Pattern[str]
    starts: bool
    example: str


_HOST = r"https?://[^\s\"'<>/]{1,120}"
_REST = r"[^\s\"'<>)\]]{0,200}[^\s\"'<>)\].,;]"
_HEX = r"[0-9a-f]{32}"


def _rule(tracker: str, pattern: str, example: str, *, starts: bool = False) -> LinkRule:
    return LinkRule(tracker, lazy(pattern), starts, example)


RULES: tuple[LinkRule, ...] = (
    _rule("wandb", r"wandb: (?:Run data is saved|W&B syncing is set).{0,40}?(?P<offline_dir>/\S*offline-run-[\d_]+-(?P<run_id>[\w-]+))",
          "wandb: Run data is saved locally in /data/wandb/offline-run-20240101_000000-abc123", starts=True),
    _rule("wandb", r"wandb: Run data is saved locally in (?P<local_dir>\S*run-[\d_]+-(?P<run_id>[\w-]+))",
          "wandb: Run data is saved locally in /data/wandb/run-20240101_000000-abc123", starts=True),
    _rule("wandb", r"wandb: wandb sync (?P<offline_dir>\S*offline-run-[\d_]+-(?P<run_id>[\w-]+))",
          "wandb: wandb sync /data/wandb/offline-run-20240101_000000-abc123"),
    _rule("wandb", r"wandb: (?:Syncing|Resuming) run (?P<run_name>[^\s:]+)\s*$", "wandb: Syncing run misty-sun-7"),
    _rule("wandb", r"(?P<run_url>(?P<project_url>https?://[^\s\"'<>]{1,120}?/[\w.%-]{1,120}/[\w.%-]{1,120})/runs/(?P<run_id>[\w-]{1,120}))(?![\w/-])",
          "wandb: 🚀 View run at https://wandb.ai/acme/lm/runs/abc123"),
    _rule("wandb", r"(?:wandb|W&B):? .{0,12}[Vv]iew project at:? (?P<project_url>\S+)", "wandb: ⭐️ View project at https://wandb.ai/acme/lm"),
    _rule("wandb", r"wandb: .{0,12}[Vv]iew run (?P<run_name>\S+) at: (?P<run_url>\S+/runs/(?P<run_id>[\w-]+))",
          "wandb: 🚀 View run misty-sun-7 at: https://wandb.ai/acme/lm/runs/abc123"),
    _rule("mlflow", rf"[Vv]iew run (?P<run_name>\S+) at:? (?P<run_url>(?P<project_url>{_HOST}/?\S{{0,120}}#/experiments/\d{{1,24}})/runs/(?P<run_id>{_HEX}))",
          "🏃 View run swift-owl-3 at: http://10.0.0.2:5000/#/experiments/1/runs/0123456789abcdef0123456789abcdef"),
    _rule("mlflow", rf"(?P<run_url>(?P<project_url>{_HOST}/?\S{{0,120}}/experiments/\d{{1,24}})/runs/(?P<run_id>{_HEX}))",
          "http://10.0.0.2:5000/#/experiments/1/runs/0123456789abcdef0123456789abcdef"),
    _rule("mlflow", rf"[Vv]iew experiment at:? (?P<project_url>{_HOST}\S{{0,120}}/experiments/\d{{1,24}})",
          "🧪 View experiment at: http://10.0.0.2:5000/#/experiments/1"),
    _rule("mlflow", rf"(?i)mlflow.{{0,40}}\brun[ _]?id\W{{1,4}}(?P<run_id>{_HEX})", "mlflow run_id: 0123456789abcdef0123456789abcdef"),
    _rule("trackio", r"^\W*Trackio project initialized: (?P<project>.*\S)", "* Trackio project initialized: lm", starts=True),
    _rule("trackio", r"^\W*(?:Created new|Resumed existing|Initialized) run:? (?P<run_name>\S+)", "* Created new run: dainty-sunset-0"),
    _rule("trackio", r"^\W*Trackio metrics logged to: (?P<local_dir>/.*\S)", "* Trackio metrics logged to: /root/.cache/huggingface/trackio"),
    _rule("trackio", rf"(?P<project_url>{_HOST}/spaces/{_REST})", "* View dashboard by going to: https://huggingface.co/spaces/acme/trackio"),
    _rule("comet", rf"(?:COMET|comet).{{0,68}}(?<![\w/])(?P<run_url>(?P<project_url>{_HOST}/[\w.-]+/[\w.-]+)/(?P<run_id>[0-9a-zA-Z]{{32,50}}))(?![\w/])",
          "COMET INFO: Experiment is live on comet.com https://www.comet.com/acme/lm/0123456789abcdef0123456789abcdef"),
    _rule("comet", r"COMET INFO:\s+(?:[Dd]isplay [Nn]ame|[Nn]ame)\s+: (?P<run_name>\S+)", "COMET INFO:     name                  : run-7"),
    _rule("comet", r"comet upload (?P<offline_dir>\S{0,200}?(?P<run_id>[0-9a-zA-Z]{32,50})\.zip)",
          "    comet upload /data/.cometml-runs/0123456789abcdef0123456789abcdef.zip"),
    _rule("comet", r"(?P<run_url>(?P<project_url>https?://(?:www\.)?comet\.(?:com|ml)/[\w.-]+/[\w.-]+)/(?P<run_id>[0-9a-zA-Z]{32,50}))(?![\w/])",
          "https://www.comet.com/acme/lm/0123456789abcdef0123456789abcdef"),
    _rule("clearml", rf"(?:ClearML|TRAINS) Task: .{{0,120}}?task id=(?P<run_id>{_HEX})", "ClearML Task: created new task id=0123456789abcdef0123456789abcdef",
          starts=True),
    _rule("clearml", rf"(?P<run_url>{_HOST}/projects/{_HEX}/(?:experiments|tasks)/(?P<run_id>{_HEX})(?:/output/log|/{_REST})?)",
          "ClearML results page: https://app.clear.ml/projects/0123456789abcdef0123456789abcdef/experiments/0123456789abcdef0123456789abcdef/output/log"),
    _rule("clearml", rf"(?i)(?:clearml|trains).{{0,60}}offline.{{0,60}}?(?P<offline_dir>(?<!\S)/\S{{0,200}}?offline/(?P<run_id>offline-?{_HEX})\S*)",
          "ClearML Task: Offline session stored in /data/.clearml/cache/offline/offline-0123456789abcdef0123456789abcdef.zip"),
    _rule("neptune", rf"(?P<run_url>{_HOST}/[\w.-]+/[\w.-]+/(?:e|m)/(?P<run_id>[A-Z][A-Z0-9_]*-\d+))(?![\w-])",
          "https://app.neptune.ai/acme/lm/e/LM-87"),
    _rule("neptune", rf"(?P<run_url>{_HOST}/[\w.-]+/[\w.-]+/-/run/\S{{0,120}}?customId=(?P<run_id>[\w.%-]+)\S*)",
          "https://scale.neptune.ai/acme/lm/-/run/?customId=run-7"),
    _rule("neptune", r"(?i)neptune sync.{0,40}?(?P<offline_dir>(?<!\S)\S{0,200}?offline/(?:run__|\S{0,80}?/)?(?P<run_id>[0-9a-f]{8}-[0-9a-f-]{27})\S*)",
          "neptune sync --offline-only .neptune/offline/run__01234567-89ab-cdef-0123-456789abcdef"),
    _rule("neptune", r"offline/(?P<run_id>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})", "offline/01234567-89ab-cdef-0123-456789abcdef"),
    _rule("swanlab", rf"swanlab\W.{{0,120}}?(?P<run_url>(?P<project_url>{_HOST}/@[\w.-]+/[\w.-]+)/runs/(?P<run_id>[\w-]+))(?:/chart)?",
          "swanlab: 🚀 View run at https://swanlab.cn/@acme/lm/runs/abc123"),
    _rule("swanlab", r"swanlab: .{0,120}?[Vv]iew project at (?P<project_url>\S+)", "swanlab: 🏠 View project at https://swanlab.cn/@acme/lm"),
    _rule("swanlab", r"swanlab: (?:Syncing|Resuming) (?:run|experiment) (?P<run_name>\S+)", "swanlab: Syncing run swift-fox-2"),
    _rule("swanlab", r"swanlab: .{0,120}?(?P<offline_dir>(?<!\S)\S{0,200}?swanlog/run-\d{8}_\d{6}-(?P<run_id>\w+))",
          "swanlab: Run data will be saved locally in /data/swanlog/run-20240101_000000-abc123"),
)  # fmt: skip
_FIELDS = ("tracker", "run_id", "run_url", "project_url", "run_name", "offline_dir", "local_dir", "project")
_TRACES = ("wandb", "://", "rackio", "un: ", "comet", "COMET", "ask id=", "offline", "swanlab", "mlflow")


class Links:
    """The tracker's run in force after the lines that `look` was given. Every field is None until a line tells it.

    tracker: `wandb`, `mlflow`, ... run_id, run_url, project_url, run_name: of the run. offline_dir: where a run that was
    not sent is kept. local_dir: where the tracker keeps any run on this disk. project: its name, as trackio tells it.
    """

    def __init__(self) -> None:
        self.tracker: str | None = None
        self.run_id: str | None = None
        self.run_url: str | None = None
        self.project_url: str | None = None
        self.run_name: str | None = None
        self.offline_dir: str | None = None
        self.local_dir: str | None = None
        self.project: str | None = None

    def state(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Links:
        links = cls()
        for name in _FIELDS:
            setattr(links, name, state.get(name))
        return links

    def look(self, text: str) -> None:
        """Take in one line."""
        if not any(trace in text for trace in _TRACES):
            return
        for rule in RULES:
            found = rule.pattern.search(text)
            if found and not (rule.tracker == "wandb" and _is_other(text)):
                self._take(rule, found.groupdict())

    def _take(self, rule: LinkRule, told: dict[str, str | None]) -> None:
        other = told.get("run_id") not in (None, self.run_id) and self.run_id is not None
        if other or (rule.starts and told.get("run_id") != self.run_id):
            tracker_stays = rule.tracker == self.tracker
            project = self.project_url if tracker_stays and told.get("run_id") is None else None
            self.__init__()  # type: ignore[misc]
            self.project_url = project
        self.tracker = rule.tracker
        for name, value in told.items():
            if value is not None and name in _FIELDS:
                setattr(self, name, value.rstrip(".,;)"))


def _is_other(text: str) -> bool:
    """Other trackers have `/runs/` in their addresses too."""
    return "#/experiments/" in text or "/experiments/" in text or "swanlab" in text or "/ml/" in text
