"""What a port wants of a packet's tag: whether to update it, and whose value to take."""

from __future__ import annotations

from dataclasses import dataclass

from models.csig.agent import AgentTable
from models.csig.config import CsigConfig
from models.csig.port import Port
from models.csig.signals import BY_NUMBER
from models.csig.tag import Tag


@dataclass(frozen=True)
class Choice:
    """What is to happen to a tag."""

    update: bool = False
    by_agent: bool = False
    written: int | None = None
    """The agent's value."""
    stripped: bool = False
    unknown: bool = False
    stale: bool = False


def look_up(
    config: CsigConfig, port: Port | None, agents: AgentTable, tag: Tag | None, time_ns: int
) -> Choice:
    """Return what a port wants of a tag; without a record (None) or a tag, nothing."""
    if port is None or tag is None or tag.format not in config.formats or port.action == "pass":
        return Choice()
    if port.action == "strip":
        return Choice(stripped=True)
    if tag.t not in BY_NUMBER:
        return Choice(unknown=True)
    if tag.d and not config.update_discarded:
        return Choice()
    name = BY_NUMBER[tag.t].name
    if port.origin(name) == "agent":
        entry = agents.look(port.id, tag.t, time_ns)
        if entry is None:
            return Choice(by_agent=True, stale=True)
        value = entry.compact if tag.format == "compact" else entry.wide
        return Choice(update=value is not None, by_agent=True, written=value)
    return Choice(update=name in (port.compact if tag.format == "compact" else port.wide))
