"""A workload by name: what a user asks for on the command line or in a sweep's file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.common.check import choice, hint, integer, parse_real, real
from models.fabric import traffic as make
from models.fabric.config import FabricConfig
from models.fabric.connections import read_connections
from models.fabric.flows import Flows, flows_of
from models.fabric.network import tree_of
from models.fabric.traffic_moe import moe

TRAFFICS = ("permutation", "inter-pod", "all-to-all", "ring", "moe", "moe-eplb")
DEFAULT_SIZE = 1 << 20
"""1 MiB: 256 packets, what the paper calls 1 MB."""
_UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
_ONLY_OF = {
    "order": ("all-to-all",),
    "stride": ("ring",),
    "steps": ("ring",),
    "skew": ("moe", "moe-eplb"),
    "scale": ("moe", "moe-eplb"),
}
"""Fields that some traffic alone takes; elsewhere they must have their defaults."""
_FLOW_BYTES = 64
"""About what a flow takes while the arrays of `Flows` are made."""


def parse_size(name: str, value: object) -> int:
    """Return bytes of a size such as 4096, "1MiB" or "0.5 MB": powers of 2 with an i, else of 10.

    Raises `TypeError` naming the parameter if it is neither number nor text, and `ValueError`
    unless it is 1 byte to 2**50, in whole bytes.
    """
    message = f"{name} must be a size from 1 to 2**50 bytes, as 1MiB, not {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(message)
    number: float | None
    if isinstance(value, str):
        text = value.strip()
        digits = text.rstrip("BGKMik ")
        number, unit = parse_real(digits), _UNITS.get(text[len(digits) :].strip())
        number = None if number is None or unit is None else number * unit
    else:
        number = value
    if number is None or not 1 <= number <= 2**50 or number != int(number):
        raise ValueError(message)
    return int(number)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Which flows to run; checked on construction, and against the tree when the flows are made."""

    traffic: str = "permutation"
    """One of `TRAFFICS`, or the name of a connection matrix that ends in .cm."""
    packets: int | None = None
    """Data packets of a flow (permutation, inter-pod, all-to-all, ring), 1 to 2**40."""
    size: int | str | None = None
    """Bytes of a flow instead, rounded up to whole packets; 1 MiB if neither is given."""
    host_packets: int | None = None
    """All-to-all: data packets of a host instead, dealt over its flows."""
    order: str = "rotated"
    """All-to-all: order of a host's destinations †, one of `models.fabric.traffic.ORDERS`."""
    stride: int = make.SERVER
    """Ring: GPU i sends to GPU i + stride."""
    steps: int = 1
    """Ring: steps one after another."""
    skew: float | None = None
    """MoE: what the busiest GPU receives over the mean; default 1.48, with EPLB 1.13."""
    scale: float = 1.0
    """MoE: share of the paper's 492 MB a GPU."""

    def __post_init__(self) -> None:
        if not isinstance(self.traffic, str):
            raise TypeError(f"traffic must be a name, not {self.traffic!r}")
        if self.traffic not in TRAFFICS and not self.is_matrix:
            near = hint(self.traffic.casefold(), TRAFFICS)
            raise ValueError(
                f"traffic must be one of {', '.join(TRAFFICS)} or a file FILE.cm, "
                f"not {self.traffic!r}{near}"
            )
        for name in ("packets", "host_packets"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), 1, 2**40)
        if self.size is not None:
            parse_size("size", self.size)
        choice("order", self.order, make.ORDERS)
        integer("stride", self.stride, 1, 2**20)
        integer("steps", self.steps, 1, 10_000)
        if self.skew is not None:
            real("skew", self.skew, 1, 1e6)
        real("scale", self.scale, 1e-9, 1e6)
        given = [name for name in ("packets", "size", "host_packets") if getattr(self, name)]
        if len(given) > 1:
            raise ValueError(f"{given[1]} must not be given beside {given[0]}")
        if self.host_packets and self.traffic != "all-to-all":
            raise ValueError(f"host_packets must be of all-to-all, not {self.traffic!r}")
        if given and (self.is_matrix or self.traffic.startswith("moe")):
            raise ValueError(
                f"{given[0]} must not be given for {self.traffic!r}: sizes are its own"
            )
        for name, of in _ONLY_OF.items():
            value = getattr(self, name)
            if value != getattr(Workload, name) and self.traffic not in of:
                raise ValueError(
                    f"{name} must be of {' or '.join(of)}, not {value!r} for {self.traffic!r}"
                )
        if not given and self.traffic == "all-to-all":
            raise ValueError("packets, size or host_packets must be given for all-to-all")

    @property
    def is_matrix(self) -> bool:
        """Whether the traffic is a file."""
        return Path(self.traffic).suffix == ".cm"

    def flow_packets(self, config: FabricConfig) -> int:
        """Data packets of a flow."""
        if self.packets is not None:
            return self.packets
        size = DEFAULT_SIZE if self.size is None else parse_size("size", self.size)
        return -(-size // config.payload_bytes)

    def memory_bytes(self, config: FabricConfig) -> int:
        """About what making the flows takes, bytes; a matrix is not counted."""
        hosts = tree_of(config).hosts
        flows = hosts
        if self.traffic == "all-to-all":
            flows = hosts * (hosts - 1)
        elif self.traffic == "ring":
            flows = hosts * self.steps
        elif self.traffic.startswith("moe"):
            flows = hosts * hosts // make.SERVER
        return flows * _FLOW_BYTES

    def flows(self, config: FabricConfig) -> Flows:
        """Make the flows for a tree, with the configuration's seed."""
        seed = config.seed
        if self.is_matrix:
            return flows_of(config, read_connections(self.traffic, tree_of(config).hosts))
        if self.traffic.startswith("moe"):
            eplb = self.traffic == "moe-eplb"
            return moe(config, seed, eplb=eplb, skew=self.skew, scale=self.scale)
        packets = self.flow_packets(config)
        if self.traffic == "all-to-all":
            if self.host_packets is not None:
                return make.all_to_all(
                    config, seed, host_packets=self.host_packets, order=self.order
                )
            return make.all_to_all(config, seed, packets=packets, order=self.order)
        if self.traffic == "ring":
            return make.ring(config, seed, packets, stride=self.stride, steps=self.steps)
        return make.permutation(config, seed, packets, inter_pod=self.traffic == "inter-pod")
