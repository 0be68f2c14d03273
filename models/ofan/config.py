"""The one parameter class of Ofan, and the named presets (seed sections 4, 5 and appendix I)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from models.common.check import bits_for, choice, integer, parse_integer
from models.common.errors import quoted
from models.common.sorter import NETWORKS, sorting_network
from models.ofan.engine import SORTED, Engine
from models.ofan.order import check_permutation, default_permutation

LOOKUPS = ("none", "table", "aligned")


@dataclass(frozen=True, kw_only=True)
class OfanConfig:
    """What the model, the RTL, the bench, the cost report and the command line all take.

    Every field is checked on construction: `TypeError` for a wrong type, `ValueError` for a wrong
    value, both naming the field and the value.
    """

    lanes: int
    """Packets in a batch, one a downlink port, 1 to 64."""
    uplinks: int
    """w, the uplink ports a pointer rotates over, 1 to 64; need not be a power of two."""
    destinations: int
    """N_d, the destination edge switches (at an edge switch) or pods (at an aggregation switch),
    1 to 65,536."""
    size_classes: int = 2
    """Packet-size classes, each with pointers of its own, 1 to 8: 0 is data, 1 is ACK."""
    pipe_lanes: int | None = None
    """W, lanes that share one pointer a key (pOfan, section 5); None is Ofan: all lanes share."""
    order: tuple[int, ...] | Literal["plain"] | None = None
    """P of appendix F.2, or "plain" for π(i) = i; None takes the default permutation of w."""
    init: int | Literal["zero"] = 0
    """Seed of the random initial pointers, 0 to 2**64 - 1, or "zero": data pointers start at 0."""
    masks: int = 16
    """Different sets of valid uplinks that can be in force at one time, 1 to 4,096 (one set is
    shared by any number of destinations); 0 leaves the failure logic out."""
    network: str = "bitonic"
    """Sorting network of the sort and unsort stages, one of `models.common.sorter.NETWORKS`."""
    ranks_per_stage: int = 3
    """Ranks of a sorting or prefix network between two registers, 1 to 32."""
    lookup: str = "none"
    """Destination lookup in front: "none" (lanes carry destinations), "table" or "aligned"."""
    host_bits: int = 8
    """Address bits below the prefix that the lookup reads, 0 to 32."""
    skip_own: bool = False
    """Whether destination numbers leave out the switch's own (aggregation switches: its pod)."""
    engine: Engine = SORTED
    """How packets meet their pointers; the paper's pipeline unless another one is chosen."""

    def __post_init__(self) -> None:
        integer("lanes", self.lanes, 1, 64)
        integer("uplinks", self.uplinks, 1, 64)
        integer("destinations", self.destinations, 1, 65536)
        integer("size_classes", self.size_classes, 1, 8)
        if self.pipe_lanes is not None:
            integer("pipe_lanes", self.pipe_lanes, 1, self.lanes)
            if self.lanes % self.pipe_lanes:
                raise ValueError(
                    f"pipe_lanes must divide lanes ({self.lanes}), not {self.pipe_lanes!r}"
                )
        if self.order is None:
            object.__setattr__(self, "order", default_permutation(self.uplinks))
        elif self.order != "plain":
            object.__setattr__(self, "order", check_permutation(self.order, self.uplinks))
        if self.init != "zero":
            integer("init", self.init, 0, 2**64 - 1)
        integer("masks", self.masks, 0, 4096)
        choice("network", self.network, NETWORKS)
        integer("ranks_per_stage", self.ranks_per_stage, 1, 32)
        choice("lookup", self.lookup, LOOKUPS)
        integer("host_bits", self.host_bits, 0, 32)
        if not isinstance(self.skip_own, bool):
            raise TypeError(f"skip_own must be True or False, not {self.skip_own!r}")
        sorting_network(self.network, self.lanes_per_pipe)  # "best" exists for some sizes only
        if not isinstance(self.engine, Engine):
            raise TypeError(f"engine must be an Engine, not {self.engine!r}")
        self.engine.check_lanes(self.lanes_per_pipe)

    @property
    def lanes_per_pipe(self) -> int:
        """Lanes that share one pointer file: W under pOfan, all of them under Ofan."""
        return self.lanes if self.pipe_lanes is None else self.pipe_lanes

    @property
    def pipes(self) -> int:
        """Pointer files in the switch: 1 under Ofan, lanes / W under pOfan."""
        return self.lanes // self.lanes_per_pipe

    @property
    def keys(self) -> int:
        """N, pointers of one file: one a (destination, size class)."""
        return self.destinations * self.size_classes

    @property
    def key_bits(self) -> int:
        """Width of a pointer key, bits (12 for the paper's running example)."""
        return bits_for(self.keys)

    @property
    def uplink_bits(self) -> int:
        """b = ⌈log2 w⌉, width of a pointer and of an uplink number, bits."""
        return bits_for(self.uplinks)

    @property
    def destination_bits(self) -> int:
        """Width of a destination number, bits."""
        return bits_for(self.destinations)

    @property
    def class_bits(self) -> int:
        """Width of a size class, bits."""
        return bits_for(self.size_classes)

    @property
    def lane_bits(self) -> int:
        """Width of a lane number within one pipe, bits."""
        return bits_for(self.lanes_per_pipe)

    @property
    def mask_bits(self) -> int:
        """Width of the number of a shared mask, bits."""
        return bits_for(self.masks) if self.masks else 0

    @property
    def prefix_bits(self) -> int:
        """Width of the address prefix the lookup reads, bits: one prefix a destination, and one
        for the switch's own where that has no number."""
        return bits_for(self.destinations + self.skip_own)

    @property
    def request_bits(self) -> int:
        """Width of one lane of the input beat, bits: destination (or address) below size class."""
        where = self.destination_bits
        if self.lookup != "none":
            where = self.prefix_bits + self.host_bits
        return max(1, where + self.class_bits)

    @property
    def answer_bits(self) -> int:
        """Width of one lane of the output beat, bits: uplink below the unroutable flag."""
        return self.uplink_bits + 1

    @property
    def pointer_bits(self) -> int:
        """Storage of all pointers of the switch, bits (20,480 for `edge-k64`)."""
        return self.pipes * self.keys * self.uplink_bits

    def key(self, destination: int, size_class: int) -> int:
        """Pointer key and identifier, id = d + N_d·t (equation 16)."""
        return destination + self.destinations * size_class


