"""How a script that was sent to a box starts `onbox` there: nothing that lies in a project is started or imported just
because it has the right name. As text for sh.
"""

from __future__ import annotations

# onbox_owned PATH: whether nobody but this login or root can have written what lies there.
OWNED = r"""
onbox_owned() {
  onbox_ls=$(ls -ldnL -- "$1" 2>/dev/null) || return 1
  case $onbox_ls in
    ????????w*) return 1;;
  esac
  set -- $onbox_ls
  [ "$3" = 0 ] || [ "$3" = "$(id -u)" ]
}
"""

# Before anything is imported python forgets the working directory; not -I, which would not see `pip install --user`.
CLEAN = "import sys; sys.path[:] = [one for one in sys.path if one]"

# onbox_here RUN_DIR PYTHON: the interpreter that a run's records name, where their owner is believed; else nothing.
# onbox_find: $onbox_program is the program of a login, of the project's own environments (the working directory) where
#   their owner is believed, of the account; empty where there is none.
# onbox_python PYTHON WORD...: `onbox WORD...` by this interpreter. onbox_knows PYTHON: whether it has the package.
FUNCTIONS = rf"""{OWNED}onbox_here() {{
  [ -n "$2" ] && onbox_owned "$1/.." && onbox_owned "$1" && onbox_owned "$1/run.json" && printf '%s\n' "$2"
}}
onbox_find() {{
  onbox_program=onbox
  command -v onbox >/dev/null && return
  for onbox_venv in .venv venv; do
    onbox_program=$onbox_venv/bin/onbox
    [ -x "$onbox_program" ] && onbox_owned "$onbox_venv" && onbox_owned "$onbox_program" && return
  done
  onbox_program=$HOME/.local/bin/onbox
  [ -x "$onbox_program" ] || onbox_program=
}}
onbox_knows() {{
  "$1" -c '{CLEAN}; import onbox' 2>/dev/null
}}
onbox_python() {{
  onbox_py=$1
  shift
  "$onbox_py" -c '{CLEAN}; sys.argv[0] = "onbox"; import runpy; runpy.run_module("onbox", {{}}, "__main__")' "$@"
}}
"""
