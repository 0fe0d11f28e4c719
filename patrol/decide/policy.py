"""The policy: thresholds and rules as the user wants them. Read from `[patrol]` with every error at once. Pure."""

from __future__ import annotations

from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onbox.config import values
from onbox.config.fields import ConfigErrors, Table, Unwanted
from onbox.did_you_mean import did_you_mean
from onbox.named_tuple import NamedTuple
from patrol.decide.cadence import cadence_of
from patrol.decide.phrases import clean
from patrol.decide.table import BOX_FLAGS, BOX_RULES, LAST_NAMES, LINK_RULES, NAMES, RUN_FLAGS, RUN_RULES
from patrol.decide.thresholds import DEFAULTS, THRESHOLDS, Thresholds
from patrol.verdict import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onbox.config.fields import ConfigError
    from onbox.model.boxes import PatrolSettings
    from patrol.decide.box_scene import BoxScene, LinkScene
    from patrol.decide.rule import Rule
    from patrol.decide.run_scene import RunScene

RULE_KEYS = ("name", "severity", "message", "remedy", "enabled", "before")
MESSAGE_FIELDS = ("say", "box", "run")
_SEVERITIES = {severity.name.lower(): severity for severity in Severity}
_THRESHOLD_KEYS = tuple(row.key for row in THRESHOLDS)


class Policy(NamedTuple):
    """What `decide` decides by. of_run: thresholds that were set for one run, by `box/run` or by run name."""

    thresholds: Thresholds = DEFAULTS
    of_run: Mapping[str, Thresholds] = MappingProxyType({})
    run_rules: tuple[Rule[RunScene], ...] = RUN_RULES
    run_flags: tuple[Rule[RunScene], ...] = RUN_FLAGS
    box_flags: tuple[Rule[BoxScene], ...] = BOX_FLAGS
    link_rules: tuple[Rule[LinkScene], ...] = LINK_RULES
    box_rules: tuple[Rule[BoxScene], ...] = BOX_RULES

    def limits(self, box: str, run: str) -> Thresholds:
        """The thresholds for one run: its own, else those of its name, else the common ones."""
        return self.of_run.get(f"{box}/{run}") or self.of_run.get(run) or self.thresholds

    @property
    def ill_rules(self) -> frozenset[str]:
        """Names of rules that speak of something ill: for flapping."""
        rules: tuple[Rule[Any], ...] = (*self.run_rules, *self.link_rules)
        return frozenset(rule.name for rule in rules if rule.severity is not Severity.OK)


class Change(NamedTuple):
    """What a user wants of one rule; None: as it is."""

    name: str
    severity: Severity | None = None
    message: str | None = None
    remedy: str | None = None
    enabled: bool = True
    before: str | None = None


def read_policy(patrol: PatrolSettings) -> Policy:
    """Thresholds and rules of `[patrol]`. Raises ConfigErrors with every error."""
    errors: list[ConfigError] = []
    common, of_run = _read_thresholds(patrol, errors)
    changes = [change for at, rule in enumerate(patrol.rules) if (change := _read_rule(at, rule, errors))]
    if errors:
        raise ConfigErrors(errors)
    return Policy(
        common,
        MappingProxyType(of_run),
        *(changed(group, changes) for group in (RUN_RULES, RUN_FLAGS, BOX_FLAGS, LINK_RULES, BOX_RULES)),
    )


def _read_thresholds(patrol: PatrolSettings, errors: list[ConfigError]) -> tuple[Thresholds, dict[str, Thresholds]]:
    """The common ones, and a table per run: `[patrol.thresholds."gpu1/digits"]`."""
    tables = {key: value for key, value in patrol.thresholds.items() if _is_table(value) and key not in _THRESHOLD_KEYS}
    plain = {key: value for key, value in patrol.thresholds.items() if key not in tables}
    base = DEFAULTS._replace(cadence_seconds=cadence_of(patrol.schedule))
    common = _read_table("patrol.thresholds", plain, base, errors)
    path = Table("patrol.thresholds", {}, None, errors)
    return common, {run: _read_table(path.path_of(run), value, common, errors) for run, value in tables.items()}


