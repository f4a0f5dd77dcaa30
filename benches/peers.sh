#!/usr/bin/env bash
# Measures Framegate beside other stdio proxies, each in its own folder, each as permissive as it
# can be set: `peers.sh [FRAMEGATE] [compare options...]`. FRAMEGATE may be `-` for none.
#
# Needs python3 with venv, taskset, and the package registry for the first run. Everything lands
# in PEERS_DIR (default ~/.cache/framegate-proxies), nothing else of the user is touched.
# npm's mcp-proxy and supergateway, and PyPI's mcp-proxy, have no stdio-to-stdio form: left out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=${PEERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/framegate-proxies}
framegate=${1:--}
[ $# -gt 0 ] && shift
mkdir -p "$dir/home"
dir=$(cd "$dir" && pwd)
[ "$framegate" = - ] || framegate=$(realpath "$framegate")
(cd "$here" && cargo build --release --quiet --bins -p framegate-benches)
target=${CARGO_TARGET_DIR:-$here/../target}

# name=version of each package; a peer that cannot be installed is a missing column, no failure.
columns=()
peer() { # NAME PACKAGE==VERSION COMMAND
    local venv="$dir/${2%%==*}"
    if [ ! -e "$venv/.done-$2" ]; then
        if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check "$2" &&
            touch "$venv/.done-$2"; } >"$dir/${2%%==*}.log" 2>&1; then
            echo "peers.sh: $1 left out, see $dir/${2%%==*}.log" >&2
            return
        fi
    fi
    columns+=(--column "$1=$3")
}

cat >"$dir/fastmcp_proxy.py" <<'PY'
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run(show_banner=False)
PY
printf 'version: 1\ndefault: allow\n' >"$dir/belay.yaml"
# Its default of 200 calls a minute would refuse most of the benchmark.
cat >"$dir/mcp-firewall.yaml" <<'YAML'
version: 1
defaultAction: allow
rate_limit: { enabled: false }
YAML

peer kairoseki kairoseki==0.2.3 "$dir/kairoseki/bin/kairoseki run --mode monitor --name bench -- {}"
peer belay agentbelay==0.1.0 "$dir/agentbelay/bin/belay mcp --policy $dir/belay.yaml --name bench -- {}"
peer sluice sluice-mcp==0.1.0 "$dir/sluice-mcp/bin/sluice run --monitor --quiet --name bench -- {}"
peer mcp-firewall mcp-firewall==0.1.0 "$dir/mcp-firewall/bin/mcp-firewall wrap --config $dir/mcp-firewall.yaml -- {}"
peer fastmcp fastmcp==4.2.3 "$dir/fastmcp/bin/python $dir/fastmcp_proxy.py {}"

ours=(--framegate none)
[ "$framegate" = - ] || ours=(--framegate "$framegate")
# Stores and logs of the peers go under HOME or the working folder: give them ours, and empty, since
# a store that grew over earlier runs makes some of them slower.
rm -rf "$dir/home" && mkdir -p "$dir/home"
cd "$dir/home"
export HOME=$dir/home
what=(rtt pipelined)
run() { nice "$target/release/compare" "$@" "${ours[@]}" "${columns[@]}" || true; }
run "${what[@]}" --rounds "${ROUNDS:-5}" --calls "${CALLS:-500}" "$@"
# Some peers take seconds a megabyte: two sizes and one place for the id are enough to rank them.
run results --sizes "${SIZES:-100k,1M}" --ids last --limit 20 --quick "$@"
