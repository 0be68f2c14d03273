"""Fast Ramp-Up: how a sender uses ABW/C to claim idle capacity, in three transports.

What the seed states:

1. At a bottleneck of which a fraction u is used, 1/u is a safe factor to grow by.
2. The factor and the data in flight give the capacity that there is for the flow.
3. The congestion window moves toward that target over the next RTT.
4. A queue-delay threshold is a circuit breaker: above it the feedback may be stale and is not used.
5. It is built into Swift; there are variants for CUBIC and NSCC.

What is this project's, since the seed does not say, each a parameter or a choice told here:

- Tags are watched for one RTT, and the worst of them counts: a short measuring window sees single
  packets come and go. Then the window moves for one RTT, linearly.
- The data in flight is that of when the packet with the worst tag was sent: what a tag says is
  about that time, and a window that has grown since then is not multiplied again.
- After a move, tags of windows that began before its end are not looked at.
- u is taken from the worst value that a tag's code may mean, so a coarse code errs toward less.
- `most_growth` bounds 1/u, which has no bound where a link is idle.
- A window is only ever raised; coming down is the transport's. A cut ends the move, and tags of
  packets sent before it, with more in flight, are not looked at.
- The threshold's default, and the rules of the transports around it, which are simplified from what
  is public of them.

Sizes are in bytes and times in ns, as real numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from models.common.check import real
from models.csig.host import Reading

MTU = 4096.0


@dataclass(frozen=True)
class Ack:
    """What an ACK tells a sender."""

    time_ns: float
    acked: float
    """Bytes that have arrived."""
    sent_with: float
    """Bytes that were in flight when the packet was sent, itself among them."""
    rtt_ns: float
    abw_c: Reading | None = None
    """What the packet's tag says of ABW/C; None: nothing."""
    marked: bool = False
    """ECN."""

    @property
    def sent_ns(self) -> float:
        """When the packet was sent."""
        return self.time_ns - self.rtt_ns


def growth(used: float, most: float) -> float:
    """Return the factor to grow by at a bottleneck of which a fraction is used: 1/u."""
    return min(most, 1 / used) if used > 0 else most


@dataclass
class FastRampUp:
    """Moves a window up; parameters are checked on construction."""

    queue_ns: float = 5000.0
    """The circuit breaker: queueing delay above which nothing is claimed, 0 to 10**9."""
    most_growth: float = 16.0
    """Largest factor, 1 to 1,000."""
    measured_ns: float = 2000.0
    """Window over which the network measures ABW/C, 0 to 10**9."""

    def __post_init__(self) -> None:
        real("queue_ns", self.queue_ns, 0, 1e9)
        real("most_growth", self.most_growth, 1, 1000)
        real("measured_ns", self.measured_ns, 0, 1e9)
        self._since = float("-inf")  # tags of packets sent before say nothing new
        self._start()

    def _start(self) -> None:
        """Watch tags for one RTT."""
        self._watched = 0.0  # bytes acknowledged
        self._worst: tuple[float, float] | None = None  # share used, and bytes in flight
        self._moving = 0.0  # bytes to be acknowledged until the move ends
        self._step = 0.0  # bytes to add for each of them

    def raised(self, window: float, ack: Ack, base_ns: float) -> float:
        """Return the window after an ACK, no less than it was; `base_ns` is the RTT without any
        queue."""
        if ack.rtt_ns - base_ns > self.queue_ns:
            self._start()
            return window
        if self._moving > 0:
            part = min(ack.acked, self._moving)
            self._moving -= part
            if self._moving <= 0:
                self._since = ack.time_ns + 2 * self.measured_ns
            return window + part * self._step
        if ack.sent_ns < self._since:
            return window
        self._watch(ack)
        if self._watched >= window:
            self._aim(window)
        return window

    def stop(self, time_ns: float) -> None:
        """End the move: the window has been cut, and what was in flight before is too much."""
        self._since = max(self._since, time_ns)
        self._start()

    def _watch(self, ack: Ack) -> None:
        self._watched += ack.acked
        if ack.abw_c is not None:
            used = 1 - float(ack.abw_c.worst or 0) / 100
            self._worst = max(self._worst or (-1.0, 0.0), (used, ack.sent_with))

    def _aim(self, window: float) -> None:
        """Begin to move to the capacity that there is for the flow, if that is more."""
        worst = self._worst
        self._start()
        if worst is None:
            return
        used, flying = worst
        self._step = max(0.0, flying * growth(used, self.most_growth) - window) / window
        self._moving = window if self._step else 0.0


