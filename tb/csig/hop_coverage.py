"""What cocotb must have seen of a hop (`docs/verification.md` has the table)."""

from __future__ import annotations

from collections.abc import Mapping

from models.csig.config import CsigConfig
from models.csig.hop import Answer
from models.csig.signals import BY_NUMBER, more_severe
from models.csig.tables import CODE, LEVEL, RECORD, SCALE, SWAP
from tb.coverage import Coverage
from tb.csig.hop_beats import Leap, Read, Spoken, Word
from tb.csig.hop_bins import bins
from tb.csig.hop_cycle import Cycle
from tb.csig.hop_reference import YOUNG, Inside, Reference

FAR = 1 << 20


class HopCoverage(Coverage):
    """Counts what a bench sees go into and out of the hop."""

    def __init__(self, run: str, config: CsigConfig, latency: int) -> None:
        super().__init__(run, bins(config, latency))
        self.config = config
        self.latency = latency
        self.restart()

    def restart(self) -> None:
        """Forget what went in: a reset has come."""
        self._last: dict[int, int] = {}  # port: cycle of its last packet
        self._before: tuple[int, bool] | None = None  # port of the last packet, by an agent or not
        self._in_a_row = 0  # packets of one port, taken cycle by cycle
        self._stalled_for = 0
        self._stalled = self._worked = self._drained = self._behind_a_swap = False
        self._now = 0

    def seen(self, happened: Mapping[str, bool]) -> None:
        """Count the bins that are true."""
        for name, value in happened.items():
            if value:
                self.hit(name)

    def entered(
        self, cycle: int, disturbed: int, now: int, model: Reference, inside: Inside
    ) -> None:
        """Count a packet that is taken in `cycle` at an absolute time; `disturbed` is the last
        cycle in which something was held back."""
        port = inside.packet.port
        previous = self._last.get(port, -1)
        if previous > disturbed:
            self.hit(f"same port {cycle - previous} cycles later")
        self._in_a_row = self._in_a_row + 1 if previous == cycle - 1 > disturbed else 1
        self._last[port] = cycle
        top = 1 << self.config.time_bits
        low = 1 << min(32, self.config.time_bits)
        self.seen(
            {
                "packets of one port back to back": self._in_a_row > self.latency,
                "port beyond": port >= self.config.ports,
                "no record": port < self.config.ports and inside.records[-1] is None,
                "packets before any record": not model.records,
                "time wraps around": now // top > self._now // top,
                "edges wrap around": now // low > self._now // low,
            }
        )
        self._now = now
        if inside.records[-1] is not None:
            self._window(now, model, inside)

    def _window(self, now: int, model: Reference, inside: Inside) -> None:
        meter, clock = model.meters[inside.packet.port]
        place = (now - clock.origin) % clock.window_ns
        capacity = meter.port.capacity_bits
        self.seen(
            {
                "window edge between two packets": inside.windows == 1,
                "packet at an edge": inside.windows > 0 and place == 0,
                "packet before an edge": place == clock.window_ns - 1,
                "idle port": inside.windows > 1 and inside.available == capacity,
                "over-subscribed port": inside.available == 0,
                "part of a window used": 0 < inside.available < capacity,
            }
        )

    def left(self, model: Reference, inside: Inside, answer: Answer) -> None:
        """Count a packet that leaves, and what has become of it."""
        packet, record, tag = inside.packet, inside.records[-1], inside.packet.tag
        if inside.records[0] is None and record:
            self.hit("packet around the first record")
        if inside.entries[0] is None and inside.entries[-1]:
            self.hit("packet around the first value")
        if tag is None:
            other = model.other_format(inside)
            self.hit(f"{other} tag not for this hop" if other else "untagged")
        if record is None:
            self._before = None
            return
        self.hit(f"{record.action}, {'tagged' if tag else 'untagged'}")
        if inside.records[0] is None:
            return
        if tag is None or record.action != "update":
            return
        self.hit(f"known tag 0x{tag.encode().hex()}")
        if tag.t not in BY_NUMBER:
            self.hit(f"{tag.format} unknown type")
            return
        if tag.d:
            self.hit("D set")
            if answer.replaced:
                self.hit("D set and replaced")
        elif answer.replaced:
            self.hit("D clear and replaced")
        signal = BY_NUMBER[tag.t]
        by_agent = record.origin(signal.name) == "agent"
        if self._before == (packet.port, not by_agent):
            self.hit("agent and native side by side")
        self._before = packet.port, by_agent
        entry = inside.entries[-1]
        if by_agent:
            there = {} if entry is None else {f: getattr(entry, f) for f in self.config.formats}
            own = there.pop(tag.format, None)
            other = any(value is not None for value in there.values())
            self.seen(
                {
                    "value of an agent": answer.replaced,
                    "stale value": answer.stale and entry is not None,
                    "value never written": answer.stale and entry is None,
                    "value at its last ns": bool(
                        entry and packet.time_ns == entry.until_ns and answer.replaced
                    ),
                    "value for the other format alone": (
                        not answer.stale
                        and own is None
                        and any(v is not None for v in there.values())
                    ),
                }
            )
        elif signal.name not in getattr(record, tag.format):
            self.hit("no quantizer")
            return
        if not inside.sure or (tag.d and not self.config.update_discarded):
            return
        self._compared(model, inside, answer, by_agent)

    def _compared(self, model: Reference, inside: Inside, answer: Answer, by_agent: bool) -> None:
        tag, packet = inside.packet.tag, inside.packet
        assert tag
        signal, entry = BY_NUMBER[tag.t], inside.entries[-1]
        if by_agent:
            ours = getattr(entry, tag.format) if entry and not answer.stale else None
        else:
            raw = model.measure(inside)
            ours = model.code(inside, raw)
            self._ends(model, inside, raw)
        if ours is None:
            return
        name = f"{tag.format} {signal.name}"
        if answer.replaced:
            assert more_severe(signal, ours, tag.s), packet
            self.hit(f"{name} replaced")
        else:
            self.hit(f"{name} {'tie kept' if ours == tag.s else 'kept'}")

    def _ends(self, model: Reference, inside: Inside, raw: int) -> None:
        """Count a code's ends."""
        tag, tables = inside.packet.tag, inside.tables[-1]
        assert tag and tables
        name = BY_NUMBER[tag.t].name
        value = tables.value(BY_NUMBER[tag.t], raw)
        if tag.format == "wide":
            wide = tables.wide[name]
            self.seen(
                {
                    "wide code below its base": value < wide.base,
                    "wide code beyond its end": value >= wide.base + (1 << 20 + wide.shift),
                }
            )
            return
        bounds = tables.compact[name].bounds
        self.seen(
            {
                "compact code of the first range": bool(bounds) and value < bounds[0],
                "compact code of the last range": bool(bounds) and value >= bounds[-1],
            }
        )

    def wrote(self, model: Reference, beat: Word | Leap) -> None:
        """Count a word that is taken."""
        if isinstance(beat, Leap):
            far = beat.advance >= FAR * model.clocks[beat.clock].window_ns
            self.seen({"edge loaded in mid-traffic": bool(model.inside), "time leaps far": far})
            return
        kind, port = beat.write.kind, beat.port
        inside = [packet.packet.port for packet in model.inside]
        table = kind in (LEVEL, CODE, SCALE)
        swap = kind == SWAP
        young = inside[-YOUNG:]
        self.seen(
            {
                "table written in mid-traffic": table and port.id in inside,
                "table swapped in mid-traffic": swap and port.id in inside,
                "table swapped during a stall": swap and self._stalled,
                "old table's last packet": swap and port.id in young and port.id in inside[:-YOUNG],
                "swap right behind a swap": swap and self._behind_a_swap,
                "record changed in mid-traffic": (
                    kind == RECORD
                    and port.id in inside
                    and model.records.get(port.id) not in (None, port)
                ),
            }
        )
        if kind <= SWAP:
            self._behind_a_swap = swap

    def spoke(self, model: Reference, said: Spoken, meets: bool) -> None:
        """Count an agent's write, and whether a packet of its port is taken in the same cycle."""
        inside = [packet.packet.port for packet in model.inside]
        self.seen(
            {
                "agent writes in mid-traffic": said.port in inside,
                "agent writes during a stall": self._stalled,
                "agent writes ahead of a packet": meets,
            }
        )

    def read(self, model: Reference, read: Read) -> None:
        """Count a reading that is taken."""
        inside = [packet.packet.port for packet in model.inside]
        self.seen(
            {
                "counters read in mid-traffic": read.port in inside and not read.clear,
                "counters cleared in mid-traffic": read.port in inside and read.clear,
            }
        )

    def counted(self, got: Mapping[str, int]) -> None:
        """Count what counters tell."""
        if not got["packets"]:
            self.hit("counters of an idle port")
        for name in ("replaced", "stripped", "unknown", "stale"):
            if got[name]:
                self.hit(f"{name} counted")

    def path(self, signal: str) -> None:
        """Count a path of five hops that ended well."""
        self.hit(f"five hops, bottleneck of {signal}")

    def cycle(self, now: Cycle) -> None:
        """Count what the handshakes of one cycle show."""
        stalled = self._stalled = now.answer and not now.answer_taken
        offered, counting = now.wanted["s_axis"], now.wanted["s_count"]
        taken = now.taken.get("s_axis", False)
        full = now.in_flight == self.latency and now.undisturbed > self.latency
        self._stalled_for = self._stalled_for + 1 if stalled else 0
        waits = now.counters and not now.counters_taken
        self.seen(
            {
                "input idle": now.ready and not offered and now.in_flight > 0,
                "output stalled": stalled,
                "stall and idle at once": stalled and not offered,
                "packet taken during a stall": stalled and taken,
                "stall longer than latency": self._stalled_for > self.latency,
                "input stalled": offered and not taken and stalled,
                "drained and refilled": now.in_flight > 0 and self._drained,
                "pipeline full": full,
                "word waits behind a swap": now.taken.get("s_table") is False,
                "reading during a stall": counting and stalled,
                "reading takes a packet's place": (
                    now.taken.get("s_count", False)
                    and now.in_flight >= self.latency - 1
                    and offered
                    and not taken
                    and not stalled
                ),
                "reading waits for the last": counting and now.reading,
                "packet taken while a reading waits": counting and now.reading and taken,
                "counters wait": waits,
                "answer leaves while counters wait": waits and now.answer and now.answer_taken,
                "edges hold a packet": offered and now.held > 0 and not stalled,
                "edges pass during a stall": offered and now.held > 0 and stalled,
                "time leaps over windows": offered and now.held > 3,
                "packet offered at a load": offered and now.loading,
                "edges of several clocks at once": now.edges > 1,
                "edges at full rate": taken and now.edges > 0 and now.apart == 3,
            }
        )
        self._worked |= now.in_flight > 0
        self._drained = self._worked and not now.in_flight

    def reset(self, **during: bool) -> None:
        """Count a reset, by what was going on."""
        names = {
            "in_flight": "reset in mid-traffic",
            "stall": "reset during a stall",
            "counters": "reset with a reading inside",
            "sweep": "reset during the sweep",
            "write": "reset while tables are written",
            "offered": "packet offered in reset",
        }
        for name, happened in during.items():
            if happened:
                self.hit(names[name])
