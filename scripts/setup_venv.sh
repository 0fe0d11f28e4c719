# Sourced by scripts/demo and scripts/test: a virtual environment in the checkout with the project and one extra.
# Needs python3 >= 3.10; everything else it gets by itself. Sets $venv.

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
    printf '%s\n' "$candidate"
    return
  done
  return 1
}

# apt_install PACKAGE...: true if they are installed afterwards. Asks apt for its lists at most once.
apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  if [ -z "${apt_updated:-}" ]; then
    apt-get update -qq >/dev/null 2>&1 || true
    apt_updated=1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1
}

# setup_venv EXTRA...: creates or reuses $repo/.venv and installs the project in place with these extras.
setup_venv() {
  local python extras
  extras=$(IFS=,; printf '%s' "$*")
  venv=$repo/.venv
  python=$(find_python) || { apt_install python3 && python=$(find_python); } || die 'no python3 >= 3.10 found; install one and run this again'
  if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    say "virtual environment $venv ($("$python" --version))"
    rm -rf "$venv"
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
      rm -rf "$venv"
      apt_install python3-venv && "$python" -m venv "$venv" || die 'python has no venv module: apt-get install python3-venv'
    fi
  fi
  say "install onbox[$extras]"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$repo[$extras]" || die 'pip could not install the project (see above)'
  PATH=$venv/bin:$PATH
}
