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

# apt_install PACKAGE...: true if they are installed afterwards. Asks apt for its lists at most once. Shows apt's last
# lines when it fails; waits for another apt instead of failing beside it.
apt_install() {
  local said
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  if [ -z "${apt_updated:-}" ]; then
    apt-get -o DPkg::Lock::Timeout=300 update -qq >/dev/null 2>&1 </dev/null || true
    apt_updated=1
  fi
  if ! said=$(DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
    --no-install-recommends "$@" 2>&1 </dev/null); then
    tail -n 3 <<<"$said" >&2
    return 1
  fi
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
installed_for() { (cd "${repo:?}" && printf '%s\n' "$1" "$venv" */__init__.py && cat pyproject.toml onbox/__init__.py) | cksum; }

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
  # "compat": found by a plain path, which starts 10 ms faster than by setuptools' import hook.
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat \
    -e "${repo}[$extra]" </dev/null \
    || die 'pip could not install the project (its reason is above); run this again when that is mended'
  printf '%s\n' "$want" >"$stamp"
}
