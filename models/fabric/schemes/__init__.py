"""The load balancers of the paper's Table 1, one file each."""

from __future__ import annotations

import re

from models.common.check import hint

SCHEMES: dict[str, tuple[str, str]] = {
    # name: (module in this package, where it decides)
    "simple-rr": ("simple_rr", "switch"),
    "jsq": ("jsq", "switch"),
    "conga": ("conga", "switch"),
    "choice": ("choice", "switch"),
    "drill": ("drill", "switch"),
    "dlb": ("dlb", "switch"),
    "sglb": ("sglb", "switch"),
    "rps": ("rps", "host"),
    "rsq": ("rsq", "switch"),
    "reps": ("reps", "host"),
    "ar": ("ar", "switch"),
    "drb": ("drb", "host"),
    "ethereal": ("ethereal", "host"),
    "pofan": ("ofan", "switch"),
    "ofan": ("ofan", "switch"),
}
"""Table 1 in its order. `pofan` is written with its pipe width W: pofan1, pofan4, …"""


def parse_scheme(name: object, field: str = "scheme") -> tuple[str, int | None]:
    """Split a scheme as users write it into (name in `SCHEMES`, W of pofan or None).

    Raises `TypeError` if it is no string, else `ValueError` that lists the schemes and suggests the
    nearest; both name `field` and the value.
    """
    if not isinstance(name, str):
        raise TypeError(f"{field} must be a name, not {name!r}")
    match = re.fullmatch(r"pofan([1-9][0-9]?)", name)
    if match:
        return "pofan", int(match[1])
    if name in SCHEMES and name != "pofan":
        return name, None
    names = [known if known != "pofan" else "pofanW" for known in SCHEMES]
    near = hint(name.casefold(), [*names, "pofan4"]).replace("pofanW", "pofan4")
    if printed := re.fullmatch(r"([1-9][0-9]?)ofan", name.casefold()):
        near = f"; did you mean pofan{printed[1]}?"  # as the paper's figures have it
    raise ValueError(f"{field} must be one of {', '.join(names)}, not {name!r}{near}")
