"""RTL in the loop: every switch's Ofan decisions are made by the verilated `rtl.ofan.switch`.

The reference engine asks its switches one after another; here each of them is a simulated circuit
with pointers and masks of its own. What comes up at one time goes in as one batch, a lane a
downlink port, so that the circuit has to combine packets as in hardware.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.schemes import parse_scheme
from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.schemes.ofan import destination_of, switch_config, uplink_sets
from models.ofan.config import OfanConfig
from models.ofan.masks import SharedMasks
from models.ofan.switch import initial_pointer
from tb.ofan.replay import Replay

LARGEST_RADIX = 8
"""Ports of the largest switches: a tree of them has 128 hosts and 64 circuits."""


class RtlSwitch(SwitchScheme):
    """One circuit in the place of one switch. All switches of a kind and size share one compiled
    model: their pointers start at 0 and are turned to where they belong by packets."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        wanted = switch_config(switch)
        self.circuit = Replay(replace(wanted, init="zero", masks=2**wanted.uplinks))
        self._answers: deque[int] = deque()
        self._turn(wanted)
        sets = uplink_sets(switch.tree, switch.failures, switch.kind, switch.number)
        writes = SharedMasks(self.circuit.config).update(sets)
        self._serve([], [(0, write) for write in writes])

    def arrive(self, packets: list[Packet], now: int) -> None:
        """Let the circuit answer all packets of one time."""
        switch = self.switch
        batches: list[dict[int, tuple[int, int]]] = []
        last = switch.tree.half
        for packet in packets:
            if packet.port <= last:  # lanes are served in rising order within a batch
                batches.append({})
            last = packet.port
            where = destination_of(switch.tree, switch.kind, switch.number, packet.destination)
            batches[-1][packet.port] = (where, int(packet.ack))
        uplink = self._serve(batches)
        self._answers.extend(int(uplink[n, lane]) for n, b in enumerate(batches) for lane in b)

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Return what the circuit answered."""
        return self._answers.popleft()

    def _serve(
        self, batches: list[dict[int, tuple[int, int]]], writes: Iterable = ()
    ) -> np.ndarray:
        """Run batches of {lane: (destination, class)}; return uplinks int16 [batches, lanes]."""
        shape = (len(batches), self.circuit.config.lanes)
        fields = np.zeros((3, *shape), np.uint16)  # destination, class, whether there is a packet
        for number, batch in enumerate(batches):
            for lane, (destination, size_class) in batch.items():
                fields[:, number, lane] = destination, size_class, 1
        return self.circuit.run(*fields, writes=list(writes))

    def _turn(self, wanted: OfanConfig) -> None:
        """Send each pointer as many packets as it is away from where it starts in `wanted`."""
        have, width = self.circuit.config, wanted.lanes_per_pipe
        pipes: list[list[tuple[int, int]]] = [[] for _ in range(wanted.pipes)]
        for pipe, requests in enumerate(pipes):
            for d in range(wanted.destinations):
                for t in range(wanted.size_classes):
                    steps = initial_pointer(wanted, pipe, d, t) - initial_pointer(have, pipe, d, t)
                    requests += [(d, t)] * (steps % wanted.uplinks)
        lanes = [pipe[place::width] for pipe in pipes for place in range(width)]
        self._serve(
            [
                {lane: request for lane, request in enumerate(row) if request is not None}
                for row in zip_longest(*lanes)
            ]
        )


class RtlSwitches:
    """The hook `switches` of `models.fabric.reference.simulate` for one run: it makes a circuit for
    each switch of Ofan or pOfan. Use as a context manager, or `close` it."""

    def __init__(self) -> None:
        self.made: list[RtlSwitch] = []

    def __call__(self, switch: Switch) -> RtlSwitch | None:
        """Make the circuit of a switch; None leaves a switch of another scheme to its model."""
        if not has_rtl(switch.scheme):
            return None
        self.made.append(RtlSwitch(switch))
        return self.made[-1]

    def __enter__(self) -> RtlSwitches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cycles(self) -> int:
        """Clock cycles of all circuits together."""
        return sum(switch.circuit.cycles for switch in self.made)

    def close(self) -> None:
        """Free all circuits; `made` is empty afterwards."""
        for switch in self.made:
            switch.circuit.close()
        self.made.clear()


def has_rtl(scheme: str) -> bool:
    """Whether a scheme as users write it is Ofan or pOfan."""
    return parse_scheme(scheme)[0] in {"ofan", "pofan"}


def rtl_switches(config: FabricConfig) -> RtlSwitches:
    """Return a hook that puts the RTL in the place of every switch of Ofan or pOfan.

        with rtl_switches(config) as hook:
            result = simulate(config, flows, switches=hook)

    The result is that of the model to the last bit, or the RTL is wrong. Links that are down are
    loaded into each circuit's masks. The first run of a radix and pipe width compiles two circuits,
    about 10 s each on an idle core; they are kept. Raises `ValueError` if no scheme of the network
    has RTL, and for more than 8 ports.
    """
    schemes = [config.scheme] + ([config.mix_scheme] if config.mix_scheme else [])
    if not any(map(has_rtl, schemes)):
        raise ValueError(f"scheme must be ofan or pofanW to run as RTL, not {config.scheme!r}")
    if config.radix > LARGEST_RADIX:
        raise ValueError(
            f"radix must be at most {LARGEST_RADIX} to run as RTL, not {config.radix!r}"
        )
    return RtlSwitches()
