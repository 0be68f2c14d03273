"""The rounds of a sorted batch at its banks: which bank serves which key when.

Packets are sorted by (bank, row), so those of one key are neighbours, and so are the keys of one
bank. A bank serves one key a cycle: in round r every bank serves the r-th of the keys that it is
asked for. A batch of n packets takes as many rounds as there are keys in its fullest bank, at most
n, and stays at the banks until all are done.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.place import key_of, place


def rounds(keys: Sequence[int | None], banks: int) -> list[dict[int, int]]:
    """Return what the banks serve, round by round, as {bank: key}.

    `keys` has the key of each packet of a batch in any order, None where a lane is idle.
    """
    served: list[dict[int, int]] = []
    for bank, row in sorted({place(key, banks) for key in keys if key is not None}):
        number = sum(bank in earlier for earlier in served)
        if number == len(served):
            served.append({})
        served[number][bank] = key_of(bank, row, banks)
    return served
