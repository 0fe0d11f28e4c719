# shellcheck shell=bash
# Sourced by scripts/demo and scripts/test, which set $repo: a virtual environment in the checkout with the project and
# one extra. Needs python3 >= 3.10; everything else it gets by itself. Sets $venv, puts its programs first on PATH.

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# apt_install PACKAGE...: true if they are installed afterwards. Says the line that it runs. Shows apt's last lines when it
# fails; waits for another apt instead of failing beside it. No daemon is started by being installed.
apt_install() {
  local said ok=
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  if [ -z "${apt_updated:-}" ]; then
    said=$(apt-get -o DPkg::Lock::Timeout=300 update -qq 2>&1 </dev/null) || tail -n 3 <<<"$said" >&2
    apt_updated=1
  fi
  printf '   apt-get install -y --no-install-recommends %s   (daemons stay off)\n' "$*"
  keep_daemons_off
  said=$(DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
    --no-install-recommends "$@" 2>&1 </dev/null) && ok=1
  let_daemons_on
  [ -n "$ok" ] && return
  tail -n 5 <<<"$said" >&2
  return 1
}

# Debian asks this program whether a package may start its daemon; 101 says no. One that is there already is left alone.
policy=/usr/sbin/policy-rc.d
keep_daemons_off() {
  [ -e "$policy" ] && return
  printf '#!/bin/sh\n# of scripts/setup_venv.sh, while it installs\nexit 101\n' >"$policy" && chmod 755 "$policy"
  trap let_daemons_on EXIT
}
let_daemons_on() {
  if grep -q 'of scripts/setup_venv.sh' "$policy" 2>/dev/null; then rm -f "$policy"; fi
}

# create_venv PYTHON: by the venv module, after installing it if it is missing and we may, or by virtualenv.
create_venv() {
  local package said
  said=$("$1" -m venv "$venv" 2>&1) && return
  rm -rf "$venv"
  package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  if apt_install "$package" || apt_install python3-venv; then
    said=$("$1" -m venv "$venv" 2>&1) && return
    rm -rf "$venv"
  fi
  command -v virtualenv >/dev/null 2>&1 && virtualenv --quiet --python "$1" "$venv" && return
  rm -rf "$venv"
  printf '%s\n' "$said" | tail -n 3 >&2
  die "$1 cannot make a virtual environment. Type this, then run the same command again: sudo apt-get install $package"
}

# What an installation depends on: while it is the same, nothing needs to be installed, so no network is needed either.
installed_for() { (cd "${repo:?}" && printf '%s\n' "$1" "$venv" */__init__.py && cat pyproject.toml onbox/__init__.py scripts/*.lock) | cksum; }

# setup_venv EXTRA: creates or reuses $repo/.venv and installs the project in place with this extra.
setup_venv() {
  local extra=$1 python stamp want
  venv=${repo:?}/.venv
  stamp=$venv/installed-$extra
  if ! is_new_enough "$venv/bin/python" || ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    python=$(find_python) || { apt_install python3 && python=$(find_python); } \
      || die 'no python3 >= 3.10 found: install one, or name one with PYTHON=/path/to/python3, and run this again'
    say "virtual environment $venv ($("$python" --version))"
    rm -rf "$venv"
    create_venv "$python"
  fi
  PATH=$venv/bin:$PATH
  want=$(installed_for "$extra")
  [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && return
  say "install onbox[$extra]"
  install_locked "$extra" || pip_install "$repo[$extra]" \
    || die 'pip could not install the project (its reason is above); run this again once that is fixed'
  printf '%s\n' "$want" >"$stamp"
}

# "compat": found by a plain path, which starts 10 ms faster than by setuptools' import hook.
pip_install() {
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat \
    "${@:2}" -e "$1" </dev/null
}

# install_locked EXTRA: the packages of the lock file, each checked by its hash, and the project without asking for more.
# False where this Python or this machine has no such versions: then the newest ones that fit are taken. A file that is
# not the locked one ends everything.
install_locked() {
  local lock=${repo:?}/scripts/requirements-$1.lock said
  if said=$("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock" 2>&1 </dev/null); then
    pip_install "$repo" --no-deps --no-build-isolation && return
  elif grep -q 'DO NOT MATCH THE HASHES' <<<"$said"; then
    printf '%s\n' "$said" >&2
    die "a package is not the one that $lock names: nothing more was installed"
  else
    tail -n 2 <<<"$said" >&2
  fi
  printf 'not installed as locked in %s; the newest versions that fit are taken\n' "$lock" >&2
  return 1
}
