#!/usr/bin/env bash
# Sees to a Chromium for the browser tests: the one that LEASEHOLD_CHROMIUM names, else the system's. Where there is none, and
# this machine is CI (CI is set) with apt-get, it is installed; a developer's machine is left as it is, and the tests say so.
set -eu
if [ -x "${LEASEHOLD_CHROMIUM:-/usr/bin/chromium}" ]; then exit 0; fi
if [ -z "${CI:-}" ]; then
  echo "There is no Chromium at ${LEASEHOLD_CHROMIUM:-/usr/bin/chromium}: the browser tests are skipped. Install it, or set LEASEHOLD_CHROMIUM." >&2
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "There is no Chromium and no apt-get to install it with: set LEASEHOLD_CHROMIUM to the path of one." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
"${as_root[@]}" apt-get -o Acquire::Retries=3 update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends chromium >/dev/null
