"""The bit-exact model for whole traces: what the hardware answers, some million packets a second.

`models.symphony.loop` keeps the state, one packet after the other. What follows from it for each
packet on its own is done for many at once: here in real numbers, and in `models.symphony.coin` as
the hardware does it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from models.common.ecn import CE, NOT_ECT
from models.common.lfsr import initial_state
from models.symphony import coin, loop
from models.symphony.answers import Answers
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.measure import stored
from models.symphony.red import red_scale
from models.symphony.slots import Orders
from models.symphony.trace import NO_WORD, Trace

_BLOCK = 1 << 18  # packets: some tens of MB of temporary arrays
_UNBOUNDED = 1 << 62

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Followed:
    """What the state says of each packet, in integers that all forms of arithmetic share."""

    known: np.ndarray
    """bool: its job has a slot."""
    outpacing: np.ndarray
    """bool: its step is above step_min as it was before the packet."""
    tossed: np.ndarray
    """bool: Algorithm 1 reaches the coin."""
    alpha: np.ndarray
    """int32."""
    rec: np.ndarray
    """int32: psn_rec after the packet."""
    position: np.ndarray
    """int32: the packet's position in its step."""
    random: np.ndarray
    """int64: its random word."""


class VectorizedSymphony:
    """One switch. `serve` takes packets in order, with the orders among them; its state, clock and
    random numbers go on from call to call.

    With `real` it is Algorithm 1 in real numbers, as `models.symphony.marker` has it: nothing
    saturates, and there are no gaps.
    """

    def __init__(self, config: SymphonyConfig, *, real: bool = False) -> None:
        self.config = config
        self.real = real
        self._constants = constants(config, bounded=not real)
        self._jobs = np.zeros((config.jobs, loop.JOB_WORDS), np.int64)
        self._clock = np.zeros(loop.CLOCK_WORDS, np.int64)
        self._register = np.uint64(initial_state(config.seed))

    def serve(self, packets: Trace, orders: Orders | None = None) -> Answers:
        """Return what becomes of each packet."""
        c = self.config
        followed = self.follow(packets, orders or Orders.of())
        real = real_probability(c, followed)
        if self.real:
            gap, probability = None, real
            symphony = drawn(c, followed.random) < probability
            red = red_real(c, packets.queue_bytes, followed.random)
        else:
            gap = self._gaps(followed)
            probability = coin.gap_probability(c, gap)
            symphony = coin.mark(c, gap, coin.split_all(c, followed.random))
            red = red_marks(c, packets.queue_bytes, followed.random)
        ecn = packets.codepoints()
        marked = symphony | red
        return Answers(
            known=followed.known,
            outpacing=followed.outpacing,
            probability=probability,
            symphony=symphony,
            red=red,
            mark=marked & (ecn != NOT_ECT),
            ecn=np.where(marked & (ecn != NOT_ECT), CE, ecn).astype(np.uint8),
            gap=gap,
            real=real,
        )

    def follow(self, packets: Trace, orders: Orders) -> Followed:
        """Return what the state says of each packet, and move it on."""
        count = len(packets)
        flags = np.empty(count, np.uint8)
        alpha, rec, position = (np.empty(count, np.int32) for _ in range(3))
        loop.track(
            self._constants,
            self._jobs,
            self._clock,
            loop.Orders(orders.before, orders.job, orders.given),
            loop.Packets(packets.time_ns, packets.job, packets.step, packets.psn, packets.last),
            loop.Tracked(flags, alpha, rec, position),
        )
        bits = (loop.KNOWN, loop.OUTPACING, loop.TOSSED)
        known, outpacing, tossed = ((flags & bit).astype(bool) for bit in bits)
        return Followed(known, outpacing, tossed, alpha, rec, position, self._words(packets))

    def _gaps(self, followed: Followed) -> np.ndarray:
        c = self.config
        some = followed.tossed & (followed.position > 0)
        rec, position = (stored_all(c, psn) for psn in (followed.rec, followed.position))
        return coin.gap(c, followed.alpha, rec, position, some).astype(np.uint64)

    def _words(self, packets: Trace) -> np.ndarray:
        words = np.empty(len(packets), np.uint64)
        mask = np.uint64(2**self.config.random_bits - 1)
        self._register = np.uint64(loop.register_words(self._register, mask, words))
        words = words.view(np.int64)
        if packets.random is not None:
            words = np.where(packets.random == NO_WORD, words, packets.random)
        return words


