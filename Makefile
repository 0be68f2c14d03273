# Every target sets up what it needs in .venv first (setup.sh). PRESET, SIM and NETWEAVE_YOSYS are options.
PRESET ?= edge-k64
export PATH := $(CURDIR)/.venv/bin:$(PATH)
.PHONY: demo test verilog synth claims lint formal docs bench clean
.NOTPARALLEL:

demo: .venv/base ; @tb/demo.sh
test: .venv/test ; pytest -n 2
verilog: .venv/base ; netweave verilog ofan --preset $(PRESET) -o build/verilog
synth: .venv/base ; netweave synth ofan --preset $(PRESET)
claims: .venv/base ; netweave claims
lint: .venv/lint ; ruff check && ruff format --check && pyright --warnings
formal: .venv/test ; pytest -m formal
docs: .venv/docs ; sphinx-build -W -q -b html docs docs/_build && sphinx-build -W -q -b doctest docs build/doctest
bench: .venv/base ; python -m tb.ofan.bench_replay && python -m tb.symphony.bench_replay && python -m tb.csig.bench_replay && python -m tb.fabric.bench_fabric
clean: ; rm -rf build docs/_build

.venv/%: pyproject.toml constraints.txt setup.sh ; @./setup.sh $*
