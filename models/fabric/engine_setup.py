"""The buffers of the fast engine at the start of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from models.fabric import engine_state as state
from models.fabric.config import HOST_ORDERS, FabricConfig
from models.fabric.engine_flows import flow_buffers
from models.fabric.engine_window import arrivals_in_a_window, room_of_step, window_of
from models.fabric.engine_wiring import port_orders, wiring
from models.fabric.kernel import NOTHING, Kernel, Setting
from models.fabric.mix import second_switches
from models.fabric.rate import sending_rate
from models.fabric.streams import Kind, stream_starts

WIDE_SHIFT = 7
"""Bits of the rank in a wide word: up to 128 ports."""
UNBOUNDED = 2**62
MOST_CHOSEN = 256
"""Uplinks, or draws and remembered ones, among which a scheme chooses."""


@dataclass(frozen=True)
class Layout:
    """Where a packet's fields stand in its words."""

    wide: bool
    id_shift: int
    id_bits: int
    tag_shift: int
    rank_shift: int
    shift: int
    """Of the time."""

    @property
    def time_bits(self) -> int:
        """Bits that a time may have; a wider one needs wide words."""
        return 63 - self.shift


def layout_of(setting: Setting, kernels: list[Kernel], ids: int, wide: bool) -> Layout:
    """Lay out words for `ids` flows (traced: packets).

    Raises `ValueError` if not even two words have room.
    """
    address = setting.port_bits + setting.edge_bits + setting.pod_bits
    id_bits = max(1, (ids - 1).bit_length())
    tag_shift = 1 + address + id_bits
    payload = tag_shift + max(kernel.tag_bits(setting.tree) for kernel in kernels)
    if payload > 63:
        raise ValueError(f"flows must be few enough for {id_bits} bits, not {ids}")
    if wide:
        return Layout(True, 1 + address, id_bits, tag_shift, 0, WIDE_SHIFT)
    rank_bits = (setting.tree.radix - 1).bit_length()
    return Layout(False, 1 + address, id_bits, tag_shift, payload, payload + rank_bits)


PLACES = {
    name: (place, np.dtype(str(state.item_type(name))))
    for place, name in enumerate(state.State._fields)
}
"""Place in the table of addresses and type of each buffer."""


class Buffers:
    """All buffers of a run by name, and the table of their addresses."""

    def __init__(self, named: dict[str, np.ndarray]) -> None:
        self.named = named
        self.table = np.zeros(len(PLACES), np.int64)
        for name in PLACES:
            self.replace(name, named[name])

    def __getattr__(self, name: str) -> np.ndarray:
        return self.named[name]

    def replace(self, name: str, buffer: np.ndarray) -> None:
        """Use another buffer from now on."""
        place, kind = PLACES[name]
        assert buffer.dtype == kind and buffer.flags.c_contiguous, name
        self.named[name] = buffer
        self.table[place] = buffer.__array_interface__["data"][0]


