"""Replace: the more severe of two codes, hardware against `models.csig.signals`."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.beat import coded
from models.csig.config import CsigConfig
from models.csig.signals import SIGNALS, least_severe, more_severe
from rtl.csig.replace import Replace
from tb.csig.blocks import Beat, beats, configs, held


def named(dut: Replace) -> Any:
    """Return the block under a module that calls port n by 3·n + 5 after a reset."""
    made: Any = Module()
    made.submodules.dut = dut
    count = Signal(range(dut.config.ports + 1))
    with made.If(count != dut.config.ports):
        made.d.sync += count.eq(count + 1)
        made.d.comb += dut.locator_write.eq(1)
    made.d.comb += [dut.locator_port.eq(count), dut.locator.eq(3 * count + 5)]
    made.latency, made.o = dut.latency, dut.o
    return made


@settings(max_examples=20, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_hardware(config: CsigConfig, seed: int) -> None:
    def judge(beat: Beat) -> dict[str, int]:
        severe = more_severe(SIGNALS[beat["signal"]], beat["code"], beat["value"])
        return {
            "replaced": severe and beat["update"],
            "value": beat["code"],
            "locator": 3 * beat["port"] + 5,
        }

    first, second = (beats(config, coded(config), 60, seed + n) for n in (0, 1))
    for beat in (*first, *second):
        if beat["port"] % 2:
            beat["value"] = beat["code"]  # ties
    dut = Replace(config)
    held(named(dut), lambda: judge, first, second, seed=seed, wait=config.ports + 3, ports=dut)


def test_ties_keep_the_earlier_hop_and_a_sender_starts_least_severe() -> None:
    for signal in SIGNALS:
        worst = least_severe(signal, 5)
        assert not more_severe(signal, 7, 7)
        assert not any(more_severe(signal, worst, code) for code in range(32))
        assert all(more_severe(signal, code, worst) for code in range(32) if code != worst)
