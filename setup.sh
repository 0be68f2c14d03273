#!/bin/sh
# Usage: setup.sh base|test|lint|docs|formal|fabric|dev: install netweave and that extra into .venv.
# The Makefile calls this; .venv/NAME is the stamp it looks at.
set -eu
cd "$(dirname "$0")"
extra=${1:-dev}
python=${PYTHON:-python3}
missing=
packages=

need() { # need "what a person calls it" debian-package
    missing="$missing${missing:+, }$1"
    packages="$packages${packages:+ }$2"
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    need "python3 >= 3.11 with venv and libpython" "python3 python3-venv libpython3-dev"
else
    "$python" -c 'import ensurepip, venv' 2>/dev/null || need "python3's venv" python3-venv
    # cocotb loads Python into the simulator, so it needs the interpreter as a shared library.
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" - 2>/dev/null <<'PYTHON' || need "libpython$version.so" "libpython$version"
import ctypes, os, sys, sysconfig
name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
local = os.path.join(sysconfig.get_config_var("LIBDIR") or "", name)
ctypes.CDLL(local if os.path.exists(local) else name)
PYTHON
fi
command -v g++ >/dev/null || need g++ g++
command -v make >/dev/null || need make make
# Debian's perl-base has no Pod::Usage, which Verilator's driver script loads.
perl -e 'use Getopt::Long; use Pod::Usage' 2>/dev/null || need perl perl
command -v git >/dev/null || need git git

if [ -n "$missing" ]; then
    echo "netweave: missing: $missing. Install with: apt-get install $packages" >&2
    exit 1
fi

.venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
echo "netweave: installing what '$extra' needs into .venv (pinned in constraints.txt)"
target=.
[ "$extra" = base ] || target=".[$extra]"
# Older pips pin what builds netweave by the first variable, newer ones by the second.
PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable "$target"
touch ".venv/$extra"