def buffers_of(
    setting: Setting, kernels: list[Kernel], layout: Layout, trace: bool, chunks: int
) -> Buffers:
    """Make and fill the buffers of a run with room for `chunks` chunks of words."""
    tree, config = setting.tree, setting.config
    lists = list_count(setting, noted(config))
    first_note = (len(tree.stages) + 1) * tree.hosts
    values = np.zeros(state.VALUES, np.int64)
    values[state.FREE_CHUNK] = -1
    values[state.FRESH_CHUNK] = state.CHUNK * (lists + 1)
    values[state.CHUNKS_END] = state.CHUNK * chunks
    values[state.UNSENT] = setting.flows.packets.sum()
    values[state.FIRST] = UNBOUNDED
    values[state.LAST_DATA] = -1
    word = np.empty(state.CHUNK * chunks, np.int64)
    tail = (np.arange(lists, dtype=np.int64) + 1) * state.CHUNK
    word[tail] = state.END
    head = np.empty(lists, np.int64)
    slot, port, node = wiring(setting.tree)
    head[slot] = tail[: len(slot)]
    head[len(slot) :] = tail[len(slot) :]
    queue = np.zeros((lists, state.QUEUE), np.int64)
    queue[:, state.TAIL] = tail
    ports, ranks = port_orders(setting)
    inner = (len(tree.stages) - 1) * tree.hosts  # at hosts there is one port
    queue[:inner, state.RANK] = ranks[node, port][:inner] << layout.rank_shift
    most = arrivals_in_a_window(setting, kernels)
    named: dict[str, Any] = {
        "parameter": parameters(setting, kernels, layout, trace, lists, first_note),
        "value": values,
        "area": _zeros(len(tree.stages)),
        "word": word,
        "more": np.empty(len(word) if layout.wide else 1, np.int64),
        "head": head,
        "queue": queue.ravel(),
        "port": ports,
        "buckets": (buckets := _zeros(2**11)),
        "bucket": buckets.view(np.uint16),
        "judged": _zeros(tree.half),
        "chosen": _zeros(MOST_CHOSEN),
        "host_own": _zeros(1),
    }
    for name in ("seen", "seen_data", "lost"):
        named[name] = _zeros(tree.links)
    beside = layout.wide or kernels[0].acknowledged is not None
    for name in ("gathered", "ordered", "held"):
        named[name] = np.empty(most, np.int64)
        named[f"{name}_more"] = np.empty(most if beside else 1, np.int64)
    told = tree.links if any(kernel.published for kernel in kernels) else 1
    named |= {"told_age": _zeros(told), "told": _zeros(told * state.TOLD)}
    for name in ("note_age", "note_free", "note_put", "note_before", "note_left"):
        named[name] = _zeros(lists - first_note)
    named["note_age"] -= 1
    named |= _schemes(setting, kernels) | _validity(setting)
    named |= flow_buffers(setting, layout.id_shift, trace)
    return Buffers(named)


def _zeros(count: int) -> np.ndarray:
    return np.zeros(max(1, count), np.int64)


def noted(config: FabricConfig) -> bool:
    """Whether lengths of queues are something else than the backlog now."""
    options = config.options
    return bool(
        options.queue_age_ns or options.queue_unit != "bytes" or not options.queue_in_service
    )


def list_count(setting: Setting, notes: bool) -> int:
    """Lists of words: one a link, one a host for what it owes, with notes one an uplink."""
    tree = setting.tree
    ups = tree.levels - 1 if notes else 0
    return (len(tree.stages) + 1 + ups) * tree.hosts


def _schemes(setting: Setting, kernels: list[Kernel]) -> dict[str, np.ndarray]:
    """Memory of the schemes and their random numbers."""
    tree, config = setting.tree, setting.config
    edges, aggs = second_switches(config)
    streams = np.concatenate(
        [
            stream_starts(config.seed, Kind.EDGE, tree.edges),
            stream_starts(config.seed, Kind.AGG, tree.aggs),
        ]
    ).view(np.int64)
    second = np.concatenate([edges, aggs])
    first_streams, other_streams = streams.copy(), streams.copy()
    own, own_bytes = kernels[0].prepare(setting, first_streams)
    other, other_bytes = NOTHING
    if len(kernels) > 1:
        assert config.mix_scheme is not None
        there = Setting(config, setting.flows, setting.failures, config.mix_scheme)
        other, other_bytes = kernels[1].prepare(there, other_streams)
    named = {
        "stream": np.where(second, other_streams, first_streams),
        "host_stream": stream_starts(config.seed, Kind.HOST, tree.hosts).view(np.int64),
        "second": second.astype(np.uint8),
        "own": own,
        "own_bytes": own_bytes,
        "other": other,
        "other_bytes": other_bytes,
    }
    if kernels[0].prepare_hosts is not None:
        named["host_own"] = kernels[0].prepare_hosts(setting)
    return named


