"""What a box is asked for files with: text for any POSIX sh, with find, stat, tar and tail of GNU or busybox. Each says
the ready mark before its answer, so that what a start-up file prints is not taken for it, and the end mark behind it.
"""

from __future__ import annotations

READY = b"\n<<<onbox transfer ready>>>\n"
END = b"\n<<<onbox transfer end "

_HEAD = r"""
set -u
LC_ALL=C PATH=$PATH:/usr/local/bin:/usr/bin:/bin
export LC_ALL PATH
t_at() {
  case $1 in
    /*) t_path=$1;;
    '~'|'~/'*) t_path=$HOME${1#?};;
    *) t_path=./$1;;
  esac
}
t_ready() { printf '\n<<<onbox transfer ready>>>\n'; }
t_end() { printf '\n<<<onbox transfer end %s>>>\n' "$1"; }
t_stat() { xargs -0 stat -c '/ %f %s %y %z /%n//' 2>/dev/null; }
"""

# $1: project, or empty; $2: state directory; $3: run. Fields end with NUL: the project, the home, the run's folder
# (empty: there is none), the tools, the runs that there are, run.json, and a name and a text for each marker.
SURVEY = (
    _HEAD
    + r"""
t_ready
t_tools=
for t_tool in rsync sha256sum; do
  command -v $t_tool >/dev/null && t_tools="$t_tools $t_tool"
done
case $(tar --version 2>/dev/null) in
  *GNU*) t_tools="$t_tools gnutar";;
  *) command -v tar >/dev/null && t_tools="$t_tools tar";;
esac
if [ "$1" ]; then
  t_at "$1"
  cd "$t_path" 2>/dev/null || { t_end 20; return; }
else
  cd
fi
printf '%s\0%s\0' "$PWD" "$HOME"
t_at "$2"
t_runs= t_found=
if cd "$t_path" 2>/dev/null; then
  for t_file in */run.json; do
    [ -e "$t_file" ] && t_runs="$t_runs ${t_file%/run.json}"
  done
  [ "$3" ] && [ -e "./$3/run.json" ] && cd "./$3" 2>/dev/null && t_found=$PWD
fi
printf '%s\0%s\0%s\0' "$t_found" "$t_tools" "$t_runs"
if [ "$t_found" ]; then
  head -c 4194304 run.json
  printf '\0'
  for t_file in markers/*_DONE markers/*_FAILED; do
    [ -f "$t_file" ] || continue
    printf '%s\0' "$t_file"
    head -c 16384 "$t_file"
    printf '\0'
  done
fi
t_end 0
"""
)

# Triples ROOT KIND PATTERN: p for a path, g for a pattern of sh. A record `/ MODE SIZE MTIME CTIME /NAME//` for each
# file below; a path of find holds no `//`. `/ w N//` begins what the Nth triple found, `/ L /NAME//TARGET//` is a link.
LIST = (
    _HEAD
    + r"""
t_walk='[ $# -gt 0 ] || exit 0
find "$@" ! -type d -print0
'
t_links='for t_file; do printf "/ L /%s//%s//\n" "$t_file" "$(readlink "$t_file")"; done'
t_match() {
  if [ "$1" = g ]; then
    IFS=
    for t_file in $2; do
      if [ -e "$t_file" ] || [ -L "$t_file" ]; then printf '%s\0' "$t_file"; fi
    done
  elif [ -e "$2" ] || [ -L "$2" ]; then
    printf '%s\0' "$2"
  fi
}
t_ready
t_number=0
while [ $# -ge 3 ]; do
  printf '/ w %s//\n' "$t_number"
  if cd "$1" 2>/dev/null; then
    { { t_match "$2" "$3" | xargs -0 sh -c "$t_walk" sh | t_stat; } 2>&1 >&4 | sed 's/^/<<<unlisted>>> /' >&2; } 4>&1
    t_match "$2" "$3" | xargs -0 sh -c '[ $# -gt 0 ] || exit 0
find "$@" -type l -print0' sh 2>/dev/null | xargs -0 sh -c "$t_links" sh
  fi
  t_number=$((t_number+1))
  shift 3
done
t_end 0
"""
)

# $1: root; $2: gnutar or tar. The names come over descriptor 3. Of another tar than GNU's there are several streams,
# one behind the other: it takes names as words only.
FETCH = (
    _HEAD
    + r"""
cd "$1" || { t_end 21; return; }
t_ready
if [ "$2" = gnutar ]; then
  tar -cf - --format=gnu --hard-dereference --no-recursion --null -T - <&3
else
  xargs -0 tar -cf - <&3
fi
t_end $?
"""
)

# Fours ROOT NAME FIRST_BYTE COUNT: exactly so many bytes of each file, behind a line with 0, or a line with 1 where it
# cannot be opened; then a line with the code of what read it. A file that is shorter now is filled up with zeros.
PIECES = (
    _HEAD
    + r"""
t_ready
while [ $# -ge 4 ]; do
  if cd "$1" && [ -f "$2" ] && [ ! -L "$2" ] && [ -r "$2" ]; then
    echo 0
    { t_code=$( { { tail -c "+$3" "$2"; echo $? >&5; cat /dev/zero 2>/dev/null; } | head -c "$4" >&4; } 5>&1); } 4>&1
    echo "$t_code"
  else
    echo 1
  fi
  shift 4
done
t_end 0
"""
)

# $1: root. Names over descriptor 3: what stat says of each now.
STAT = (
    _HEAD
    + r"""
cd "$1" || { t_end 21; return; }
t_ready
t_stat <&3
t_end 0
"""
)

# $1: root. Names over descriptor 3: the SHA-256 of each.
DIGEST = (
    _HEAD
    + r"""
cd "$1" || { t_end 21; return; }
t_ready
xargs -0 sha256sum <&3 2>/dev/null
t_end 0
"""
)

# $1: project, or empty; $2: folder. A record `/ SIZE /NAME//` for each plain file below it.
TREE = (
    _HEAD
    + r"""
[ -z "$1" ] || { t_at "$1"; cd "$t_path" 2>/dev/null || { t_end 20; return; }; }
t_at "$2"
cd "$t_path" 2>/dev/null || { t_end 21; return; }
t_ready
find . -type f -print0 | xargs -0 stat -c '/ %s /%n//' 2>/dev/null
t_end 0
"""
)

# $1: folder, absolute or of the home. A tar stream over descriptor 3.
RECEIVE = (
    _HEAD
    + r"""
t_at "$1"
mkdir -p "$t_path" && cd "$t_path" || { t_end 22; return; }
t_ready
tar -xf - <&3 2>&1
t_end $?
"""
)

# $1: folder; $2: a file in it; $3: so many bytes of its beginning: their SHA-256.
HEAD_DIGEST = (
    _HEAD
    + r"""
t_at "$1"
cd "$t_path" || { t_end 22; return; }
t_ready
head -c "$3" "$2" | sha256sum
t_end 0
"""
)

# $1: folder; $2: a file in it. What comes over descriptor 3 is put behind what is there.
APPEND = (
    _HEAD
    + r"""
t_at "$1"
cd "$t_path" || { t_end 22; return; }
t_ready
cat >>"$2" <&3
t_end $?
"""
)
