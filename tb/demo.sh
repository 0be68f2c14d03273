#!/bin/sh
# The demo: traffic -> hardware under cocotb -> replay against the model -> price. `make demo` runs it.
set -eu
cd "$(dirname "$0")/.."
out=build/demo
preset=edge-k32
mkdir -p "$out"

step() { printf '\n%s\n' "$1"; shift; for line; do printf '    %s\n' "$line"; done; }
run() { printf '  $ %s\n' "$*"; "$@"; }

step "1/4  Traffic: a random permutation of 8,192 hosts" \
    "Every host sends to one other, on a fat tree of 32-port switches. The trace holds what edge" \
    "switch 3 routes up: data packets of its 16 hosts, and ACKs of what its hosts receive."
run netweave trace ofan --permutation 8192 --seed 1 --radix 32 --switch edge:3 \
    --packets 256 --out "$out/trace.csv"

step "2/4  Hardware: the generated Verilog under cocotb, with stalls and idle cycles" \
    "Each beat that leaves is compared with the golden model, which serves one packet at a time."
run netweave cosim ofan --preset "$preset" --trace "$out/trace.csv" \
    --stall 0.2 --idle 0.2 --seed 1

step "3/4  Replay: the same trace through the compiled hardware and the vectorized model" \
    "The two answers must be the same file, byte for byte."
run netweave sim ofan --preset "$preset" --engine rtl --trace "$out/trace.csv" --out "$out/rtl.csv"
run netweave sim ofan --preset "$preset" --engine model --trace "$out/trace.csv" \
    --out "$out/model.csv"
run cmp "$out/rtl.csv" "$out/model.csv"
echo "    Equal: $(($(wc -l <"$out/rtl.csv") - 1)) packets."

step "4/4  Price: what the paper says it costs, beside what Yosys counts"
run netweave claims --quick

step "Done. The trace and the answers are in $out; \`make test\` runs everything that is checked."