def _validity(setting: Setting) -> dict[str, np.ndarray]:
    """Valid uplinks by code of the destination."""
    if setting.failures is None:
        return {"edge_valid": _zeros(1), "agg_valid": _zeros(1)}
    tree, failures = setting.tree, setting.failures
    edge = np.zeros((tree.edges, 1 << (setting.pod_bits + setting.edge_bits)), np.int64)
    edge[:, setting.edge_codes()] = failures.edge_valid.view(np.int64)
    agg = np.zeros((max(1, tree.aggs), 1 << setting.pod_bits), np.int64)
    if tree.aggs:
        agg[:, : tree.pods] = failures.agg_valid.view(np.int64)
    return {"edge_valid": edge.ravel(), "agg_valid": agg.ravel()}


def parameters(
    setting: Setting,
    kernels: list[Kernel],
    layout: Layout,
    trace: bool,
    lists: int,
    first_note: int,
) -> np.ndarray:
    """The parameters, int64."""
    tree, config = setting.tree, setting.config
    n, w, options = tree.hosts, tree.half, config.options
    stages, window = len(tree.stages), window_of(config, kernels)
    rate = sending_rate(config, setting.flows, setting.failures)
    spacing = config.data_time * rate.denominator
    byte_gbps = config.link_gbps
    values = {
        "WINDOW": window,
        "WINDOW_BITS": max(1, (window - 1).bit_length()),
        "SHIFT": layout.shift,
        "PAYLOAD": (1 << layout.rank_shift) - 1,
        "LIMIT": (1 << layout.time_bits) - 2 - room_of_step(config, window),
        "HALF": w,
        "FULL": -1 if w == 64 else (1 << w) - 1,
        "PORT_BITS": setting.port_bits,
        "EDGE_BITS": setting.edge_bits,
        "POD_BITS": setting.pod_bits,
        "ID_SHIFT": layout.id_shift,
        "ID_MASK": (1 << layout.id_bits) - 1,
        "TAG_SHIFT": layout.tag_shift,
        "RANK_SHIFT": layout.rank_shift,
        "RANK_MASK": (1 << (layout.shift - layout.rank_shift)) - 1,
        "HOSTS": n,
        "PODS": tree.pods,
        "EDGES_A_POD": tree.edges // tree.pods,
        "AGGS_A_POD": tree.aggs // tree.pods,
        "TOPS": tree.tops,
        "AGG_LINKS": 4 * n,
        "TOP_LINKS": tree.levels * n,
        "EDGE_LINKS": (stages - 1) * n,
        "OWED": stages * n,
        "NOTES": first_note,
        "LEVELS": tree.levels,
        "DATA_TIME": config.data_time,
        "ACK_TIME": config.ack_time,
        "FLIGHT": config.latency - config.gap_bytes,
        "LATENCY": config.latency,
        "ROOM": UNBOUNDED if config.buffer_bytes is None else config.buffer_bytes,
        "ACKS": int(config.acks),
        "ORDER": (state.ALTERNATE, state.ACK_FIRST, state.DATA_FIRST)[
            HOST_ORDERS.index(config.host_order)
        ],
        "SPACING": spacing // rate.numerator,
        "SPACING_PART": spacing % rate.numerator,
        "SPACING_WHOLE": rate.numerator,
        "FAILING": int(setting.failures is not None),
        "TRACED": int(trace),
        "NOTED": tree.levels - 1 if noted(config) else 0,
        "AGE": max(1, options.queue_age_ns * byte_gbps // 8) if options.queue_age_ns else 0,
        "IN_SERVICE": int(options.queue_in_service),
        "IN_PACKETS": int(options.queue_unit == "packets"),
        "PERIOD": max(options.telemetry_ns * byte_gbps // 8, config.latency),
        "ECN": options.ecn_percent * options.buffer_bytes,
        "LISTS": lists,
        "NEW": n * (window // min(config.data_time, config.ack_time) + 2),
    }
    made = np.zeros(state.PARAMETERS, np.int64)
    for name, value in values.items():
        made[getattr(state, name)] = value
    return made
