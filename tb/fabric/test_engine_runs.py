"""What the fast engine does besides being right: words of both widths, memory, mixes, the cache."""

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.fabric import engine, engine_compile, engine_setup, engine_window
from models.fabric.config import MIXES, FabricConfig
from models.fabric.flows import Flows, flows_between
from models.fabric.options import SchemeOptions
from models.fabric.result import differences
from models.fabric.schemes import SCHEMES
from models.fabric.traffic import all_to_all
from tb.fabric.small import triggered
from tb.fabric.test_engine import agree, configs, traffic

HOSTS = 16


def flows_of(source, destination, packets, start=0):
    source, packets = np.array(source), np.full(len(source), packets)
    starts = np.full(len(source), start)
    return flows_between(HOSTS, source, np.array(destination), packets, start=starts)


def kernels_of(*schemes):
    """The kernels, all of which there are."""
    return [kernel for kernel in map(engine.kernel_of, schemes) if kernel is not None]


def incast(packets):
    return flows_of(range(1, HOSTS), [0] * (HOSTS - 1), packets)


@pytest.mark.parametrize("scheme", ["ofan", "conga", "reps"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_wide_words_change_nothing(scheme, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LEAST_TIME_BITS", 64)
        config = data.draw(configs(scheme))
        kinds = (0, 1) if scheme == "ofan" else (0,)
        agree(config, data.draw(traffic(config, kinds=kinds)))


def test_words_that_turn_out_too_narrow_are_widened(monkeypatch):
    config = FabricConfig(radix=4, scheme="ofan")
    flows = flows_of([0, 5], [9, 1], 3, start=2**54 - 1)
    tried = []
    run = engine._run
    monkeypatch.setattr(engine, "_time_bits", lambda setting: 0)
    monkeypatch.setattr(engine, "_run", lambda *args: tried.append(args[2].wide) or run(*args))
    agree(config, flows)
    assert tried == [False, True]


def test_times_beyond_all_words_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "_run", lambda *args: None)
    with pytest.raises(ValueError, match="start must leave all times below"):
        engine.simulate(FabricConfig(radix=4, scheme="ofan"), flows_of([0], [9], 3))


def test_chunks_grow_with_the_queues(monkeypatch):
    config = FabricConfig(radix=4, scheme="jsq")
    flows = incast(600)
    whole = engine.simulate(config, flows)
    grown = []
    grow = engine._grow
    monkeypatch.setattr(engine, "_busy_words", lambda *_: 1)
    monkeypatch.setattr(engine, "_grow", lambda *args: grown.append(1) or grow(*args))
    assert differences(engine.simulate(config, flows), whole) == []
    assert grown
    assert whole.largest.max() > 400 * config.data_time


def test_noted_queues_grow_too(monkeypatch):
    options = SchemeOptions(queue_unit="packets", queue_age_ns=1000)
    config = FabricConfig(radix=4, scheme="choice", options=options)
    whole = engine.simulate(config, incast(300))
    monkeypatch.setattr(engine, "_busy_words", lambda *_: 1)
    assert differences(engine.simulate(config, incast(300)), whole) == []


def test_a_case_that_does_not_fit_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr(engine.os, "sysconf", lambda name: 2**12)  # 16 MiB
    flows = flows_between(8192, *(np.array([value]) for value in (0, 1, 9)))
    with pytest.raises(ValueError, match=r"memory, not take about 0\.\d GB"):
        engine.simulate(FabricConfig(radix=32), flows)


def test_memory_estimate_covers_the_buffers():
    config = FabricConfig(radix=16, scheme="rsq")
    source = np.arange(1024)
    flows = flows_between(1024, source, np.roll(source, 100), np.full(1024, 64))
    setting = engine.Setting(config, flows, None, "rsq")
    kernels = kernels_of("rsq")
    layout = engine_setup.layout_of(setting, kernels, 1024, False)
    chunks = 3 * engine_setup.list_count(setting, False)
    buffers = engine_setup.buffers_of(setting, kernels, layout, False, chunks)
    fixed = sum(b.nbytes for name, b in buffers.named.items() if name not in ("word", "more"))
    assert fixed < engine.memory_bytes(config, flows) < 100e6


@pytest.mark.parametrize("radix", [2, 64, 128])
@pytest.mark.parametrize("ack_bytes", [1, 64])
def test_counts_of_a_window_have_room(radix, ack_bytes):
    """A switch's arrivals in a window are counted in 16 bits."""
    config = FabricConfig(radix=radix, link_latency_ns=10_000, ack_bytes=ack_bytes, gap_bytes=0)
    flows = flows_of([0], [1], 2**40 // 3)
    setting = engine_setup.Setting(config, flows, None, "rsq")
    assert engine_window.window_of(config, kernels_of("rsq")) > 0
    assert engine_window.arrivals_in_a_window(setting, kernels_of("rsq")) < 2**16


@pytest.mark.parametrize("mix", [mix for mix in MIXES if mix != "none"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_mixes_agree(mix, data):
    first, second = data.draw(st.permutations(("simple-rr", "conga")))
    pair = {"mix": mix, "scheme": first, "mix_scheme": second}
    config = data.draw(configs("rsq"))
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    agree(FabricConfig(**{**fields, **pair}), data.draw(traffic(config)))


def test_engines_come_from_the_disk_and_stay_apart():
    config = FabricConfig(radix=4, scheme="rsq")
    flows = incast(5)
    engine.simulate(config, flows)
    engine.simulate(FabricConfig(radix=4, scheme="simple-rr"), flows)
    engine_compile.engine_for.cache_clear()
    kernels = kernels_of("rsq", "simple-rr")
    engines = [engine_compile.engine_for(kernel, None, False, False, False) for kernel in kernels]
    assert [sum(one.stats.cache_hits.values()) for one in engines] == [1, 1]
    for scheme in ("simple-rr", "rsq"):
        agree(FabricConfig(radix=4, scheme=scheme), incast(5))


def test_an_engine_is_kept_by_the_code_of_all_its_modules():
    modules = engine_compile.modules_of(kernels_of("sglb"))
    names = {module.__name__.split(".")[-1] for module in modules}
    assert {"sglb", "estimator", "engine_words", "engine_state", "mix"} <= names
    texts = (
        "LIMIT = 1\ndef f(x): return x + LIMIT",
        "LIMIT = 2\ndef f(x): return x + LIMIT",
        "LIMIT = 1\ndef f(x): return x - LIMIT",
        "LIMIT = 1\ndef f(x): return x + 7",
        "LIMIT = 1\ndef f(x): return x + 8",
        "LIMIT = 1\ndef f(x): return (lambda: x + 8)()",
        "LIMIT = 1\ndef f(x): return (lambda: x + 9)()",
        "from typing import NamedTuple\nclass State(NamedTuple): one: int; two: int",
        "from typing import NamedTuple\nclass State(NamedTuple): two: int; one: int",
        "WORDS = 'one', 2",
        "WORDS = 'one', 3",
    )
    folders = set()
    for text in texts:
        module = ModuleType("part")
        exec(text, vars(module))
        folders.add(engine_compile.folder_of([module], "rsq"))
        folders.add(engine_compile.folder_of([module], "rsq"))
    folders.add(engine_compile.folder_of([module], "ofan"))
    assert len(folders) == len(texts) + 1


def test_every_scheme_has_a_kernel():
    names = [name if name != "pofan" else "pofan2" for name in SCHEMES]
    assert all(engine.kernel_of(name) for name in names)


def test_progress_is_told_and_may_stop_the_run(monkeypatch):
    monkeypatch.setattr(engine, "CALL", 1)
    config = FabricConfig(radix=4, scheme="rsq")
    told = []
    engine.simulate(config, incast(20), progress=told.append)
    assert told == sorted(told) and told[-1] == 20 * (HOSTS - 1) and len(told) > 5

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.simulate(config, incast(20), progress=stop)


def test_flows_that_never_begin_hang_no_engine():
    """All packets are lost; what waits for their arrival, and what waits for that, never begins."""
    config = FabricConfig(radix=4, scheme="ofan", buffer_bytes=50)
    traffic = triggered(
        config,
        [(0, 15), (15, 0), (3, 8), (2, 7)],
        3,
        [1, 1, 1],
        trigger=[-1, 0, 1, 2],
        received=[0, -1, -1, -1],
        sent=[1, 2, -1, -1],
    )
    agree(config, traffic)
    assert (engine.simulate(config, traffic, trace=True).begin < 0).tolist() == [
        *(False, True, False, True)
    ]


def test_a_barrier_of_all_hosts_is_quick():
    """One all-to-all after another: every flow of the second waits for all of the first."""
    config = FabricConfig(radix=8, scheme="ofan")
    one = all_to_all(config, 1, packets=1)
    none, step = np.full(len(one), -1, np.int32), np.zeros(len(one), np.int32)
    twice = {n: np.tile(getattr(one, n), 2) for n in ("source", "destination", "packets", "start")}
    both = Flows(
        hosts=one.hosts,
        trigger=np.concatenate([none, step]),
        sent=np.full(2 * len(one), -1, np.int32),
        received=np.concatenate([step, none]),
        needs=np.array([len(one)], np.int32),
        **twice,
    )
    result = engine.simulate(config, both)
    begin = result.begin.reshape(2, -1)
    assert begin[1].min() > begin[0].max() and (result.finish > 0).all()
    traced = engine.simulate(config, both, trace=True)  # an engine of its own
    assert differences(result, replace(traced, trace=None)) == []


def test_names_of_the_engines_functions_differ():
    """All functions of an engine see each other by name."""
    names = [function.__name__ for part in engine_compile.PARTS for function in part.FUNCTIONS]
    assert len(set(names)) == len(names)


def test_idle_time_costs_nothing():
    config = FabricConfig(radix=4, scheme="ofan", jitter_ns=0)
    flows = flows_of([0, 3], [9, 12], 4)
    flows.start[1] = 2**40
    result = engine.simulate(config, flows)
    assert result.first == 0 and result.begin[1] == 2**40
    agree(config, flows)
