"""One Verilog module for all instances that are alike.

Amaranth writes a module of its own for every instance, so 32 lanes give 32 copies of the same text
and names with running numbers. `share_modules` keeps one of each kind: the text shrinks, a reader
and a synthesis tool meet every block once, and a simulator can share its code.
"""

from __future__ import annotations

import re

_MODULE = re.compile(r"^module (\S+) ?\((.*?)^endmodule\n", re.DOTALL | re.MULTILINE)
_INSTANCE = re.compile(r"^  (\S+) +(\S+ +\(\n)((?:    \..*\n)+)", re.MULTILINE)
_GENERATED_PORT = re.compile(r"\\port\$\d+\$\d+ ")
_GENERATED_NET = re.compile(r"\\\$[a-z]\S* ")


def share_modules(verilog: str) -> str:
    """Return the same design with one module for all that are the same but for their names.

    Names that Yosys and Amaranth number through the whole design (nets that Yosys makes, ports that
    stand for a part of a wider signal) are numbered within their module first. A shared module
    has the path of its first instance, less that instance's number.
    """
    bodies = {name: f"({body}" for name, body in _MODULE.findall(verilog)}
    ports: dict[str, dict[str, str]] = {}
    for name, body in bodies.items():
        found = dict.fromkeys(_GENERATED_PORT.findall(body.partition(";")[0]))
        ports[name] = {old: f"part_{number} " for number, old in enumerate(found)}
        body = _GENERATED_PORT.sub(lambda m, new=ports[name]: new.get(m[0], m[0]), body)
        nets = {
            old: rf"\$net_{number} "
            for number, old in enumerate(dict.fromkeys(_GENERATED_NET.findall(body)))
        }
        bodies[name] = _GENERATED_NET.sub(lambda m, new=nets: new[m[0]], body)

    def instance(match: re.Match[str], kinds: dict[str, str]) -> str:
        kind, head, connections = match.groups()
        for old, new in ports.get(kind, {}).items():
            connections = connections.replace(f".{old}", f".{new}")
        return f"  {kinds.get(kind, kind)}  {head}{connections}"

    bodies = {
        name: _INSTANCE.sub(lambda match: instance(match, {}), body)
        for name, body in bodies.items()
    }
    kinds = {name: name for name in bodies}
    while True:
        first: dict[str, str] = {}
        alike = {name: first.setdefault(body, name) for name, body in bodies.items()}
        shared = {name: kind for name, kind in alike.items() if name != kind}
        if not shared:
            break
        kinds = {name: shared.get(kind, kind) for name, kind in kinds.items()}
        bodies = {
            name: _INSTANCE.sub(lambda m: f"  {shared.get(m[1], m[1])}  {m[2]}{m[3]}", body)
            for name, body in bodies.items()
            if name not in shared
        }
    titles = _titles(bodies, set(kinds.values()) & _repeated(kinds))
    return "\n".join(
        f"module {titles[name]} "
        + _INSTANCE.sub(lambda m: f"  {titles.get(m[1], m[1])}  {m[2]}{m[3]}", body)
        + "endmodule\n"
        for name, body in bodies.items()
    )


def _repeated(kinds: dict[str, str]) -> set[str]:
    uses = list(kinds.values())
    return {kind for kind in kinds if uses.count(kind) > 1}


def _titles(bodies: dict[str, str], shared: set[str]) -> dict[str, str]:
    """Return a module name for each kind: shared ones lose the number of their first instance."""
    titles: dict[str, str] = {}
    for name in bodies:
        title = re.sub(r"\$\d+$", "", name)
        title = re.sub(r"_?\d+$", "", title) if name in shared else title
        titles[name] = title if title not in titles.values() else name
    return titles
