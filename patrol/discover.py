"""What could be watched on a box that nobody has described yet: found by one look, read-only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from onbox.redact import printable
from patrol.ssh import NoAnswer, script_with_values

if TYPE_CHECKING:
    from patrol.ssh import Answer

END_MARK = b"<<<onbox discover end>>>"
SECONDS = 6  # on the box, for each search
PROJECTS_LIMIT = 20

# Run directories are known by run.json beside events.jsonl. Bounded in depth and time; other file systems are not
# entered, so that a hung mount costs nothing. Every line begins with a letter.
SCRIPT = r"""
bounded() { if command -v timeout >/dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi; }
seconds=$1
printf 'H %s\n' "$HOME"
for root in "$HOME" /root /workspace /data /mnt /scratch /home /opt /srv; do
  [ -d "$root" ] || continue
  case $root in "$HOME") ;; *) case $HOME in "$root"/*) continue ;; esac ;; esac
  bounded find "$root" -xdev -maxdepth 6 -name run.json -type f 2>/dev/null
done | while IFS= read -r file; do
  folder=${file%/run.json}
  [ -f "$folder/events.jsonl" ] || continue
  project=$(sed -n 's/.*"project": *"\([^"\\]*\)".*/\1/p' "$file" | head -n 1)
  printf 'R %s\t%s\n' "$project" "$folder"
done | head -n 100
tmux ls 2>/dev/null | cut -d: -f1 | head -n 10 | while IFS= read -r name; do printf 'S %s\n' "$name"; done
ps -eo pid=,etime=,args= 2>/dev/null | grep -E '[p]ython[0-9.]* .*[.]py|[t]orchrun|[d]eepspeed|[a]ccelerate launch' \
  | grep -v 'onbox' | cut -c1-200 | head -n 10 | while IFS= read -r line; do printf 'P %s\n' "$line"; done
echo '<<<onbox discover end>>>'
"""


class Found(NamedTuple):
    """projects: project directories of runs that onbox started, each with the folder that holds its runs. sessions: of
    tmux. processes: command lines that look like training. truncated: whether there may be more projects.
    """

    projects: tuple[tuple[str, str], ...]
    sessions: tuple[str, ...]
    processes: tuple[str, ...]


def discover_stdin() -> bytes:
    return script_with_values(SCRIPT, (str(SECONDS),))


def parse_found(answer: Answer | NoAnswer) -> Found | NoAnswer:
    """What the box said."""
    if isinstance(answer, NoAnswer):
        return answer
    projects: dict[str, str] = {}
    sessions, processes = [], []
    for line in answer.output.decode("utf-8", "replace").split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "R":
            project, _, folder = rest.partition("\t")
            state_dir = folder.rpartition("/")[0]
            place = project or state_dir.rpartition("/")[0]
            if re.fullmatch(r"/[^\x00-\x1f]*", place) and len(projects) < PROJECTS_LIMIT:
                projects.setdefault(place, state_dir)
        elif kind == "S":
            sessions.append(printable(rest))
        elif kind == "P":
            processes.append(printable(rest.strip()))
    return Found(tuple(projects.items()), tuple(sessions), tuple(processes))


def state_dir_of(project: str, state_dir: str, default: str) -> str | None:
    """What `state_dir` must say for the runs of a project to be found; None: nothing, they are where they are by
    default.
    """
    below = state_dir[len(project) + 1 :] if state_dir.startswith(f"{project}/") else state_dir
    return None if below == default else below
