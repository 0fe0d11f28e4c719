"""What could be watched on a box that nobody has described yet: found by one look, read-only."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from onbox.contract.names import run_name_from
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from patrol.ssh.client import NoAnswer, script_with_values

if TYPE_CHECKING:
    from patrol.ssh.client import Answer

END_MARK = b"<<<onbox discover end>>>"
SECONDS = 6  # on the box, for each search
PROJECTS_LIMIT = 20
USUAL_PLACES = ("/root", "/workspace", "/data", "/mnt", "/scratch", "/home", "/opt", "/srv")  # beside one's home
_PLACE = r"/[^\x00-\x1f]*"

# Run directories are known by run.json beside events.jsonl. Bounded in depth, number and time; other file systems are
# not entered, so that a hung mount costs nothing. A project that is not there any more (a copy, an example, a moved
# folder) has no runs; a run says by its journal when it moved, in seconds since the epoch, and of each project the one
# that moved last is told: the bound is on projects. What another account than ours wrote is F and comes after all that
# is ours; to root all is ours. A sweep is told, its thousand cells are not.
# A process that a run started names it in its environment: it is found wherever its project lies, and is no other
# training. What else looks like training is told with its parent, its working directory and where its stdout goes, the
# workers of one that is told are not: they would use up the bound. Every line begins with a letter.
SCRIPT = r"""
bounded() { if command -v timeout >/dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi; }
seconds=$1 project=$2
shift 2
uid=$(id -u)
tab=$(printf '\t')
form='-c%Y %n'
stat "$form" / >/dev/null 2>&1 || form='-f%m %N'
tell_projects() { # of lines KIND SECONDS<tab>FOLDER, the first one of each project, with its project between
  awk -F'\t' '{
    of = ""
    file = $2 "/run.json"
    while (of == "" && (getline line < file) > 0)
      if (match(line, /"project": *"[^"\\]*"/)) {
        of = substr(line, RSTART, RLENGTH)
        sub(/^"project": *"/, "", of)
        sub(/"$/, "", of)
      }
    close(file)
    print $1 "\t" of "\t" $2
  }' | while IFS= read -r line; do
    of=${line#*"$tab"}
    of=${of%%"$tab"*}
    [ -z "$of" ] || [ -d "$of" ] || continue
    printf '%s\n' "$line"
  done | awk -F'\t' '{ of = $2; if (of == "") { of = $3; sub("/[^/]*/[^/]*$", "", of) } } !told[of]++'
}
printf 'H %s\n' "$HOME"
if [ "$project" ]; then
  (cd "$project" && printf 'W %s\n' "$(pwd -P)") 2>/dev/null
  set -- "$project"
else
  set -- "$HOME" "$@"
fi
for root in "$@"; do
  [ -d "$root" ] || continue
  case $root in "$HOME" | "$project") ;; *) case $HOME in "$root"/*) continue ;; esac ;; esac
  bounded find "$root" -xdev -maxdepth 6 -name run.json -type f 2>/dev/null
done | while IFS= read -r file; do
  case $file in */cells/*/run.json) [ -f "${file%/cells/*}/run.json" ] && continue ;; esac
  printf '%s\n' "${file%/run.json}/events.jsonl"
done | tr '\n' '\000' | xargs -0 stat "$form" 2>/dev/null | while IFS= read -r line; do
  run=${line#* }
  run=${run%/events.jsonl}
  kind=R
  [ "$uid" = 0 ] || [ -O "$run/run.json" ] || kind=F
  printf '%s %s\t%s\n' "$kind" "${line%% *}" "$run"
done | sort -k1,1r -k2,2rn | head -n 5000 | tell_projects | head -n 100
tmux ls 2>/dev/null | cut -d: -f1 | head -n 10 | while IFS= read -r name; do printf 'S %s\n' "$name"; done
heads='^==> .proc.[0-9]*.cmdline <==$'
head -c 4096 /proc/[0-9]*/cmdline 2>/dev/null | tr '\000' ' ' \
  | grep -E -e "$heads" -e '^([^ ]*/)?python[0-9.]*( -[A-Za-z]+)* [^- ][^ ]*[.]py( |$)' \
    -e '^([^ ]*/python[0-9.]* )?[^ ]*(torchrun|deepspeed|accelerate) ' \
  | sed -n -e "/$heads/{s/[^0-9]//g;h;d;}" -e '/-packages/d' -e 'x;G;s/\n/ /;p' | sort -n | head -n 400 \
  | while read -r pid line; do
  read -r stat 2>/dev/null </proc/"$pid"/stat || continue
  stat=${stat##*') '}
  parent=${stat#* }
  case " $seen " in *" ${parent%% *} "*) seen="$seen $pid"; continue ;; esac
  cwd=$(readlink /proc/"$pid"/cwd) || continue
  seen="$seen $pid"
  run=$(tr '\000' '\n' 2>/dev/null </proc/"$pid"/environ | sed -n 's/^ONBOX_RUN_DIR=//p' | head -n 1)
  at=$(stat "$form" "$run/events.jsonl" 2>/dev/null)
  [ "$at" ] && [ -f "$run/run.json" ] && printf 'L %s\t%s\n' "${at%% *}" "$run" | tell_projects | grep . && continue
  output=$(readlink /proc/"$pid"/fd/1)
  printf 'P %s %s\t%s\t%s\t%.200s\n' "$pid" "${parent%% *}" "$cwd" "$output" "$line"
done | head -n 100
echo '<<<onbox discover end>>>'
"""


class Training(NamedTuple):
    """A process that looks like training and was started by none that does. folder: where it works. log: the file that
    its stdout goes to, below the folder where it lies there; None: it goes elsewhere. pattern: by which `watch.process`
    finds it.
    """

    folder: str
    log: str | None
    pattern: str
    words: str

    @property
    def name(self) -> str:
        """A name for its run: its script's."""
        return run_name_from(os.path.basename(self.pattern.replace("\\", "")).removesuffix(".py"))


class Discovered(NamedTuple):
    """projects: project directories of runs that onbox started, each with the folder that holds its runs; the one whose
    run moved last comes first. sessions: of tmux. trainings: what runs there beside them. place: the project that was
    named, without symbolic links; "": none was named, or it is not there.
    """

    projects: tuple[tuple[str, str], ...]
    sessions: tuple[str, ...]
    trainings: tuple[Training, ...]
    place: str = ""

    def trainings_in_place(self) -> tuple[Training, ...]:
        """Those that work in the named project or below it; their logs by paths that hold from there. () where the
        project holds runs of onbox.
        """
        if not self.place or any(self._is_inside(project) for project, _ in self.projects):
            return ()
        return tuple(
            one if one.folder == self.place or one.log is None else one._replace(log=os.path.join(one.folder, one.log))
            for one in self.trainings
            if self._is_inside(one.folder)
        )

    def _is_inside(self, folder: str) -> bool:
        return f"{folder}/".startswith(self.place.rstrip("/") + "/")


def discover_stdin(project: str = "") -> bytes:
    """What to ask. project: runs are looked for only there; "": wherever projects use to lie."""
    return script_with_values(SCRIPT, (str(SECONDS), project, *USUAL_PLACES))


def parse_found(answer: Answer | NoAnswer) -> Discovered | NoAnswer:
    """What the box said."""
    if isinstance(answer, NoAnswer):
        return answer
    runs: dict[str, list[tuple[int, str, str]]] = {"R": [], "F": [], "L": []}
    home, named = "/root", ""
    sessions, processes = [], list[tuple[str, str, str, str, str]]()
    for line in answer.output.decode("utf-8", "replace").split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "H":
            home = rest.rstrip("/")
        elif kind == "W" and re.fullmatch(_PLACE, rest):
            named = rest
        elif kind in runs:
            at, _, places = rest.partition("\t")
            project, _, folder = places.partition("\t")
            state_dir = folder.rpartition("/")[0]
            place = project or state_dir.rpartition("/")[0]
            if re.fullmatch(_PLACE, place):
                runs[kind].append((int(at) if at.isascii() and at.isdigit() else 0, place, state_dir))
        elif kind == "S":
            if rest == safe_line(rest):  # another could not be named in a configuration as it is shown
                sessions.append(rest)
        elif kind == "P":
            who, *words = rest.split("\t", 3)
            if len(words) == 3 and re.fullmatch(r"\d+ \d+", who):
                processes.append((*who.split(" "), *words))  # type: ignore[arg-type]
    trainings = _trainings(processes, home)
    own = runs["R"]
    if not own and any(_is_at(home, one) for one in trainings):
        return Discovered((), tuple(sessions), trainings, named)  # the account's own training goes before what is not
    return Discovered(_projects(own or runs["L"], runs["F"]), tuple(sessions), trainings, named)


def _projects(*kinds: list[tuple[int, str, str]]) -> tuple[tuple[str, str], ...]:
    """Of (seconds since the epoch, project, folder of its runs): each project once, the newest of each kind first."""
    projects: dict[str, str] = {}
    for runs in kinds:
        for _, place, state_dir in sorted(runs, key=lambda run: -run[0]):
            projects.setdefault(place, state_dir)
    return tuple(projects.items())[:PROJECTS_LIMIT]


def _trainings(processes: list[tuple[str, str, str, str, str]], home: str) -> tuple[Training, ...]:
    """Of (pid, parent, folder, stdout, command line): one per folder and script, without the workers of others."""
    pids = {pid for pid, *_ in processes}
    found: dict[tuple[str, str], Training] = {}
    for _, parent, folder, output, words in processes:
        if parent in pids or not re.fullmatch(_PLACE, folder):
            continue
        pattern = _pattern_of(words)
        is_file = re.fullmatch(_PLACE, output) and not output.startswith("/dev/") and not output.endswith(" (deleted)")
        log = output.removeprefix(folder.rstrip("/") + "/") if is_file else None
        found.setdefault((folder, pattern), Training(folder, log, pattern, safe_line(words.strip())))
    # The account's own work first, and what writes a log before what does not: a tool is not a training.
    return tuple(sorted(found.values(), key=lambda one: (not _is_at(home, one), one.log is None)))


def _is_at(home: str, training: Training) -> bool:
    return training.folder.startswith(f"{home}/")


def _pattern_of(words: str) -> str:
    """The script as it was named, for grep -E; without one the program."""
    script = next((word for word in words.split()[1:] if word.endswith(".py")), "")
    return re.sub(r"([][.*+?(){}|^$\\])", r"\\\1", script or os.path.basename(words.split(maxsplit=1)[0]))


def state_dir_of(project: str, state_dir: str, default: str) -> str | None:
    """What `state_dir` must say for the runs of a project to be found; None: nothing, they are where they are by
    default.
    """
    below = state_dir[len(project) + 1 :] if state_dir.startswith(f"{project}/") else state_dir
    return None if below == default else below
