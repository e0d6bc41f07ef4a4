#!/usr/bin/env bash
# Makes the environment that every make target uses: Python packages in $VENV, and a Chromium on the machine.
#   PYTHON       interpreter to build it with (3.11 or newer; default: the newest that is found)
#   VENV         folder of the environment (default: .venv)
#   TORCH        requirement for torch (default: the tested CPU build, or the newest torch on a machine with an NVIDIA GPU)
#   TORCH_INDEX  package index to take torch from, for example the one that PyTorch names for CPU builds
# Exit 4: the machine lacks something that this script cannot install; the last line says what to do.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=${VENV:-.venv}
TESTED_TORCH=2.13.0

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 4; }

good_python() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  if [ -n "${PYTHON:-}" ]; then
    good_python "$PYTHON" || die "PYTHON=$PYTHON is not Python 3.11 or newer with venv and ensurepip; give another interpreter"
    echo "$PYTHON"
    return
  fi
  local name
  for name in python3 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && good_python "$name"; then echo "$name"; return; fi
  done
  die "no Python 3.11 or newer with venv and ensurepip found; install one (Debian, Ubuntu: apt-get install python3 python3-venv), or run make setup PYTHON=/path/to/python"
}

has_nvidia_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

install_torch() {
  local index=()
  if [ -n "${TORCH_INDEX:-}" ]; then index=(--index-url "$TORCH_INDEX"); fi
  if [ -n "${TORCH:-}" ]; then
    "$VENV/bin/pip" install -q "${index[@]}" "$TORCH"
  elif has_nvidia_gpu; then
    say "NVIDIA GPU found: taking the newest torch"
    "$VENV/bin/pip" install -q "${index[@]}" 'torch>=2.10'
  elif ! "$VENV/bin/pip" install -q "${index[@]}" "torch==$TESTED_TORCH+cpu" 2>/dev/null; then
    say "no index offers torch==$TESTED_TORCH+cpu: taking torch==$TESTED_TORCH (on Linux this may be the large GPU build; TORCH_INDEX= names an index of CPU builds)"
    "$VENV/bin/pip" install -q "${index[@]}" "torch==$TESTED_TORCH"
  fi
}

has_chromium() { "$VENV/bin/dynaweb" doctor --only browser >/dev/null 2>&1; }

install_chromium() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing Chromium from the system's packages"
    if apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-liberation >/dev/null; then
      if has_chromium; then return; fi
    fi
  fi
  say "installing Playwright's Chromium"
  if "$VENV/bin/playwright" install chromium-headless-shell >/dev/null && has_chromium; then return; fi
  die "no Chromium could be installed; install one by hand (Debian: sudo apt-get install chromium-headless-shell; elsewhere: $VENV/bin/playwright install --with-deps chromium), then run make setup again"
}

python=$(find_python)
say "environment in $VENV with $("$python" --version)"
if ! "$VENV/bin/pip" --version >/dev/null 2>&1; then
  # Scripts of an environment name its folder and its Python: moved, or with that Python gone, none runs.
  if [ -e "$VENV/pyvenv.cfg" ]; then say "the environment in $VENV does not run any more: making it anew"; fi
  if [ -e "$VENV" ] && [ ! -e "$VENV/pyvenv.cfg" ]; then
    die "$VENV is there and is no Python environment; remove it, or name another with VENV="
  fi
  "$python" -m venv --clear "$VENV"
fi
say "torch"
install_torch
say "the other packages, at the versions of constraints.txt"
"$VENV/bin/pip" install -q -c constraints.txt -e '.[browser,train,study,data,serve,gguf,lora,dev]'
has_chromium || install_chromium
"$VENV/bin/dynaweb" doctor
touch "$VENV/.ready"
say "ready: run $VENV/bin/dynaweb, or plain dynaweb after: source $VENV/bin/activate"
