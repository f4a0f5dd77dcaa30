#!/usr/bin/env bash
# Builds the fuzz targets on the stable toolchain and runs each for some seconds, without a
# sanitizer and without cargo-fuzz: `fuzz/smoke.sh [SECONDS [TARGET...]]` (10 seconds, all). With 0
# seconds nothing new is tried: the committed corpus alone is run.
# New inputs go to fuzz/found/TARGET, a finding to fuzz/artifacts/TARGET; then the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-10}
shift || true
how_long=(-max_total_time="$seconds")
[ "$seconds" != 0 ] || how_long=(-runs=0)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(detect expression flow folding frame_split ground peek policy_parse praxiom route schema splice store strict_reader url)

# What cargo-fuzz passes for `-s none`: coverage counters and comparisons, as LLVM pass options that
# stable rustc accepts. --target keeps them away from build scripts.
coverage=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Ccodegen-units=1
    --cfg fuzzing
)
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="${coverage[*]}" cargo build --release --quiet --locked --bins --target "$host"

failed=0
for target in "${targets[@]}"; do
    mkdir -p "found/$target" "artifacts/$target"
    if ! "${CARGO_TARGET_DIR:-target}/$host/release/$target" "${how_long[@]}" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="artifacts/$target/" "found/$target" "corpus/$target" \
        >"found/$target.log" 2>&1; then
        failed=1
        echo "$target: a finding" >&2
        tail -n 40 "found/$target.log" >&2
        continue
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "found/$target.log")
    # Without coverage there is nothing but guessing: a toolchain that dropped the flags shows here.
    if ! grep -q 'INFO: Loaded 1 modules' "found/$target.log"; then
        failed=1
        echo "$target: no coverage counters; see found/$target.log" >&2
        continue
    fi
    echo "$target: $runs runs, no finding"
done
exit $failed
