"""How long the fast engine's windows are, and how much happens in one."""

from __future__ import annotations

from models.fabric.config import FabricConfig
from models.fabric.kernel import Kernel, Setting

MOST_IN_A_WINDOW = 64
"""Data packets and as many ACKs of one link that a window is cut to hold, so that they stay in
cache."""
MOST_AT_A_SWITCH = 2**16 - 1
"""Arrivals at a switch that a window is cut to hold, so that 16 bits count them."""


def window_of(config: FabricConfig, kernels: list[Kernel]) -> int:
    """W: nothing that is sent within it arrives within it, byte times."""
    shortest = min(config.data_bytes, config.ack_bytes) if config.acks else config.data_bytes
    window = config.latency + shortest
    if any(kernel.published for kernel in kernels):
        window = min(window, 2 * config.latency)
    window = min(window, MOST_IN_A_WINDOW * (config.data_time + config.ack_time))
    return min(window, (MOST_AT_A_SWITCH // config.radix - 2) * _shortest(config))


def _shortest(config: FabricConfig) -> int:
    """T of the shortest packets."""
    return min(config.data_time, config.ack_time) if config.acks else config.data_time


def room_of_step(config: FabricConfig, window: int) -> int:
    """By how much a queue's end can move on in one step, and an arrival be later than that, byte
    times: all ports of a switch can bring packets for one link."""
    longest = max(config.data_time, config.ack_time)
    return (config.radix + 8) * (window + 2 * longest) + 2 * config.latency


def arrivals_in_a_window(setting: Setting, kernels: list[Kernel]) -> int:
    """Most packets that can arrive at one switch in one window."""
    config = setting.config
    most = setting.tree.radix * (window_of(config, kernels) // _shortest(config) + 2)
    return int(min(most, setting.flows.packets.sum() + 1))
