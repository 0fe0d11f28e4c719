"""The one trace that looks by a timer leave: how long their silence may last, in a file whose time is that of the look.

A runner that finds it too old tells that nobody looks any more: this machine cannot tell it while it sleeps.
"""

from __future__ import annotations

# p_patrolled PROJECT STATE_DIR SECONDS: only where there is a state directory; never through a link.
SHELL = r"""
p_patrolled() {
  p_at "$1"
  cd "$p_path" || return 20
  p_at "$2"
  [ -d "$p_path" ] && [ ! -h "$p_path/.patrolled" ] || return 0
  umask 077
  echo "$3" >"$p_path/.patrolled"
}
"""
