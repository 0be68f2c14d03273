"""The pointers of a banked engine: a bank fetches and advances one pointer a cycle, for all packets
of a key that it serves in that cycle."""

from __future__ import annotations

from models.ofan.config import OfanConfig
from models.ofan.order import valid_positions
from models.ofan.place import key_of
from models.ofan.update import PointerFile


class BankFile:
    """The banks of one pipe."""

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        self.config = config
        self.file = PointerFile(config, pipe)

    def visit(self, bank: int, row: int, count: int, reached: int) -> int:
        """Serve `count` packets of the pointer that lives in `bank` at `row`, whose destination the
        uplinks in the set `reached` lead to; return their base: how many valid positions lie below
        the pointer."""
        c = self.config
        assert c.order is not None
        key = key_of(bank, row, c.engine.banks)
        return self.file.update(key, count, valid_positions(c.order, c.uplinks, key, reached))
