"""Connection matrices as htsim's generators write them, from the file to the end of the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.fabric import engine
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.traffic_spec import Workload
from tb.fabric.test_engine import agree

CONFIG = FabricConfig(radix=4, scheme="ofan", jitter_ns=0)
HOSTS = 16


def flows_of(folder: Path, lines: list[str], triggers: list[str]) -> Flows:
    """Write a matrix and read it."""
    head = [f"Nodes {HOSTS}", f"Connections {len(lines)}", f"Triggers {len(triggers)}"]
    file = folder / "m.cm"
    file.write_text("\n".join(head + lines + triggers) + "\n")
    return Workload(traffic=str(file)).flows(CONFIG)


def arrived(flows: Flows) -> tuple[np.ndarray, np.ndarray]:
    """When each flow began, and when its last data packet had arrived."""
    result = engine.simulate(CONFIG, flows, trace=True)
    assert result.trace is not None
    last = np.zeros(len(flows), np.int64)
    rows = result.trace[~result.trace["ack"]]
    there = rows["start"] + CONFIG.data_bytes + CONFIG.latency
    np.maximum.at(last, rows["flow"], there)
    return result.begin, last


def test_a_ring_all_reduce(tmp_path: Path) -> None:
    """What a host sends on begins when it has arrived, 2·(n - 1) steps around the ring."""
    ring = np.random.default_rng(1).permutation(HOSTS).tolist()
    steps, lines, number = 2 * HOSTS - 2, [], 0
    for first in range(HOSTS):
        for step in range(steps):
            source, to = ring[(first + step) % HOSTS], ring[(first + step + 1) % HOSTS]
            begins = f"trigger {number}" if step else "start 0"
            number += step < steps - 1
            fires = f" recv_done_trigger {number}" if step < steps - 1 else ""
            lines.append(f"{source}->{to} id {len(lines) + 1} {begins} size 9000{fires}")
    flows = flows_of(tmp_path, lines, [f"trigger id {n + 1} oneshot" for n in range(number)])
    agree(CONFIG, flows)
    begin, last = (times.reshape(HOSTS, steps) for times in arrived(flows))
    # The host may be busy with one packet, and with the other flow's if steps run into each other.
    waited = begin[:, 1:] - last[:, :-1]
    assert waited.min() >= 0 and waited.max() < 8 * (CONFIG.data_time + CONFIG.ack_time)


def test_a_ring_with_a_barrier_after_each_step(tmp_path: Path) -> None:
    lines = []
    for step in range(4):
        for host in range(HOSTS):
            begins = f"trigger {step}" if step else "start 0"
            fires = f" recv_done_trigger {step + 1}" if step < 3 else ""
            lines.append(f"{host}->{(host + 5) % HOSTS} {begins} size 20000{fires}")
    flows = flows_of(tmp_path, lines, [f"trigger id {n} barrier count 16" for n in (1, 2, 3)])
    agree(CONFIG, flows)
    begin, last = (times.reshape(4, HOSTS) for times in arrived(flows))
    known = CONFIG.latency + CONFIG.data_time
    for step in range(3):
        assert begin[step + 1].min() >= last[step].max()
        assert (begin[step + 1] >= last[step].max() + known).sum() >= HOSTS - 1


def test_an_all_to_all_in_waves(tmp_path: Path) -> None:
    """htsim's gen_serialn_alltoall: four flows a wave, the next ones by multishot triggers, fewer
    in the last wave than activate its trigger."""
    parallel, lines, number = 4, [], 0
    for source in range(HOSTS):
        for place in range(HOSTS - 1):
            wave, last = place // parallel, (HOSTS - 2) // parallel
            begins = f"trigger {number + wave}" if wave else "start 0"
            fires = f" send_done_trigger {number + wave + 1}" if wave < last else ""
            to = (source + place + 1) % HOSTS
            lines.append(
                f"{source}->{to} id {len(lines) + 1} {begins} size 9000{fires} prio {wave}"
            )
        number += last
    flows = flows_of(tmp_path, lines, [f"trigger id {n + 1} multishot" for n in range(number)])
    agree(CONFIG, flows)
    result = engine.simulate(CONFIG, flows, trace=True)
    rows = result.trace
    assert rows is not None and (result.finish > 0).all()
    sent = rows[(rows["link"] < HOSTS) & ~rows["ack"]]
    for host in range(HOSTS):
        own = np.sort(sent[sent["link"] == host], order="start")
        running: set[int] = set()
        for flow, packet in zip(own["flow"].tolist(), own["packet"].tolist(), strict=True):
            running.add(flow)
            assert len(running) <= parallel
            if packet == flows.packets[flow] - 1:
                running.remove(flow)
