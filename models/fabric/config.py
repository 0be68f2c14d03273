"""The one parameter class of the network model (seed section 6, and what the paper leaves open).

Times inside the model are integers of one byte time: what one byte takes on a link, 10 ps at
800 Gb/s. Sizes and times then share a unit, and nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from models.common.check import choice, integer, real
from models.fabric.options import SchemeOptions
from models.fabric.schemes import SCHEMES, parse_scheme

TIES = ("port", "shuffled")
HOST_ORDERS = ("alternate", "ack-first", "data-first")
MIXES = ("none", "random", "pods", "edges", "aggs")
RATES = ("paths", "hops")


@dataclass(frozen=True, kw_only=True)
class FabricConfig:
    """One network, its load balancer and its seed; the traffic is apart (`models.fabric.flows`).

    Every field is checked on construction: `TypeError` for a wrong type, `ValueError` for a wrong
    value, both naming the field and the value. Fields marked † are details on which the paper is
    silent.
    """

    radix: int = 12
    """k, ports of a switch, even, 2 to 128."""
    levels: int = 3
    """3: k³/4 hosts under edge, aggregation and core switches; 2: k²/2 under edges and spines."""
    link_gbps: int = 800
    """Rate of every link, Gb/s, 1 to 1,000,000."""
    link_latency_ns: int = 500
    """Propagation time of a link, ns, 1 to 1,000,000; a whole number of byte times, and at least
    one."""
    payload_bytes: int = 4096
    """Payload of a data packet, 1 to 1,048,576. Messages are whole packets: sizes round up. †"""
    header_bytes: int = 62
    """Header of a data packet, 0 to 4,096."""
    ack_bytes: int = 64
    """Size of an ACK, 1 to 4,096; one an arrived data packet."""
    gap_bytes: int = 20
    """Gap after every frame, in bytes of link time, 0 to 4,096."""
    acks: bool = True
    """Whether data is acknowledged; without, a flow is complete when its data has arrived."""
    buffer_bytes: int | None = None
    """What one switch port can hold, bytes of link time (frames and gaps, what is left of the one
    in service included †), 1 to 2**40; a packet that would exceed it is lost. None: no bound."""
    rate: float = 1.0
    """Share of the line rate at which a host sends data, above 0 to 1, in steps of 10**-6. Under
    failures a host sends at the smaller of this and ρ_max."""
    rate_balance: str = "paths"
    """How ρ_max takes "balanced perfectly" †: "paths", each flow equally over all its valid
    shortest paths, or "hops", equally over the valid uplinks of each switch it meets."""
    jitter_ns: float | None = None
    """Each host starts at a random time below this †, 0 to 10**9; None is one data packet time
    (frame and gap), 0 starts all at once."""
    ties: str = "port"
    """Which of two packets that arrive at a switch at one time comes first †: the lower input
    port (downlinks count first), or "shuffled": every switch has a random order of its ports."""
    host_order: str = "alternate"
    """What a host sends when it has data and ACKs †: "alternate" (appendix A: in turn, whatever
    it did not send last; data at first), "ack-first" or "data-first"."""
    scheme: str = "ofan"
    """Load balancer, one of `models.fabric.schemes.SCHEMES`; pOfan with its width, as pofan4. Where
    the width does not divide k/2, the last pipe is narrower."""
    mix: str = "none"
    """Where `mix_scheme` runs in place of `scheme` (section 6.4): "none"; "random", half of the
    edge and aggregation switches; "pods", half of the pods; "edges"; "aggs"."""
    mix_scheme: str | None = None
    """The second scheme of a mix; both must decide at switches."""
    link_failure: float = 0.0
    """Probability of each link between switches to be down, both ways, 0 to 0.9 (section 6.2)."""
    seed: int = 0
    """Seed of everything random, 0 to 2**64 - 1."""
    options: SchemeOptions = field(default_factory=SchemeOptions)
    """Parameters of the load balancers."""

    def __post_init__(self) -> None:
        message = f"radix must be an even integer from 2 to 128, not {self.radix!r}"
        if isinstance(self.radix, bool) or not isinstance(self.radix, int):
            raise TypeError(message)
        if self.radix % 2 or not 2 <= self.radix <= 128:
            raise ValueError(message)
        integer("levels", self.levels, 2, 3)
        integer("link_gbps", self.link_gbps, 1, 1_000_000)
        integer("link_latency_ns", self.link_latency_ns, 1, 1_000_000)
        if self.link_latency_ns * self.link_gbps % 8:
            raise ValueError(
                f"link_latency_ns must be a whole number of byte times of {8 / self.link_gbps:g} "
                f"ns, not {self.link_latency_ns!r}"
            )
        integer("payload_bytes", self.payload_bytes, 1, 1 << 20)
        integer("header_bytes", self.header_bytes, 0, 4096)
        integer("ack_bytes", self.ack_bytes, 1, 4096)
        integer("gap_bytes", self.gap_bytes, 0, 4096)
        if self.buffer_bytes is not None:
            integer("buffer_bytes", self.buffer_bytes, 1, 2**40)
        real("rate", self.rate, 1e-6, 1)
        choice("rate_balance", self.rate_balance, RATES)
        if self.jitter_ns is not None:
            real("jitter_ns", self.jitter_ns, 0, 1e9)
        choice("ties", self.ties, TIES)
        choice("host_order", self.host_order, HOST_ORDERS)
        real("link_failure", self.link_failure, 0, 0.9)
        integer("seed", self.seed, 0, 2**64 - 1)
        if not isinstance(self.acks, bool):
            raise TypeError(f"acks must be True or False, not {self.acks!r}")
        self._check_schemes()

    def _check_schemes(self) -> None:
        choice("mix", self.mix, MIXES)
        if (self.mix == "none") != (self.mix_scheme is None):
            raise ValueError(f"mix_scheme must be given with a mix alone, not {self.mix_scheme!r}")
        for field_name in ("scheme", "mix_scheme"):
            name = getattr(self, field_name)
            if name is None and field_name == "mix_scheme":
                continue
            known, width = parse_scheme(name, field_name)
            if self.mix != "none" and SCHEMES[known][1] == "host":
                raise ValueError(f"mix must be of schemes that decide at switches, not {name!r}")
            if width is not None and width > self.half:
                raise ValueError(
                    f"{field_name} must have pipes of at most k/2 ({self.half}) lanes, not {name!r}"
                )

    @property
    def half(self) -> int:
        """w = k/2, uplinks of a switch."""
        return self.radix // 2

    @property
    def latency(self) -> int:
        """Propagation time of a link, byte times."""
        return self.link_latency_ns * self.link_gbps // 8

    @property
    def byte_ps(self) -> Fraction:
        """One byte time, picoseconds (10 at 800 Gb/s)."""
        return Fraction(8000, self.link_gbps)

    @property
    def data_bytes(self) -> int:
        """Frame of a data packet, without the gap."""
        return self.payload_bytes + self.header_bytes

    @property
    def data_time(self) -> int:
        """Td′, what a data packet takes of a link, gap included, byte times."""
        return self.data_bytes + self.gap_bytes

    @property
    def ack_time(self) -> int:
        """Ta′, what an ACK takes of a link, gap included, byte times."""
        return self.ack_bytes + self.gap_bytes

    @property
    def jitter(self) -> int:
        """Start times are drawn below this, byte times; 0 starts all hosts at once."""
        if self.jitter_ns is None:
            return self.data_time
        return int(Fraction(self.jitter_ns) * self.link_gbps / 8)

    @property
    def exact_rate(self) -> Fraction:
        """`rate` as a fraction with a denominator of at most 10**6."""
        return Fraction(self.rate).limit_denominator(1_000_000)
