"""What an operator may change while the hardware runs, in the codes that its ports take.

The widths follow from the configuration the hardware was made with; any value that fits may be put
in later, but for two: N_sample must be at most 2**bits - 2, since the guard starts one above it,
and a window shorter than the largest power of two in `window_ns` lets serial numbers come again
after 2**serial_bits windows. `settings` says what the configuration itself asks for.
"""

from __future__ import annotations

import math

from models.common.check import bits_for
from models.symphony.config import SymphonyConfig
from models.symphony.red import RED_SCALE_BITS, red_scale

EXACT_K_BITS = 8
"""Bits of the code of 1/k in `exact` arithmetic: it is at most 1/256 of itself off."""


def k_exponent(config: SymphonyConfig) -> int:
    """Return the binary places of 1/k's code in `exact` arithmetic; may be negative."""
    places = EXACT_K_BITS - 1 - math.floor(math.log2(1 / config.k))
    return places if round(2**places / config.k) < 1 << EXACT_K_BITS else places - 1


def k_code(config: SymphonyConfig) -> int:
    """Return k as the coin takes it.

    `log`: log2 k above -`random_exponent_bits`, in units of 2**-fraction_bits, rounded. `exact`:
    1/k, with `k_exponent` binary places, rounded.
    """
    if config.arithmetic == "log":
        above = math.log2(config.k) + config.random_exponent_bits
        return round(above * (1 << config.fraction_bits))
    return round(2 ** k_exponent(config) / config.k)


def setting_bits(config: SymphonyConfig) -> dict[str, int]:
    """Return the widths of all settings by name, in the order of their ports."""
    c = config
    k_bits = bits_for(c.random_exponent_bits + 1) + c.fraction_bits
    bits = {"window": 32}
    if c.psn_window_ns is not None:
        bits["psn_window"] = 32
    return bits | {
        "tau": bits_for(c.tau_scale + 1),
        "n_sample": c.sample_bits,
        "n_warmup": c.psn_bits,
        "alpha_max": c.alpha_bits,
        "k": k_bits if c.arithmetic == "log" else EXACT_K_BITS,
        "kmin": c.queue_bits,
        "kmax": c.queue_bits,
        "red_scale": RED_SCALE_BITS,
        "red_shift": bits_for(c.queue_bits + 4),
    }


def settings(config: SymphonyConfig) -> dict[str, int]:
    """Return what a configuration puts on the ports of the settings, by name."""
    c = config
    codes = {
        "window": c.window_ns,
        "psn_window": c.psn_window_ns,
        "tau": c.tau_code,
        "n_sample": c.n_sample,
        "n_warmup": c.n_warmup,
        "alpha_max": c.ceiling,
        "k": k_code(c),
        "kmin": c.kmin,
        "kmax": c.kmax,
        "red_scale": red_scale(c)[0],
        "red_shift": red_scale(c)[1],
    }
    return {name: codes[name] or 0 for name in setting_bits(c)}