@dataclass
class Transport:
    """A congestion window, and the ACKs that move it. `ramp` None is the transport alone."""

    ramp: FastRampUp | None = None
    window: float = 2 * MTU
    base_ns: float = 20_000.0
    """RTT without any queue."""

    def __post_init__(self) -> None:
        self._cut_at = float("-inf")

    def take(self, ack: Ack) -> None:
        """Let an ACK move the window."""
        alone = max(MTU, self.alone(ack))
        before = self.window
        self.window = alone
        if self.ramp and alone >= before and self.may_ramp(ack):
            self.window = max(alone, self.ramp.raised(before, ack, self.base_ns))
            if self.window > alone:
                self.raised(ack)

    def alone(self, ack: Ack) -> float:
        """Return the window that the transport would have without Fast Ramp-Up."""
        raise NotImplementedError

    def may_ramp(self, ack: Ack) -> bool:
        """Whether the transport lets Fast Ramp-Up work at an ACK."""
        return True

    def raised(self, ack: Ack) -> None:
        """Note that Fast Ramp-Up has moved the window."""

    def lost(self, time_ns: float) -> None:
        """Take the loss of a packet."""
        if self.may_cut(time_ns):
            self.window = max(MTU, self.window / 2)

    def may_cut(self, time_ns: float) -> bool:
        """Whether an RTT has passed since the window was cut; then it counts as cut now."""
        if time_ns - self._cut_at < self.base_ns:
            return False
        self._cut_at = time_ns
        if self.ramp:
            self.ramp.stop(time_ns)
        return True

    def grown(self, ack: Ack, packets: float = 1.0) -> float:
        """Return the window with so many packets more an RTT."""
        return self.window + packets * MTU * ack.acked / self.window


@dataclass
class Swift(Transport):
    """Delay against a target: a packet more an RTT below it, less in proportion above it, once an
    RTT. With Fast Ramp-Up, the larger of the two while the delay is below the target."""

    target_ns: float = 10_000.0
    """Queueing delay aimed at."""
    beta: float = 0.8
    most_cut: float = 0.5

    def alone(self, ack: Ack) -> float:
        """Return Swift's own window."""
        late = ack.rtt_ns - self.base_ns - self.target_ns
        if late <= 0:
            return self.grown(ack)
        if not self.may_cut(ack.time_ns):
            return self.window
        return self.window * (1 - min(self.most_cut, self.beta * late / ack.rtt_ns))

    def may_ramp(self, ack: Ack) -> bool:
        """Whether the delay is not above its target."""
        return ack.rtt_ns - self.base_ns <= self.target_ns


@dataclass
class Cubic(Transport):
    """A cube of the time since the last loss. Where Fast Ramp-Up has moved the window, the cube
    starts anew from there, so that what was claimed is the new plateau."""

    scale: float = 0.4
    """Packets a second cubed."""
    beta: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        self._peak = self.window
        self._start: float | None = None

    def alone(self, ack: Ack) -> float:
        """Return CUBIC's own window."""
        if self._start is None:
            self._start = ack.time_ns
        seconds = (ack.time_ns - self._start) / 1e9
        back = max(0.0, (self._peak - self.window) / MTU / self.scale) ** (1 / 3)
        if seconds == 0:
            self._back = back
        cube = self._peak + MTU * self.scale * (seconds - self._back) ** 3
        reno = self.grown(ack, 3 * (1 - self.beta) / (1 + self.beta))
        return max(reno, cube)

    def raised(self, ack: Ack) -> None:
        """Start the cube anew from the window that Fast Ramp-Up has reached."""
        self._peak, self._start = self.window, None

    def lost(self, time_ns: float) -> None:
        """Take the loss of a packet."""
        if self.may_cut(time_ns):
            self._peak, self._start = self.window, None
            self.window = max(MTU, self.beta * self.window)


@dataclass
class Nscc(Transport):
    """Four cases of a mark and of a delay above its target: without both the window grows in
    proportion to how far the delay is below it; late but not marked, by a fair packet an RTT;
    marked but not late, not at all; with both it is cut. Fast Ramp-Up works in the first case
    alone."""

    target_ns: float = 10_000.0
    gain: float = 4.0
    """Packets an RTT, at most, in the first case."""
    most_cut: float = 0.5

    def alone(self, ack: Ack) -> float:
        """Return NSCC's own window."""
        queue = ack.rtt_ns - self.base_ns
        if queue < self.target_ns:
            if ack.marked:
                return self.window
            return self.grown(ack, self.gain * (1 - queue / self.target_ns))
        if not ack.marked:
            return self.grown(ack)
        if not self.may_cut(ack.time_ns):
            return self.window
        return self.window * (1 - min(self.most_cut, (queue - self.target_ns) / queue))

    def may_ramp(self, ack: Ack) -> bool:
        """Whether the delay is below its target and there is no mark."""
        return not ack.marked and ack.rtt_ns - self.base_ns < self.target_ns


TRANSPORTS: dict[str, Callable[..., Transport]] = {"swift": Swift, "cubic": Cubic, "nscc": Nscc}
