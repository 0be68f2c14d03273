"""RTL in the loop: networks of verilated switches against networks of models, packet by packet."""

from __future__ import annotations

import numpy as np
import pytest

from models.fabric.config import FabricConfig
from models.fabric.reference import simulate
from models.fabric.result import differences
from models.fabric.schemes.base import Packet, Switch
from tb.fabric.rtl_switches import RtlSwitch, rtl_switches
from tb.fabric.small import permutation
from tb.ofan.replay import Replay

CASES = {
    "ofan": FabricConfig(radix=4, scheme="ofan", seed=1),
    "at-one-time": FabricConfig(radix=4, scheme="ofan", seed=2, jitter_ns=0),
    "shuffled": FabricConfig(radix=4, scheme="ofan", seed=3, jitter_ns=0, ties="shuffled"),
    "pofan1": FabricConfig(radix=4, scheme="pofan1", seed=4),
    "pofan2": FabricConfig(radix=4, scheme="pofan2", seed=5),
    "pofan2-of-three": FabricConfig(radix=6, levels=2, scheme="pofan2", seed=9),
    "failures": FabricConfig(radix=4, scheme="ofan", seed=6, link_failure=0.2),
    "two-levels": FabricConfig(radix=4, levels=2, scheme="ofan", seed=7),
    "mix": FabricConfig(radix=4, scheme="ar", mix="edges", mix_scheme="ofan", seed=8),
}


SWITCHES = {"mix": 8, "two-levels": 4, "pofan2-of-three": 6}


@pytest.mark.parametrize("name", CASES)
def test_every_packet_goes_where_the_model_sends_it(name: str) -> None:
    config = CASES[name]
    traffic = permutation(config, 40)
    model = simulate(config, traffic, trace=True)
    with rtl_switches(config) as hook:
        rtl = simulate(config, traffic, trace=True, switches=hook)
        assert len(hook.made) == SWITCHES.get(name, 16)
        assert hook.cycles > 1000
    assert differences(model, rtl) == []


@pytest.mark.parametrize("fault", ["uplink", "order"])
def test_a_wrong_choice_is_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """One answer of one switch is wrong, or the answers of one time change places."""
    config = CASES["at-one-time"]
    traffic = permutation(config, 40)
    model = simulate(config, traffic, trace=True)
    arrive, count = RtlSwitch.arrive, 0

    def broken(self: RtlSwitch, packets: list[Packet], now: int) -> None:
        nonlocal count
        arrive(self, packets, now)
        count += 1
        if fault == "uplink" and count == 500:
            self._answers[0] ^= 1
        if fault == "order" and len(set(self._answers)) > 1:
            self._answers.reverse()

    monkeypatch.setattr(RtlSwitch, "arrive", broken)
    with rtl_switches(config) as hook:
        rtl = simulate(config, traffic, trace=True, switches=hook)
    assert "trace" in differences(model, rtl)


def test_a_circuit_without_its_masks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would send packets where no path leads, and the engine refuses."""
    config = CASES["failures"]
    run = Replay.run
    monkeypatch.setattr(Replay, "run", lambda self, *fields, writes: run(self, *fields))
    with rtl_switches(config) as hook, pytest.raises(ValueError, match="^uplink of "):
        simulate(config, permutation(config, 40), switches=hook)


def test_packets_of_one_time_share_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    serve = RtlSwitch._serve

    def watched(self: RtlSwitch, batches: list, writes: tuple = ()) -> np.ndarray:
        sizes.extend(map(len, batches))
        return serve(self, batches, writes)

    config = CASES["at-one-time"]
    with rtl_switches(config) as hook:
        traffic = permutation(config, 4)
        hook_ = hook

        def after_turning(switch: Switch) -> RtlSwitch | None:
            made = hook_(switch)
            monkeypatch.setattr(RtlSwitch, "_serve", watched)
            return made

        simulate(config, traffic, switches=after_turning)
    assert max(sizes) == 2


def test_eight_ports() -> None:
    config = FabricConfig(radix=8, scheme="pofan2", seed=1)
    traffic = permutation(config, 3)
    with rtl_switches(config) as hook:
        rtl = simulate(config, traffic, trace=True, switches=hook)
    assert differences(simulate(config, traffic, trace=True), rtl) == []


def test_what_has_no_rtl() -> None:
    with pytest.raises(ValueError, match="^scheme must be ofan or pofanW to run as RTL, not 'ar'$"):
        rtl_switches(FabricConfig(radix=4, scheme="ar"))
    with pytest.raises(ValueError, match="^radix must be at most 8 to run as RTL, not 12$"):
        rtl_switches(FabricConfig(radix=12, scheme="ofan"))
