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
_FUNCTION = re.compile(r"^  function \[\S+ (\\\$\S+ )", re.MULTILINE)
_GENERATED = re.compile(f"{_GENERATED_PORT.pattern}|{_GENERATED_NET.pattern}")


def share_modules(verilog: str) -> str:
    """Return the same design with one module for all that are the same but for their names.

    Names that Yosys and Amaranth number through the whole design (nets that Yosys makes, ports that
    stand for a part of a wider signal) are numbered within their module first. A shared module has
    the path of its first instance, less that instance's number.
    """
    bodies = {name: f"({body}" for name, body in _MODULE.findall(verilog)}
    ports = {
        name: _numbered("\\part_", _GENERATED_PORT.findall(body.partition(";")[0]))
        for name, body in bodies.items()
    }
    for name, body in bodies.items():
        nets = ports[name] | _numbered("\\$net_", _GENERATED_NET.findall(body))
        # Icarus takes a function whose name begins with $ for a system function, escaped or not.
        nets |= _numbered("\\choice_", _FUNCTION.findall(body))
        body = _GENERATED.sub(lambda found, new=nets: new.get(found[0], found[0]), body)
        bodies[name] = _instances(body, {}, ports)
    shared: set[str] = set()
    while True:
        first: dict[str, str] = {}
        kinds = {name: first.setdefault(body, name) for name, body in bodies.items()}
        if len(first) == len(bodies):
            break
        shared |= {kind for name, kind in kinds.items() if name != kind}
        bodies = {name: _instances(body, kinds, {}) for body, name in first.items()}
    titles = _titles(list(bodies), shared)
    return "\n".join(
        f"module {titles[name]} {_instances(body, titles, {})}endmodule\n"
        for name, body in bodies.items()
    )


def _numbered(prefix: str, names: list[str]) -> dict[str, str]:
    """Return a new name for each of `names`, numbered in the order in which they first appear."""
    return {name: f"{prefix}{number} " for number, name in enumerate(dict.fromkeys(names))}


def _instances(body: str, kinds: dict[str, str], ports: dict[str, dict[str, str]]) -> str:
    """Return a module's text with its instances' kinds, and the ports of those, renamed."""

    def renamed(instance: re.Match[str]) -> str:
        kind, head, connections = instance.groups()
        for old, new in ports.get(kind, {}).items():
            connections = connections.replace(f".{old}", f".{new}")
        return f"  {kinds.get(kind, kind)}  {head}{connections}"

    return _INSTANCE.sub(renamed, body)


def _titles(names: list[str], shared: set[str]) -> dict[str, str]:
    """Return a title for each module: shared ones lose the number of their first instance."""
    titles: dict[str, str] = {}
    for name in names:
        title = re.sub(r"\$\d+$", "", name)
        title = re.sub(r"_?\d+$", "", title) if name in shared else title
        titles[name] = title if title not in titles.values() else name
    return titles