def _read_table(path: str, value: object, base: Thresholds, errors: list[ConfigError]) -> Thresholds:
    table = Table(path, value, _THRESHOLD_KEYS, errors)
    found: dict[str, Any] = {row.field: table.read(row.key, row.parse, getattr(base, row.field)) for row in THRESHOLDS}
    return base._replace(**found)


def _is_table(value: object) -> bool:
    return hasattr(value, "keys")


def _rule_name(value: object) -> str:
    if not isinstance(value, str) or value not in NAMES:
        raise Unwanted("a rule" + did_you_mean(str(value)[:60], NAMES))
    return value


def _severity(value: object) -> Severity:
    return _SEVERITIES[values.one_of(tuple(_SEVERITIES), "a severity")(value)]


def _message(value: object) -> str:
    text = values.text(value)
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise Unwanted(f"a message whose braces are closed ({error}); write {{{{ for a brace") from error
    unknown = [field for field in fields if field not in MESSAGE_FIELDS]
    if unknown:
        raise Unwanted("a message with no other fields than " + ", ".join(f"{{{name}}}" for name in MESSAGE_FIELDS))
    return text


def _read_rule(at: int, rule: Mapping[str, object], errors: list[ConfigError]) -> Change | None:
    table = Table(f"patrol.rules[{at}]", rule, RULE_KEYS, errors)
    name = table.require("name", _rule_name, None, "the name of a rule, such as stalled")
    change = Change(
        name=name or "",
        severity=table.read("severity", _severity, None),
        message=table.read("message", _message, None),
        remedy=table.read("remedy", values.text, None),
        enabled=table.read("enabled", values.flag, True),
        before=table.read("before", _rule_name, None),
    )
    if name in LAST_NAMES and (not change.enabled or change.before):
        table.fail("name", name, "a rule that may be moved or switched off: it answers when no other does")
    if name and change.before and not _same_group(name, change.before):
        table.fail("before", change.before, f"a rule that is asked together with {name}")
    return change if name else None


def _same_group(one: str, other: str) -> bool:
    groups: tuple[tuple[Rule[Any], ...], ...] = (RUN_RULES, RUN_FLAGS, BOX_FLAGS, LINK_RULES, BOX_RULES)
    return any({one, other} <= {rule.name for rule in group} for group in groups)


def changed(rules: Sequence[Rule[Any]], changes: Sequence[Change]) -> tuple[Rule[Any], ...]:
    """The rules as a user wants them, one change after the other."""
    table = list(rules)
    for change in changes:
        at = next((at for at, rule in enumerate(table) if rule.name == change.name), None)
        if at is None:
            continue
        rule = table.pop(at)
        if not change.enabled:
            continue
        to = next((at for at, other in enumerate(table) if other.name == change.before), at)
        table.insert(to, _reworded(rule, change))
    return tuple(table)


def _reworded(rule: Rule[Any], change: Change) -> Rule[Any]:
    if change.severity is not None:
        rule = rule.but(severity=change.severity)
    if change.remedy is not None:
        remedy = change.remedy
        rule = rule.but(remedy=lambda _: remedy)
    if change.message is not None:
        message, say = change.message, rule.say
        rule = rule.but(say=lambda scene: _filled(message, scene, say(scene)))
    return rule


def _filled(text: str, scene: Any, say: str) -> str:
    """The user's message. What comes from the box is filled in as it is, never read as a template."""
    box = scene.box if isinstance(scene.box, str) else scene.box.box
    run = getattr(scene, "run", None) or getattr(getattr(scene, "look", None), "run", "")
    return clean(text.format(say=say, box=box, run=run), 400)
