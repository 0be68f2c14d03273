"""The one parameter class of Symphony, and the named presets (seed sections 3 and 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from models.common.check import bits_for, choice, integer, real

ARITHMETICS = ("log", "exact")
STEP_WRAPS = ("serial", "plain")

MOST_TAU = 1000
RED_BITS = 12
"""Random bits of RED's coin."""
MIN_K, MIN_PMAX = 1e-4, 1e-3


@dataclass(frozen=True, kw_only=True)
class SymphonyConfig:
    """What the model, the RTL, the bench, the cost report and the command line all take.

    Every field is checked on construction: `TypeError` for a wrong type, `ValueError` for a wrong
    value, both naming the field and the value. Where the paper gives a value it is the default;
    where it leaves one open, the reason for the default stands beside it.
    """

    jobs: int = 16384
    """Job slots, 1 to 65,536 (section 3.5: "16k concurrent jobs"); a job's number is its slot."""
    step_bits: int = 16
    """Width of a step index, bits, 2 to 24; 16 as in a UDP source port or UEC's PDCID."""
    psn_bits: int = 24
    """Width of a PSN, bits, 4 to 24."""
    queue_bits: int = 24
    """Width of a queue's depth in bytes, bits, 8 to 32."""
    time_bits: int = 64
    """Width of the time input in ns, bits, 16 to 64."""
    k: float = 0.01
    """Gain of the throttling loop (equation 4), 0.0001 to 1."""
    tau: float = 0.25
    """Tolerance of outpacing traffic (equation 3), 0 to 1: a ratio of whole numbers up to 1,000,
    such as 0.25 or 0.333, so that it is the same number everywhere."""
    window_ns: int = 100_000
    """T_win, after which α moves, ns, 16 to 2**32 - 1."""
    psn_window_ns: int | None = None
    """Interval after which psn_rec starts again from 0, ns; None shares T_win's edge, as both are
    100 µs in the paper."""
    n_warmup: int = 32
    """N_warmup: no packet is marked while psn_rec is at most this. Open in the paper; one packet of
    psn_rec is then 3 % of the ratio, and at 10 Gb/s it is a quarter of a window."""
    n_sample: int = 32
    """N_sample: α keeps its value after a window of at most so many packets, 0 to 65,534. Open in
    the paper; the standard error of ρ at τ = 0.25 is then 0.08."""
    alpha_max: int | None = None
    """Ceiling of α, 1 to 65,535. Open in the paper; None is ⌈1/k⌉, where α·k is 1 and every packet
    as far as psn_rec is marked: above it α would only take longer to come down."""
    step_wrap: str = "serial"
    """`serial`: step indices wrap around, and of two the one less than half the range ahead is
    later. `plain`: they are compared as numbers, and the last one stays the last. Open in the
    paper; 16 bits of steps do not last a job's life, so they wrap by default."""
    step_packets: int = 0
    """0: a PSN is the packet's position in its step, as in section 3.2.1. n: PSNs run on from step
    to step, n packets each, and the position is psn - n·step. 0 to 2**24 - 1."""
    kmin: int = 50_000
    """RED marks nothing up to this queue depth, bytes (section 4.1, K_min = 50 KB)."""
    kmax: int = 100_000
    """RED marks everything above this queue depth, bytes (K_max = 100 KB)."""
    pmax: float = 0.2
    """RED's probability at K_max, 0.001 to 1."""
    arithmetic: str = "log"
    """How α·k·psn/psn_rec meets the random number: `log`, by logarithm tables (section 4.7), or
    `exact`, by multiplication."""
    mantissa_bits: int = 6
    """Bits below the leading one that enter a logarithm, 2 to 10. The defaults of this and the next
    are a compromise of error and gates that docs/symphony/accuracy.md shows."""
    fraction_bits: int = 7
    """Binary places of a logarithm, 2 to 10."""
    seed: int = 0
    """Seed of the pseudo-random numbers, 0 to 2**63 - 1."""
    window_packets: int | None = None
    """Packets of one job and window that are counted exactly, 255 to 2**32 - 1; None: one a
    nanosecond and more, 131,071 in 100 µs. Beyond them the balance saturates."""
    time_timeout: int = 4096
    """Packets in a row without time moving on after which Symphony marks nothing, 1 to 2**20."""
    counter_bits: int = 32
    """Width of each of the counters of a job, bits, 8 to 32; 0 leaves them out."""

    def __post_init__(self) -> None:
        integer("jobs", self.jobs, 1, 65536)
        integer("step_bits", self.step_bits, 2, 24)
        integer("psn_bits", self.psn_bits, 4, 24)
        integer("queue_bits", self.queue_bits, 8, 32)
        integer("time_bits", self.time_bits, 16, 64)
        object.__setattr__(self, "k", real("k", self.k, MIN_K, 1))
        object.__setattr__(self, "tau", real("tau", self.tau, 0, 1))
        if abs(self.tau_fraction - Fraction(self.tau)) > Fraction(1, 2**40):
            raise ValueError(
                f"tau must be a ratio of whole numbers up to {MOST_TAU}, such as 0.123, "
                f"not {self.tau!r}"
            )
        longest = min(2**32, 2 ** (self.time_bits - 1)) - 1
        integer("window_ns", self.window_ns, 16, longest)
        if self.psn_window_ns is not None:
            integer("psn_window_ns", self.psn_window_ns, 16, longest)
        integer("n_warmup", self.n_warmup, 0, 2**self.psn_bits - 1)
        integer("n_sample", self.n_sample, 0, 65534)
        if self.alpha_max is None:
            object.__setattr__(self, "alpha_max", math.ceil(round(1 / self.k, 6)))
        integer("alpha_max", self.alpha_max, 1, 65535)
        choice("step_wrap", self.step_wrap, STEP_WRAPS)
        integer("step_packets", self.step_packets, 0, 2**24 - 1)
        integer("kmin", self.kmin, 0, 2**self.queue_bits - 1)
        integer("kmax", self.kmax, 0, 2**self.queue_bits - 1)
        if self.kmin > self.kmax:
            raise ValueError(f"kmin must be at most kmax ({self.kmax}), not {self.kmin}")
        object.__setattr__(self, "pmax", real("pmax", self.pmax, MIN_PMAX, 1))
        choice("arithmetic", self.arithmetic, ARITHMETICS)
        integer("mantissa_bits", self.mantissa_bits, 2, 10)
        integer("fraction_bits", self.fraction_bits, 2, 10)
        integer("seed", self.seed, 0, 2**63 - 1)
        if self.window_packets is None:
            most = max(131_071, (1 << self.window_ns.bit_length()) - 1)
            object.__setattr__(self, "window_packets", most)
        integer("window_packets", self.window_packets, 255, 2**32 - 1)
        integer("time_timeout", self.time_timeout, 1, 2**20)
        if self.counter_bits:
            integer("counter_bits", self.counter_bits, 8, 32)

    @property
    def job_bits(self) -> int:
        """Width of a job's number, bits."""
        return bits_for(self.jobs)

    @property
    def ceiling(self) -> int:
        """`alpha_max` as the integer it is after construction."""
        assert self.alpha_max is not None
        return self.alpha_max

    @property
    def most_packets(self) -> int:
        """`window_packets` as the integer it is after construction."""
        assert self.window_packets is not None
        return self.window_packets

    @property
    def alpha_bits(self) -> int:
        """Width of α, bits."""
        return bits_for(self.ceiling + 1)

    @property
    def tau_fraction(self) -> Fraction:
        """τ as a ratio of whole numbers."""
        return Fraction(self.tau).limit_denominator(MOST_TAU)

    @property
    def tau_scale(self) -> int:
        """The lower one of the two: τ is `tau_code` / `tau_scale`."""
        return self.tau_fraction.denominator

    @property
    def tau_code(self) -> int:
        """The upper one of the two."""
        return self.tau_fraction.numerator

    @property
    def balance_bits(self) -> int:
        """Width of the signed balance tau_scale·(Cnt_op - τ·Cnt_total), bits."""
        largest = max(self.tau_code, self.tau_scale - self.tau_code) * self.most_packets
        return bits_for(largest + 1) + 1

    @property
    def sample_bits(self) -> int:
        """Width of the sample guard, which counts down from N_sample + 1, bits."""
        return bits_for(self.n_sample + 2)

    @property
    def log_bits(self) -> int:
        """Width of the logarithm of a PSN, bits: its exponent above `fraction_bits` places."""
        return bits_for(self.psn_bits) + self.fraction_bits

    @property
    def rec_bits(self) -> int:
        """Width of psn_rec as it is stored, bits: its logarithm, or itself."""
        return self.log_bits if self.arithmetic == "log" else self.psn_bits

    @property
    def word_bits(self) -> int:
        """Width of a job's word in the state memory, bits: valid, step_min, psn_rec, α, balance,
        sample guard, and beside a logarithm whether psn_rec is above N_warmup."""
        parts = (1, self.step_bits, self.rec_bits, self.alpha_bits, self.balance_bits)
        return sum(parts) + self.sample_bits + (self.arithmetic == "log")

    @property
    def random_exponent_bits(self) -> int:
        """Random bits whose leading zeros are the exponent of the coin's random number: enough for
        the smallest probability above 0, k / (2**psn_bits - 1)."""
        return self.psn_bits + max(1, math.ceil(-math.log2(self.k)))

    @property
    def random_mantissa_bits(self) -> int:
        """Random bits below the leading one of the coin's random number."""
        return self.mantissa_bits if self.arithmetic == "log" else 8

    @property
    def random_bits(self) -> int:
        """Random bits a packet, from bit 0 up: RED's, then the coin's mantissa and exponent."""
        return RED_BITS + self.random_mantissa_bits + self.random_exponent_bits


PRESETS: dict[str, SymphonyConfig] = {
    "log-16k": SymphonyConfig(),
    "exact-16k": SymphonyConfig(arithmetic="exact"),
    "log-1k": SymphonyConfig(jobs=1024),
    "exact-1k": SymphonyConfig(jobs=1024, arithmetic="exact"),
    "log-64": SymphonyConfig(jobs=64),
}
"""Named configurations: the rows of every table."""


def preset(name: str, **changes: Any) -> SymphonyConfig:
    """Return the preset called `name` with the fields in `changes` replaced.

    A changed k brings its own default of α's ceiling, and a changed window that of the packets in
    it. Raises `ValueError` that lists the presets
    if there is none of that name.
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}")
    if "k" in changes:
        changes.setdefault("alpha_max", None)
    if "window_ns" in changes:
        changes.setdefault("window_packets", None)
    return replace(PRESETS[name], **changes)
