"""Parameters of the load balancers: what Table 1 assumes, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from models.common.check import choice, integer, real

POINTERS = ("shared", "split")
QUEUE_UNITS = ("bytes", "packets")


@dataclass(frozen=True, kw_only=True)
class SchemeOptions:
    """Every field is checked on construction and named with its value if it is wrong. Fields
    marked † are details on which the paper is silent."""

    rr_pointers: str = "shared"
    """Simple RR †: one pointer a switch ("shared"), or one for data and one for ACKs ("split")."""
    queue_unit: str = "bytes"
    """Unit of the queue lengths that schemes compare †: "bytes" of link time (frames and gaps), or
    "packets", data and ACKs alike."""
    queue_in_service: bool = True
    """Whether the packet in service counts in such a length †, with what is left of it."""
    queue_age_ns: int = 0
    """How old lengths may be †: they are those of the last multiple of this time, 0 to 10**6; 0 is
    the present."""
    buffer_bytes: int = 800_000
    """The buffer that thresholds are shares of (section 6), 1 to 2**40."""
    quanta_percent: tuple[int, ...] = (5, 10, 20)
    """AR: shares of the buffer at which the quantized queue length steps up (Table 1)."""
    ecn_percent: int = 10
    """REPS: a packet that meets at least this share of the buffer before it is marked (Table 1)."""
    choices: int = 2
    """CHOICE and DRILL: d, uplinks drawn for a packet, 1 to 64."""
    memory: int = 1
    """DRILL: m, best uplinks of the last decision that are looked at again †, 0 to 8."""
    dre_ns: int = 10_000
    """CONGA, DLB, SGLB: time constant of the rate estimator †, 100 to 10**6."""
    levels: int = 8
    """CONGA, DLB, SGLB: steps that loads and queues are quantized to †, 2 to 256."""
    telemetry_ns: int = 0
    """SGLB: how often a switch tells its neighbours of its queues †; 0 is once a link latency, less
    is not possible. What is told is known one link latency later."""
    reps_cache: int = 8
    """REPS: entropies a flow keeps, 1 to 64 (its paper has 8)."""
    reps_warmup_packets: int = 0
    """REPS: data packets of a flow that explore at random before cached entropies are used †;
    0 is one bandwidth-delay product of an idle path."""

    def __post_init__(self) -> None:
        choice("rr_pointers", self.rr_pointers, POINTERS)
        choice("queue_unit", self.queue_unit, QUEUE_UNITS)
        if not isinstance(self.queue_in_service, bool):
            raise TypeError(
                f"queue_in_service must be True or False, not {self.queue_in_service!r}"
            )
        integer("queue_age_ns", self.queue_age_ns, 0, 10**6)
        integer("buffer_bytes", self.buffer_bytes, 1, 2**40)
        quanta = self.quanta_percent
        if not isinstance(quanta, tuple) or not quanta or len(quanta) > 16:
            raise TypeError(f"quanta_percent must be 1 to 16 integers, not {quanta!r}")
        for low, high in zip((0, *quanta), quanta, strict=False):
            integer("quanta_percent", high, low + 1, 100)
        integer("ecn_percent", self.ecn_percent, 1, 100)
        integer("choices", self.choices, 1, 64)
        integer("memory", self.memory, 0, 8)
        real("dre_ns", self.dre_ns, 100, 10**6)
        integer("levels", self.levels, 2, 256)
        integer("telemetry_ns", self.telemetry_ns, 0, 10**6)
        integer("reps_cache", self.reps_cache, 1, 64)
        integer("reps_warmup_packets", self.reps_warmup_packets, 0, 10**6)
