"""Whether a shell that shows its commands works on after one of them has failed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.regex import lazy
from onbox.triage.weighing.went_on import first_line, is_complaint

if TYPE_CHECKING:
    import re

    from onbox.triage.reading.record import Fault
    from onbox.triage.weighing.scene import Scene

# Of `set -x`, and of a prompt.
_TRACED = lazy(r"^\+{1,3} (\S.*)$")
_PROMPT = lazy(r"^((?:\([\w.-]{1,40}\) ?)?(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[: ][^$#%]{0,80})?[$%\u276f\u279c]) (\S.*)$")
# What comes also where a script leaves.
_NO_WORK = lazy(
    r"(?:exit|return|logout|echo|printf|date|trap|rm|kill|pkill|wait|cleanup\w{0,40}|\[\[?|test|true|false|:|sleep|set|unset"
    r"|ls|du|df|free|ps|uptime|env|cat|head|tail|nvidia-smi|deactivate|popd|cd|shift|local|export|hostname|module|conda|mail|sendmail|curl|notify\w{0,40}|scancel|squeue|sacct"
    r"|[A-Za-z_]\w{0,60}=\S{0,400})(?:\s|$)"
)
_LEAVES = lazy(r"(?:exit|logout)\b")  # a person who asks for more is there
_BAD_END = lazy(r"(?:exit|return) [1-9]|\w{0,40}(?:rc|ret|status|code|err)\w{0,20}=[1-9]")


def a_shell_goes_on(fault: Fault, scene: Scene) -> bool:
    """Whether the shell that started what failed shows the next commands, and works on."""
    if scene.dead or not is_complaint(fault):
        return False
    for shown, leaves in ((_TRACED, _NO_WORK), (_PROMPT, _LEAVES)):
        commands = [(line.number, hit) for line in scene.record.tail if (hit := shown.match(line.text))]
        before = [_asked_by(hit) for number, hit in commands if number < first_line(fault)]
        after = [hit for number, hit in commands if number > fault.number and _asked_by(hit) in before]
        said = [hit[hit.re.groups] for hit in after]
        if any(_BAD_END.match(command) for command in said):
            return False
        if any(not leaves.match(command) for command in said):
            return True
    return False


def _asked_by(hit: re.Match[str]) -> str:
    """The prompt, without the folder that it shows."""
    return hit[1].split(":")[0] if hit.re.groups > 1 else "+"