def constants(config: SymphonyConfig, *, bounded: bool = True) -> loop.Constants:
    """Return what the loop needs of a configuration; unbounded, the balance never saturates."""
    c = config
    tau = c.tau_code
    return loop.Constants(
        window=c.window_ns,
        psn_window=c.psn_window_ns or c.window_ns,
        time_timeout=c.time_timeout,
        half=1 << c.step_bits - 1 if c.step_wrap == "serial" else 0,
        last_step=2**c.step_bits - 1,
        step_packets=c.step_packets,
        psn_mask=2**c.psn_bits - 1,
        n_warmup=c.n_warmup,
        n_sample=c.n_sample,
        outpacing=c.tau_scale - tau,
        lagging=tau,
        limit=1 << c.balance_bits - 1 if bounded else _UNBOUNDED,
        ceiling=c.ceiling,
    )


def stored_all(config: SymphonyConfig, psn: np.ndarray) -> np.ndarray:
    """Return positions as `models.symphony.measure.stored` does (int64)."""
    c = config
    if c.arithmetic == "exact":
        return psn.astype(np.int64)
    psn = psn.astype(np.int64)
    exponent = np.frexp(psn.astype(np.float64))[1].astype(np.int64) - 1  # -1 for 0
    index = (psn << c.mantissa_bits >> np.maximum(exponent, 0)) & (1 << c.mantissa_bits) - 1
    return _codes(c)[exponent, index]


@cache
def _codes(config: SymphonyConfig) -> np.ndarray:
    """Return what is stored for each exponent and the `mantissa_bits` below the leading one, which
    are all that a logarithm looks at; the last row is that of 0."""
    c = config
    codes = np.empty((c.psn_bits + 1, 1 << c.mantissa_bits), np.int64)
    for exponent in range(c.psn_bits):
        below = (index << exponent >> c.mantissa_bits for index in range(1 << c.mantissa_bits))
        codes[exponent] = [stored(c, (1 << exponent) + rest) for rest in below]
    codes[-1] = stored(c, 0)
    return codes


def real_probability(config: SymphonyConfig, followed: Followed) -> np.ndarray:
    """Return P_ECN of each packet in real numbers (equations 1 and 4), to the last bit as
    `models.symphony.coin.probability` does; 0 where the coin is not tossed."""
    ratio = np.divide(
        followed.position, followed.rec, out=np.zeros(len(followed.rec)), where=followed.tossed
    )
    return np.minimum(1.0, config.k * (followed.alpha * ratio))


def drawn(config: SymphonyConfig, random: np.ndarray) -> np.ndarray:
    """Return the coin's random numbers as `models.symphony.coin.drawn` does."""
    m, e = config.random_mantissa_bits, config.random_exponent_bits
    mantissa = random >> RED_BITS & (1 << m) - 1
    lead = random >> RED_BITS + m & (1 << e) - 1
    length = np.frexp(lead.astype(np.float64))[1]  # bits of the integer, at most 38
    return np.ldexp(1 + (mantissa + 0.5) / 2**m, length - e - 1)


def red_marks(config: SymphonyConfig, queue_bytes: np.ndarray, random: np.ndarray) -> np.ndarray:
    """Return RED's marks as `models.symphony.red.red_mark` does."""
    c = config
    scale, shift = red_scale(c)
    threshold = (random & 2**RED_BITS - 1) * scale << shift
    return (queue_bytes > c.kmax) | (queue_bytes - c.kmin << RED_BITS > threshold)


def red_real(config: SymphonyConfig, queue_bytes: np.ndarray, random: np.ndarray) -> np.ndarray:
    """Return RED's marks in real numbers, as `models.symphony.marker` has them."""
    c = config
    above = np.clip(queue_bytes - c.kmin, 0, None)
    probability = c.pmax * above / max(1, c.kmax - c.kmin)
    probability[queue_bytes > c.kmax] = 1.0
    return (random % 2**RED_BITS + 0.5) / 2**RED_BITS < probability


def prepare(config: SymphonyConfig) -> None:
    """Compile the loop, or load it, ahead of its first use."""
    answer(config, Trace.of(*[[0]] * 6), Orders.of())


def answer(
    config: SymphonyConfig,
    trace: Trace,
    orders: Orders,
    progress: Progress | None = None,
    *,
    real: bool = False,
) -> Answers:
    """Return what becomes of the packets of a trace.

    `progress` is called now and then with the number of packets served so far.
    """
    model = VectorizedSymphony(config, real=real)
    parts = []
    for start in range(0, max(1, len(trace)), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(trace)))
        parts.append(model.serve(trace[rows], orders.among(rows)))
        if progress:
            progress(rows.stop)
    return Answers.joined(parts)
