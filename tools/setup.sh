#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the named tasks need: system packages, then one Python environment for each task.
#
#   tools/setup.sh TASK...     build: .venv-build    test: .venv     numpy2: .venv-numpy2
#                              lint: .venv-lint      docs: .venv-docs
#
# A stamp, written last, holds the digest of the requirements: running it again costs nothing, and after an
# interruption the half-made environment is made anew.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=$(command -v python3.11 || command -v python3) || die "Python 3.10 or newer is needed: apt-get install python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  die "Python 3.10 or newer is needed; $python is $("$python" -V)"

# One run at a time: two would install into the same folders.
mkdir -p build
exec 9>build/.setup.lock
flock 9

system_packages() {
  command -v dpkg-query >/dev/null || return 0 # CMake names what it does not find
  local wanted=(g++ cmake ninja-build ccache libelf-dev libcli11-dev libssl-dev libgtest-dev libbenchmark-dev)
  # A Python from elsewhere than Debian brings these two along.
  "$python" -c 'import ensurepip' 2>/dev/null || wanted+=(python3-venv)
  "$python" -c 'import os, sysconfig as s; open(os.path.join(s.get_paths()["include"], "Python.h"))' 2>/dev/null ||
    wanted+=(python3-dev)
  local missing=() package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || die "Debian packages are missing. Install them, then run this again:
  sudo apt-get install ${missing[*]}"
  step "installing Debian packages: ${missing[*]}"
  apt-get update -q || echo "apt-get update failed; going on with the package lists at hand" >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install the packages. Install them, then run this again:
  apt-get install ${missing[*]}"
}

environment() { # FOLDER REQUIREMENTS
  local venv=$1 requirements=$2
  if [ -L "$venv" ]; then
    [ -x "$venv/bin/python" ] || die "$venv is a link to an environment that is not there"
    return 0 # a link to another checkout's environment, which is that checkout's affair
  fi
  local digest
  digest=$({
    "$python" -V
    cat "$requirements"
  } | sha256sum | cut -d' ' -f1)
  [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$digest" ] && return 0
  step "installing $requirements into $venv"
  ! grep -q "^torch" "$requirements" || echo "(the frameworks: a minute or two, 5 GB at most)"
  # The mark of an interrupted installation: pip takes half a package for a whole one.
  [ ! -e "$venv/.unfinished" ] || rm -rf "$venv"
  # An environment that someone else has made is added to, never removed.
  if [ -e "$venv/.stamp" ] || [ ! -e "$venv/pyvenv.cfg" ]; then
    mkdir -p "$venv"
    touch "$venv/.unfinished"
  fi
  rm -f "$venv/.stamp"
  "$python" -m venv "$venv" || die "$python could not make $venv"
  "$venv/bin/python" -m pip install --disable-pip-version-check -q -r "$requirements" ||
    die "pip could not install $requirements into $venv (its words are above). Nothing is lost: run this again."
  rm -f "$venv/.unfinished"
  echo "$digest" >"$venv/.stamp"
}

# Opwright itself, from the build tree: a rebuild needs no second installation.
link_package() { # FOLDER
  local venv=$1 site program
  [ ! -L "$venv" ] || return 0
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  printf '%s\n' "$PWD/build/dev" "$PWD/compat" >"$site/opwright-checkout.pth"
  for program in opwright aoc; do
    ln -sfn "$PWD/build/dev/opwright/_lib/$program" "$venv/bin/$program"
  done
}

system_packages
for task in "$@"; do
  case $task in
    build) environment .venv-build requirements/build.txt ;;
    test) environment .venv requirements/test.txt && link_package .venv ;;
    numpy2) environment .venv-numpy2 requirements/numpy2.txt && link_package .venv-numpy2 ;;
    lint) environment .venv-lint requirements/lint.txt ;;
    docs) environment .venv-docs requirements/docs.txt ;;
    *) die "no task named $task" ;;
  esac
done
