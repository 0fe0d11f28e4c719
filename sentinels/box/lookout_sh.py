"""`lookout.py` once more in POSIX sh, for boxes that have no python (dash, bash, busybox). Same words, same lines.

What costs there is each process that is started. Each pause is a `sleep`, five in a second: half a minute of CPU in an
hour. A `read` with a time limit would make it ten seconds, but no two shells have the same one, and some have none.
"""

from __future__ import annotations

import json

from onbox.model.engines import ON_BOX
from sentinels.box.engine_sh import ASK

LOOK = r"""
LC_ALL=C
export LC_ALL
hold=$1 beat=$2 ping=$3 tick=$4
shift 4
slow=5 # so many turns are about a second
[ "$tick" != 0.05 ] || tick=0.2
sleep "$tick" 2>/dev/null || tick=1
say() { printf '@s %s\n' "$*" || exit 1; }
hex() { od -An -v -tx1 2>/dev/null | tr -d ' \n'; }
hex_of() { hexed=$(printf %s "$1" | hex); printf %s "${hexed:--}"; }
part() { # FILE BYTES: hex of its beginning
  hexed=; if [ -f "$1" ]; then hexed=$(head -c "$2" <"$1" 2>/dev/null | hex); fi
  printf %s "${hexed:--}"
}
# Times by GNU tools are exact. Others tell whole seconds: of a file the earliest that it can have been, of the clock
# the latest, so that no old marker is taken for a new one.
case $(stat -c %.9Z / 2>/dev/null) in
  *[0-9].[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]) stats='%d:%i:%.9Z:%.9Y:%s' ;;
  *) stats='%d:%i:%Z000000000:%Y000000000:%s' ;;
esac
stamp() { # FILE: sets is
  is=$(stat -L -c "$stats" "$1" 2>/dev/null)
  while :; do case $is in *.*) is=${is%%.*}${is#*.} ;; *) break ;; esac; done
}
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
hz=$(getconf CLK_TCK 2>/dev/null) # ticks of a process's start time, in a second
case $hz in '' | *[!0-9]* | 0) hz=100 ;; esac
now() { date +%s; }
exact_now() {
  case $(date +%N 2>/dev/null) in
    [0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]) date +%s.%N ;;
    *) date +%s.999 ;;
  esac
}

n=0
while [ $# -ge 8 ]; do
  n=$((n + 1))
  case $3 in "~/"*) path=$HOME/${3#"~/"} ;; *) path=$3 ;; esac
  eval "kind$n=\$1 id$n=\$2 path$n=\$path b$n=\$4 c$n=\$5 d$n=\$6 e$n=\$7 f$n=\$8 state$n= more$n="
  shift 8
done

look_file() { # NUMBER ID PATH KNOWN
  eval "was=\$state$1"
  if [ -e "$3" ]; then
    stamp "$3"
    [ -n "$is" ] || is=$(ls -diL "$3" 2>/dev/null | tr -s ' ' : | cut -d: -f1-2)
  elif [ -e "${3%/*}" ] && [ -d "${3%/*}" ] && [ ! -x "${3%/*}" ]; then is=unseen
  else is=absent; fi
  [ "$is" != "$was" ] && [ "$is" != "$4" ] || return 0
  eval "state$1=\$is b$1="
  case $is in
    absent) say "file $2 absent" ;;
    unseen) say "file $2 unseen $(hex_of 'Permission denied')" ;;
    *) say "file $2 present $is $(part "$3" 4096) $(contract "$3")" ;;
  esac
}
contract() { # PATH: head of run.json and the stage's line
  hexed=
  case $1 in
    */markers/*_DONE | */markers/*_FAILED)
      file=${1%/markers/*}/run.json stage=${1##*/}
      if [ -f "$file" ]; then
        hexed=$({ head -n 1 "$file"; grep -F -m 1 "{\"name\": \"${stage%_*}\"" "$file" </dev/null; } | hex)
      fi ;;
  esac
  printf %s "${hexed:--}"
}

piece_sum() { # FILE OFFSET: checksum of up to 256 bytes before it
  piece=256; [ "$2" -ge 256 ] || piece=$2
  set -- "$1" "$2" $(tail -c "+$(($2 - piece + 1))" "$1" 2>/dev/null | head -c "$piece" | cksum)
  printf %s "c$3"
}
fresh() { tail -c "+$((offset + 1))" "$1" | head -c "$2" | tr '\r' '\n'; } # FILE BYTES: from the offset on
match_log() { # FILE BYTES ID ERE FAIL_ERE: the first line from the offset on that a pattern finds is told
  first=
  for word in fail match; do
    if [ $word = fail ]; then pattern=$5; else pattern=$4; fi
    [ -n "$pattern" ] && [ "$2" -gt 0 ] || continue
    line=$(fresh "$1" "$2" | grep -n -E -a -m 1 -e "$pattern" | head -c 1000)
    [ -n "$line" ] && { [ -z "$first" ] || [ "${line%%:*}" -lt "$first" ]; } || continue
    first=${line%%:*} found=$word text=${line#*:}
  done
  [ -z "$first" ] || say "log $3 $found $(hex_of "$text") $(written "$1")"
}
written() { at=$(stat -L -c %Y "$1" 2>/dev/null); printf %s "${at:-0}"; }
# What is there already is read in pieces, so that the beats are not late; the last line that matches tells.
catch_up() { # NUMBER ID PATH ERE FAIL_ERE WHERE SIZE
  eval "offset=\${at$1:-0} last=\${last$1:-}"
  [ "$7" -ge "$offset" ] || offset=0 last=
  count=$(($7 - offset)); [ "$count" -le 16777216 ] || count=16777216
  whole=0; [ "$count" -eq 0 ] || whole=$(fresh "$3" "$count" | { cat; printf x; } | sed '$d' | wc -c)
  [ "$whole" -gt 0 ] || [ "$count" -lt 65536 ] || whole=$count
  most=0
  for word in fail match; do
    if [ $word = fail ]; then pattern=$5; else pattern=$4; fi
    [ -n "$pattern" ] && [ "$whole" -gt 0 ] || continue
    line=$(fresh "$3" "$whole" | grep -n -E -a -e "$pattern" | tail -n 1 | head -c 1000)
    [ -n "$line" ] && [ "${line%%:*}" -gt "$most" ] || continue
    most=${line%%:*} last="$word $(hex_of "${line#*:}")"
  done
  offset=$((offset + whole))
  if [ "$whole" -gt 0 ] && [ $(($7 - offset)) -ge 65536 ]; then
    eval "at$1=\$offset last$1=\$last behind=1"
    return 0
  fi
  [ -z "$last" ] || say "log $2 $last $(written "$3")"
  eval "b$1=\$6:\$offset:0:\$(piece_sum \"\$3\" \"\$offset\")"
}
look_log() { # NUMBER ID PATH CURSOR RE FAIL_RE ERE FAIL_ERE
  if { [ -n "$5" ] && [ -z "$7" ]; } || { [ -n "$6" ] && [ -z "$8" ]; }; then
    eval "was=\$state$1"
    [ "$was" = pattern ] || say "log $2 unseen $(hex_of 'the pattern needs python, and the box has none')"
    eval "state$1=pattern"
    return 0
  fi
  eval "was=\$state$1 rest=\$more$1"
  is=$(stat -L -c '%d:%i %s' "$3" 2>/dev/null)
  if [ -z "$is" ]; then
    [ "$was" = absent ] || say "log $2 absent"
    case $4 in '' | all) eval "b$1=0:0:0:0:0" ;; esac
    eval "state$1=absent"
    return 0
  fi
  if [ ! -f "$3" ]; then
    [ "$was" = odd ] || say "log $2 unseen $(hex_of 'not a regular file')"
    case $4 in '' | all) eval "b$1=0:0:0:0:0" ;; esac
    eval "state$1=odd"
    return 0
  fi
  [ "$is" != "$was" ] || [ -n "$rest" ] || [ "$4" = all ] || return 0
  where=${is% *} size=${is#* }
  if [ "$4" = all ]; then
    catch_up "$1" "$2" "$3" "$7" "$8" "$where" "$size"
    eval "state$1=\$is more$1=0"
    return 0
  fi
  if [ -z "$4" ]; then offset=$size; else offset=${4%:*}; offset=${offset%:*}; offset=${offset##*:}; fi
  if [ -n "$4" ] && { [ "$size" -lt "$offset" ] || { case $4 in "$where":*) false ;; *) true ;; esac; }; }; then
    if [ "$size" -lt "$offset" ] || [ "$offset" -eq 0 ] || [ "${4##*:}" != "$(piece_sum "$3" "$offset")" ]; then
      for file in "$3".* "$3"-*; do # rotated away, perhaps while nobody looked: what it got since then counts
        case "$4" in "$(stat -L -c '%d:%i' "$file" 2>/dev/null)":*) match_log "$file" 1048576 "$2" "$7" "$8" ;; esac
      done
      offset=0
    fi
  fi
  [ "$is" = "$was" ] && quiet_ticks=$((rest + 1)) || quiet_ticks=0
  if [ "$size" -gt "$offset" ]; then
    count=$((size - offset)); [ "$count" -le 1048576 ] || count=1048576
    whole=$(fresh "$3" "$count" | { cat; printf x; } | sed '$d' | wc -c)
    [ $quiet_ticks -lt 6 ] || whole=$count
    [ "$whole" -gt 0 ] || [ "$count" -lt 65536 ] || whole=$count
    match_log "$3" "$whole" "$2" "$7" "$8"
    offset=$((offset + whole))
  fi
  eval "b$1=\$where:\$offset:0:\$(piece_sum \"\$3\" \"\$offset\")"
  if [ "$size" -gt "$offset" ]; then eval "more$1=\$quiet_ticks"; else eval "more$1="; fi
  eval "state$1=\$is"
}

look_artifact() { # NUMBER ID PATTERN MIN_BYTES STABLE SINCE;KNOWN
  at=$(now)
  since=${6%%;*}; [ "$since" != now ] || { since=$began; eval "d$1=\$since;"; }
  since=${since%.*} stable=${5%.*} files=0 growing=0 ready= latest=-1 # the newest is told: too old, and all are
  saved=$IFS; IFS=
  for file in $3; do
    IFS=$saved
    is=$(stat -L -c '%Z %Y %s %d:%i' "$file" 2>/dev/null) || continue
    files=$((files + 1))
    set -- "$1" "$2" "$3" "$4" "$5" "$6" $is
    newest=$7; [ "$8" -le "$newest" ] || newest=$8
    [ "$newest" -gt "$since" ] || continue # whole seconds: one of the arming's own second may be older than it
    if [ "$9" -lt "$4" ] || [ $((at - newest)) -lt $((stable + 1)) ]; then growing=$((growing + 1))
    elif [ "$newest" -gt "$latest" ]; then ready=$file latest=$newest size=$9; fi
  done
  IFS=$saved
  if [ -n "$ready" ]; then is="ready $(hex_of "$ready") $size $latest"; else is="waits $files $growing"; fi
  eval "was=\$state$1 state$1=\$is"
  [ "$is" = "$was" ] || say "artifact $2 $is"
}

ticks_of() { # PID: its start time, empty if it does not live
  ticks=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
  set -- ${line##*) }
  [ "$1" = Z ] || [ "$1" = X ] || ticks=${20}
}
look_pid() { # NUMBER ID PID KNOWN
  ticks_of "$3"
  if [ ! -d /proc/$$ ]; then is="unseen $(hex_of 'no /proc')"
  elif [ -n "$ticks" ] && { [ -z "$4" ] || [ "$4" = "$ticks:$boot" ]; }; then
    is="alive $ticks:$boot"
    eval "b$1=\$ticks:\$boot"
  else is=gone; fi
  eval "was=\$state$1 state$1=\$is"
  [ "$is" = "$was" ] && [ "$is" != gone ] && return 0
  case $is in
    alive*) { read -r up _ </proc/uptime; } 2>/dev/null; is="$is $((${up%.*} - ticks / hz))" ;;
  esac
  say "pid $2 $is"
}

look_procs() { # NUMBER ID PATTERN SCRIPT: all processes, each 10 s; each minute while those that were found live
  eval "known=\$state$1 due=\${more$1:-0}"
  at=$(now)
  live=$known
  for pid in $known; do [ -d "/proc/$pid" ] || live=; done
  [ "$at" -ge "$due" ] || { [ -z "$live" ] && [ "$at" -ge $((due - 50)) ] && [ -n "$known" ]; } || return 0
  answer=$(eval "$4"; p_processes "$3" 2>/dev/null </dev/null; printf '@code %s\n' $?)
  known=$(printf '%s\n' "$answer" | sed '/^@/,$d' | cut -d' ' -f1 | tr '\n' ' ')
  if [ -n "$known" ]; then due=$((at + 60)); else due=$((at + 10)); fi
  eval "state$1=\$known more$1=\$due"
  say "procs $2 ${answer##*@code } $(printf '%s\n' "${answer%@code *}" | hex)"
}

field_end='[",}]*'
field() { # NAME JSON: sets value; "" where it is not there
  value=${2#*\"$1\":}
  if [ "$value" = "$2" ]; then value=; return 0; fi
  value=${value# }
  value=${value#\"}
  value=${value%%$field_end}
}
lock_state() { # FILE: held, free, none, or why it cannot be told
  [ -e "$1" ] || { printf none; return; }
  if ! command -v flock >/dev/null 2>&1; then printf '? no flock on the box'; return; fi
  if flock -s -n "$1" true 2>/dev/null; then printf free; else printf held; fi
}
life() { # ROOT: sets runner and stage
  runner=gone stage=-
  lock=
  { read -r lock <"$1/lock"; } 2>/dev/null
  field pid "$lock"; pid=$value
  field boot_id "$lock"
  if [ -n "$pid" ] && [ "$value" = "$boot" ]; then
    ticks_of "$pid"
    field start_ticks "$lock"
    if [ -n "$ticks" ] && [ "$ticks" = "$value" ]; then runner=alive; return 0; fi
  fi
  state=$(lock_state "$1/lock")
  case $state in
    held) runner=alive; return 0 ;;
    '?'*) if [ -z "$pid" ]; then runner=$state; return 0; fi ;; # signed, and that process has gone
  esac
  stage=gone
  for slot in "$1"/markers/.*.slot; do
    [ -f "$slot" ] || continue
    state=$(lock_state "$slot")
    case $state in
      held)
        stage=alive keeper=$(sed -n 's/^keeper \([0-9]*\).*/\1/p' "$slot")
        if [ -n "$keeper" ] && ! grep -q '^exit ' "$slot" </dev/null; then ticks_of "$keeper"; else ticks=1; fi
        [ -n "$ticks" ] || stage='alive alone'
        return 0 ;;
      '?'*)
        keeper=$(sed -n 's/^keeper \([0-9]*\).*/\1/p' "$slot")
        if ! grep -q '^exit ' "$slot" </dev/null && [ -n "$keeper" ] && [ -d "/proc/$keeper" ]; then stage=$state; fi ;;
    esac
  done
  for slot in "$1"/cells/*/markers/.*.slot; do
    if [ -f "$slot" ] && [ "$(lock_state "$slot")" = held ]; then stage='alive cells'; return 0; fi
  done
}
look_run() { # NUMBER ID ROOT
  eval "was=\$state$1 lived=\$more$1"
  set -- "$1" "$2" "$3" "$3/markers/CHAIN_DONE" "$3/markers/CHAIN_FAILED" "$3/events.jsonl" "$3/run.json"
  ends=; [ ! -e "$4" ] || ends=done; [ ! -e "$5" ] || ends=${ends}failed
  eval "[ \"\$ends\" = \"\$ends$1\" ]" && [ -n "$lived" ] && [ $((turn % slow)) -ne 0 ] && return 0
  eval "ends$1=\$ends"
  is=$(stat -L -c '%n %i %Z %Y %s' "$4" "$5" "$6" "$7" 2>/dev/null; :)
  if [ $((turn % slow)) -eq 0 ] || [ -z "$lived" ]; then life "$3"; else runner=${lived%%|*} stage=${lived#*|}; fi
  grown=
  if [ $((turn % (30 * slow))) -eq 0 ]; then # its progress is renewed with every sample, and nothing else changes
    was_renewed=; eval "was_renewed=\$renewed$1"; renewed=$(stat -L -c '%i %Z' "$3/status.json" 2>/dev/null; :)
    [ "$renewed" = "$was_renewed" ] || grown=1
    eval "renewed$1=\$renewed"
  fi
  if [ -z "$grown" ] && [ "$is" = "$was" ] && [ "$runner|$stage" = "$lived" ]; then
    [ "$runner" = gone ] && [ $((turn % slow)) -eq 0 ] || return 0 # what has gone is told again: it must be seen twice
  fi
  eval "state$1=\$is more$1=\$runner\|\$stage"
  done=$(part "$4" 32768) ended=$(part "$5" 32768) # the chain's marker first: its stage's is older
  failed=$(ls -t "$3"/markers/*_FAILED 2>/dev/null | grep -v '/CHAIN_FAILED$' | head -n 1)
  unseen=; if [ -e "$3" ] && [ ! -x "$3" ]; then unseen='Permission denied'; fi
  head=$( (head -n 1 "$7") 2>/dev/null | hex)
  journal=$( (tail -c 65536 "$6") 2>/dev/null | hex)
  case $head in HANDED_OVER)
    [ "$is" = "$was" ] || eval "ask$1=0 pause$1=1"
    eval "engine$1=1" ;;
  esac
  room=$(stat -f -c '%f %a %S %d %c' "$3" 2>/dev/null | {
    read -r free own size inodes all || exit
    [ ! -O / ] || own=$free # what is kept for root is free to root
    [ "$all" -gt 0 ] || inodes=-
    echo "$((own * size)) $inodes"
  })
  more=" room=$(hex_of "$room")" names=
  if [ -z "$head" ]; then
    for file in "${3%/*}"/*/run.json; do
      [ ! -f "$file" ] || { file=${file%/run.json}; names="$names${file##*/}
"; }
    done
    orphans=
    for file in $(grep -lF -e "ONBOX_RUN_DIR=$3" /proc/[0-9]*/environ 2>/dev/null | head -n 20); do
      case $(tr '\0' '\n' <"$file" 2>/dev/null | grep '^ONBOX_RUN_DIR=') in
        "ONBOX_RUN_DIR=$3" | "ONBOX_RUN_DIR=$3/"*) file=${file#/proc/} orphans="$orphans ${file%/environ}" ;;
      esac
    done
    more="$more orphans=$(hex_of "${orphans# }") runs=$(hex_of "$(printf %s "$names" | head -n 20)")"
  fi
  say "run $2 runner=$(hex_of "$runner") stage=$(hex_of "$stage") boot=$(hex_of "$boot") now=$(hex_of "$(now)")" \
    "unseen=$(hex_of "$unseen") head=${head:--} journal=${journal:--}" \
    "done=$done ended=$ended" \
    "status=$(part "$3/status.json" 32768) lock=$(part "$3/lock" 4096) failed=$(part "${failed:-/nothing}" 32768)$more"
}

# Its commands are bounded so that two that hang cost less than a beat may be late.
ask_engine() { # NUMBER ID ROOT: an engine is asked soon after a change, then at longer and longer intervals
  eval "due=\${engine$1:+\${ask$1:-0}} pause=\${pause$1:-1} answered=\${answer$1:-}"
  [ -n "$due" ] && { [ "$at" -ge "$due" ] || [ $((due - at)) -gt 30 ]; } || return 0
  asked=$(exact_now)
  answer=$(ONBOX_BOUND=3; onbox_engine "$3" 2>/dev/null </dev/null | hex)
  [ "$answer" = "$answered" ] || pause=1
  eval "ask$1=\$(($(now) + pause)) answer$1=\$answer"
  pause=$((pause * 2)); [ $pause -le 30 ] || pause=30
  eval "pause$1=$pause"
  say "engine $2 $asked ${answer:--}"
}

quiet() { # ID FILE...: for how long nothing was written to any of them
  id=$1; shift
  newest=$(stat -L -c %Y "$@" 2>/dev/null | sort -n | tail -n 1)
  [ -z "$newest" ] || { age=$((at - newest)); [ $age -ge 0 ] || age=0; say "quiet $id $age"; }
}
beat_all() {
  i=0
  while [ $i -lt $n ]; do
    i=$((i + 1))
    eval "kind=\$kind$i id=\$id$i path=\$path$i b=\$b$i"
    case $kind in
      log) [ -z "$b" ] || say "log $id cursor $b"; [ ! -f "$path" ] || quiet "$id" "$path" ;;
      run) quiet "$id" "$path/events.jsonl" "$path"/logs/*.log ;;
    esac
  done
  [ -n "$behind" ] || say "beat $at" # it tells that all was looked at to its end
}
look_all() {
  i=0 behind=
  while [ $i -lt $n ]; do
    i=$((i + 1))
    eval "set -- \$i \"\$id$i\" \"\$path$i\" \"\$b$i\" \"\$c$i\" \"\$d$i\" \"\$e$i\" \"\$f$i\"; kind=\$kind$i"
    case $kind in
      file) look_file "$@" ;;
      log) look_log "$@" ;;
      artifact) [ $((turn % slow)) -ne 0 ] || look_artifact "$@" ;;
      procs) [ $((turn % slow)) -ne 0 ] || look_procs "$@" ;;
      pid) [ $((turn % 3)) -ne 0 ] || look_pid "$@" ;;
      run)
        look_run "$@"
        [ $((turn % slow)) -ne 0 ] || ask_engine "$@" ;;
    esac
  done
}

turn=0
at=$(now)
began=$at heard=$at next=$at
printf '\n' || exit 1
say "hello sh $(exact_now) ${boot:--} $$"
if [ "$ping" != 0 ]; then
  trap 'exit 0' TERM HUP INT PIPE
  trap heard= USR1
  { while IFS= read -r _ <&3; do kill -USR1 $$ || exit; done; kill -TERM $$; } >/dev/null 2>&1 &
  reader=$!
  exec 3<&-
  trap 'kill $reader 2>/dev/null' EXIT
fi
while :; do
  look_all
  if [ $((turn % slow)) -eq 0 ]; then
    at=$(now)
    : "${heard:=$at}"
    if [ "$at" -ge "$next" ] || [ "$at" -lt "$began" ]; then
      beat_all
      [ -n "$behind" ] || next=$((at + beat))
    fi
    late=$hold; [ -z "$behind" ] || late=$((hold + 30)) # a long log is read to its end
    if [ $((at - began)) -ge "$late" ] || [ "$at" -lt "$began" ]; then say "end held"; exit 0; fi
    if [ "$ping" != 0 ] && [ $((at - heard)) -ge "$ping" ]; then exit 0; fi
  fi
  turn=$((turn + 1))
  sleep "$tick"
done
"""
# In a definition's head, in hex: `"NAME"` of an engine that is asked there.
_HANDED_OVER = "|".join(f"*{json.dumps(name).encode().hex()}*" for name in ON_BOX)


def look_text() -> str:
    """The program, with what it asks engines by."""
    return ASK + LOOK.replace("HANDED_OVER", _HANDED_OVER)
