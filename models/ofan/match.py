"""Which of the packets that may be served their banks serve in one cycle (queued-banked).

A bank serves one key a cycle, for packets of one wave, the older one first. Of this wave it takes
the packet of the lowest lane and all that follow with the same key, up to the first with another.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.place import place


def match(waves: Sequence[dict[int, int]], banks: int) -> list[dict[int, int]]:
    """Return the packets that are served, wave by wave.

    `waves` has the packets ({lane: key}) of the older and of the younger wave, either of which may
    be missing; `banks` is the number of banks.
    """
    busy: dict[int, tuple[int, int | None]] = {}
    """Of each bank: the wave it serves, and the key; no key once another one was met."""
    served: list[dict[int, int]] = []
    for number, wave in enumerate(waves):
        served.append({})
        for lane, key in sorted(wave.items()):
            bank, _ = place(key, banks)
            at, key_served = busy.setdefault(bank, (number, key))
            if at == number and key_served == key:
                served[number][lane] = key
            elif at == number:
                busy[bank] = (number, None)
    return served
