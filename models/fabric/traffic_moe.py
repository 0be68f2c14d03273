"""Dispatch of a mixture-of-experts layer as a skewed all-to-all-v (section 6.6), synthetic.

The paper records one layer of Qwen3-235B; its matrix is not public. This one is made: it has the
shape of the paper's and its stated skews, not its entries.
"""

from __future__ import annotations

import numpy as np

from models.common.check import integer, real
from models.fabric.config import FabricConfig
from models.fabric.flows import MAX_PACKETS, Flows, flows_between
from models.fabric.network import tree_of
from models.fabric.traffic import SERVER, arrays

MEAN_BYTES = 492_000_000
"""What a GPU sends over the fat tree on average."""
SKEW, EPLB_SKEW = 1.48, 1.13
"""Received by the busiest GPU over the mean, as routed and with replicated experts."""
_UNIT = 1 << 16
_MOST = 1 << 26  # popularity that drowns the even part


def moe(
    config: FabricConfig,
    seed: int,
    *,
    eplb: bool = False,
    skew: float | None = None,
    mean_bytes: int = MEAN_BYTES,
    scale: float = 1.0,
) -> Flows:
    """Every GPU sends to its same-rank peer in every other server of 8 GPUs.

    A server's 8 GPUs are 8 neighbouring hosts; what a peer forwards inside its server crosses no
    link here. Bytes from GPU g to its peer in server t are in proportion to

        (2**16 + a·u(t))·(2**16 + v(g, t)/4),   u = ⌊x²/2**16⌋, x and v drawn from 0 to 2**16 - 1

    u is how popular the experts of server t are, v how tokens differ from GPU to GPU; a is the
    least integer with which the busiest GPU receives `skew` times the mean (default 1.48, with
    `eplb` 1.13: replicated experts even popularity out). GPUs send `mean_bytes`·`scale` on
    average, in whole packets. Popularity x draws from stream 0, v from stream 1. All in integers,
    so equal on every machine.

    Raises `ValueError` if the tree has no two whole servers, or the skew cannot be reached.
    """
    hosts = tree_of(config).hosts
    if hosts % SERVER or hosts < 2 * SERVER:
        raise ValueError(
            f"radix must make a tree of two or more whole servers of {SERVER} hosts, "
            f"not {config.radix!r}"
        )
    default = EPLB_SKEW if eplb else SKEW
    wanted = default if skew is None else real("skew", skew, 1, SERVER * hosts)
    integer("mean_bytes", mean_bytes, 1, 2**50)
    real("scale", scale, 1e-9, 1e6)
    servers = hosts // SERVER
    draws = arrays(seed, hosts * servers)
    x = (next(draws)[:servers] >> np.uint64(48)).astype(np.int64)
    popular = x * x >> 16
    differs = (next(draws) >> np.uint64(50)).astype(np.int64).reshape(hosts, servers) + _UNIT
    own = np.arange(servers)[None, :] == (np.arange(hosts) // SERVER)[:, None]
    differs[own] = 0

    def weights(a: int) -> np.ndarray:
        return (_UNIT + (a * popular >> 8)) * differs

    def reached(a: int) -> float:
        received = _received(weights(a), servers)
        return int(received.max()) * hosts / int(received.sum())

    low, high = -1, _MOST
    if reached(high) < wanted:
        raise ValueError(f"skew must be at most {reached(high):.3f} with these draws, not {wanted}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= wanted else (middle, high)
    share = weights(high)
    payload = config.payload_bytes
    total = int(mean_bytes * scale) * hosts
    if total // payload > MAX_PACKETS:
        raise ValueError(f"scale must keep to {MAX_PACKETS} packets in all, not {scale!r}")
    source, server = np.nonzero(~own)
    destination = server * SERVER + source % SERVER
    # bytes = share·total / Σ share: in Python's integers, the product passes 64 bits
    whole = int(share.sum())
    sizes = [-(-int(s) * total // (whole * payload)) for s in share[source, server]]
    packets = np.maximum(1, np.array(sizes, np.int64))
    # Round-robin takes the servers up in a circle, beginning behind the GPU's own.
    turn = (server - source // SERVER) % servers
    order = np.lexsort((turn, source))
    return flows_between(hosts, source[order], destination[order], packets[order])


def _received(share: np.ndarray, servers: int) -> np.ndarray:
    """What each GPU receives: rank r of server t from rank r of all others; int64 [hosts]."""
    by_rank = share.reshape(servers, SERVER, servers).sum(0)  # [rank, server]
    return by_rank.T.ravel()