def edge(radix: int, **changes: Any) -> OfanConfig:
    """Edge switch of a three-level fat tree of k-port switches: one key a destination edge switch.

    The k²/2 edge switches of the tree are numbered pod by pod; the switch's own number is one of
    them and stays unused.
    """
    half = radix // 2
    return OfanConfig(**{"lanes": half, "uplinks": half, "destinations": radix * half, **changes})


def aggregation(radix: int, **changes: Any) -> OfanConfig:
    """Aggregation switch of a three-level fat tree: one key a pod, its own left out (k - 1)."""
    half = radix // 2
    shape = {"lanes": half, "uplinks": half, "destinations": radix - 1, "skip_own": True}
    return OfanConfig(**{**shape, **changes})


PRESETS: dict[str, OfanConfig] = {
    "edge-k64": edge(64),
    "agg-k64": aggregation(64),
    "edge-k32": edge(32),
    "agg-k32": aggregation(32),
    "edge-k16": edge(16),
    "agg-k16": aggregation(16),
    "edge-k12": edge(12),
    "agg-k12": aggregation(12),
    "edge-k8": edge(8),
    "agg-k8": aggregation(8),
    "edge-k4": edge(4),
    "pofan4-k64": edge(64, pipe_lanes=4),
    "pofan1-k64": edge(64, pipe_lanes=1),
    "pofan4-k16": edge(16, pipe_lanes=4),
    "edge-k64-queued": edge(64, engine=Engine(kind="queued-banked")),
    "edge-k12-queued": edge(12, engine=Engine(kind="queued-banked", banks=4)),
    "edge-k12-matched": edge(12, engine=Engine(kind="matched-banked", banks=4, depth=4)),
    "edge-k12-banked": edge(12, engine=Engine(kind="sorted-banked", banks=8, depth=4)),
    "pofan4-k64-queued": edge(64, pipe_lanes=4, engine=Engine(kind="queued-banked", banks=8)),
}
"""Named configurations: the rows of every table. Radix k gives w = k/2 lanes and uplinks."""


def preset(name: str, **changes: Any) -> OfanConfig:
    """Return the preset called `name` with the fields in `changes` replaced.

    An order that does not fit a changed number of uplinks falls back to the default of that number.
    Raises `ValueError` that lists the presets if there is none of that name.
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}")
    base = PRESETS[name]
    if changes.get("uplinks", base.uplinks) != base.uplinks:
        changes.setdefault("order", None)
    return replace(base, **changes)


def parse_order(text: str) -> tuple[int, ...] | Literal["plain"]:
    """Read an order from the command line: `plain`, or P as `0,3,1,2`.

    Raises `ValueError` naming the text; whether P fits w is checked by `OfanConfig`.
    """
    if text == "plain":
        return "plain"
    ports = [parse_integer(part.strip(" ")) for part in text.split(",")]
    if None in ports:
        raise ValueError(f"order must be plain or numbers with commas, not {quoted(text)}")
    return tuple(port for port in ports if port is not None)


def parse_init(text: str) -> int | Literal["zero"]:
    """Read an initial state from the command line: `zero`, or a seed; raises `ValueError`."""
    if text == "zero":
        return "zero"
    seed = parse_integer(text)
    if seed is None:
        raise ValueError(f"init must be zero or a seed, not {quoted(text)}")
    return seed
