"""The numbers that the claims report needs: which configurations, and mapping or reading them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from models.common.sorter import Network
from models.csig.config import PRESETS as CSIG_PRESETS
from models.csig.config import preset as csig_preset
from models.ofan.config import OfanConfig, preset
from models.symphony.config import PRESETS as SYMPHONY_PRESETS
from rtl.common.sorter import Sorter
from rtl.ofan.combine import Combine
from rtl.ofan.sort import Sort
from rtl.verilog import BUILD
from synth import csig, symphony
from synth.ge import price
from synth.ofan import price_preset
from synth.parts import TOTAL, Progress, fits
from synth.records import COMMITTED, Record, read_records, records_of, write_records

OFAN, BARE, POFAN = "edge-k64", "edge-k64-masks0", "pofan4-k64"

CONFIGS: dict[str, OfanConfig] = {
    OFAN: preset(OFAN),
    BARE: preset(OFAN, masks=0),
    POFAN: preset(POFAN),
}
"""What the report needs priced: the paper's running example as it is built here, the same without
the failure logic that the appendix does not count, and pOfan with pipes of four lanes."""

RANK: Network = (tuple((2 * n, 2 * n + 1) for n in range(16)),)
CELLS = {
    "12-bit key": {"key_bits": 12},
    "12-bit key, lane and valid ride along": {"key_bits": 12, "payload_bits": 6},
    "18 bits compared": {"key_bits": 18},
}
"""One rank of 16 compare-and-swap cells: the key alone; with the 5-bit lane number that unsort
needs and the valid bit; and as `rtl.ofan.sort` has it, where lane and valid are compared too."""

NETWORKS = ("odd-even-merge", "best")
"""Networks that the report prices beside the paper's bitonic one."""

SYMPHONY_LOG, SYMPHONY_EXACT = "log-16k", "exact-16k"
SYMPHONY = {name: SYMPHONY_PRESETS[name] for name in (SYMPHONY_LOG, SYMPHONY_EXACT)}
"""Symphony with the paper's 16k jobs, in both arithmetics."""

CSIG_UNIT = "port-compact"
"""A port's unit with all signals measured in hardware, for compact tags."""

GROWTH = {ports: "port" if ports == 1 else f"bank-{ports}" for ports in (1, 2, 4, 8, 16, 32, 64)}
"""CSIG's configurations of 1 to 64 ports that share a datapath, both formats and both sources."""

CSIG = CSIG_PRESETS | {
    name: csig_preset("port", ports=ports)
    for ports, name in GROWTH.items()
    if name not in CSIG_PRESETS
}
"""All that CSIG's part of the report needs priced."""

CELL_BLOCK, NETWORK_BLOCK = "16 compare-and-swap", "sort, another network"
HOP_BLOCK = "hop in one piece"
PIECES = (CSIG_UNIT, GROWTH[1], GROWTH[32], GROWTH[64])
"""Presets of CSIG that are mapped whole too: for the paths that run from block to block."""


class Numbers:
    """The records of the report, by preset, block and metric."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._by = {(r.preset, r.block, r.metric): r for r in records}

    def add(self, preset_name: str, metric: str, *blocks: str) -> tuple[float, str]:
        """Return the sum of a metric over blocks, and `mapped` or `fitted`.

        Raises `ValueError` naming the first number there is no record of.
        """
        found = []
        for block in blocks:
            record = self._by.get((preset_name, block, metric))
            if record is None:
                raise ValueError(f"no record of {metric} of {block}, {preset_name}")
            found.append(record)
        how = "fitted" if any(record.fitted for record in found) else "mapped"
        return sum(record.value for record in found), how

    def fits(self, preset_name: str) -> list[str]:
        """Return a line for each fitted part of a preset: how good the fit is."""
        return fits([record for (name, *_), record in self._by.items() if name == preset_name])

    def deepest(self, preset_name: str) -> tuple[float, str]:
        """Return the most gates in a row of all parts that were mapped, and in which part."""
        return max(
            (record.value, block)
            for (name, block, metric), record in self._by.items()
            if (name, metric) == (preset_name, "depth") and block != TOTAL and not record.fitted
        )


def measure(quick: bool, progress: Progress = lambda what: None) -> tuple[Numbers, str]:
    """Return the numbers of the report, and a sentence that says where they are from.

    All are mapped now, and left in build/records; `quick` maps the compare-and-swap cells, Combine,
    Symphony's decision by logarithms and CSIG's compare-and-replace, and takes the rest from the
    records of the release.
    """
    cells = []
    for name, widths in CELLS.items():
        progress(f"{CELL_BLOCK}, {name}")
        cost = price(Sorter(RANK, lanes=32, **widths))
        cells += records_of(CELL_BLOCK, name, cost)
    if quick:
        progress("combine")
        fresh = cells + records_of("combine", OFAN, price(Combine(CONFIGS[OFAN])))
        progress("coin")
        for part, cost in symphony.decision(SYMPHONY[SYMPHONY_LOG]).items():
            fresh += records_of(part, SYMPHONY_LOG, cost)
        progress("compare and replace")
        for part, cost in csig.compare_and_replace(CSIG[CSIG_UNIT]).items():
            fresh += records_of(part, CSIG_UNIT, cost)
        kept = committed()
        engines = sorted({f"{r.engine} {r.versions[r.engine]}" for r in kept})
        origin = (
            "Mapped now: the compare-and-swap cells, Combine, Symphony's decision by logarithms "
            "and CSIG's compare-and-replace. Other gates are from the records of the release "
            f"({', '.join(engines)}); without --quick all are mapped."
        )
        return Numbers([*kept, *fresh]), origin
    for network in NETWORKS:
        progress(f"sort, network {network}")
        cost = price(Sort(preset(OFAN, network=network)))
        cells += records_of(NETWORK_BLOCK, network, cost)
    for name in PIECES:
        progress(f"{name}: {HOP_BLOCK}")
        cells += records_of(HOP_BLOCK, name, csig.in_one_piece(CSIG[name]))
    write_records(BUILD / "records" / "claims.json", cells)
    records = list(cells)
    for name, config in CONFIGS.items():
        records += price_preset(name, config, lambda part, name=name: progress(f"{name}: {part}"))
    for name, config in SYMPHONY.items():
        told = lambda part, name=name: progress(f"{name}: {part}")  # noqa: E731
        records += symphony.price_preset(name, config, told)
    for name, config in CSIG.items():
        told = lambda part, name=name: progress(f"{name}: {part}")  # noqa: E731
        records += csig.price_preset(name, config, told)
    return Numbers(records), "All gates were mapped or fitted on this machine."


def committed(folder: Path = COMMITTED) -> list[Record]:
    """Return the records of the release that the report is made from."""
    names = ["claims.json", *(f"ofan-{name}.json" for name in CONFIGS)]
    names += [f"symphony-{name}.json" for name in SYMPHONY]
    names += [f"csig-{name}.json" for name in CSIG]
    return [record for name in names for record in read_records(folder / name)]
