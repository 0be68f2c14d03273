"""Looks into a block: the stages and memories that it is made of, for the invariants of a proof."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import FrameType, ModuleType
from typing import Any
from unittest import mock

from amaranth.hdl import Cat, Module, Mux, Signal, Value, ValueLike

import rtl.common.counters
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages


class SeenStages(Stages):
    """Remembers its registers, and what goes into each, by name."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.registers: dict[str, list[Any]] = {}
        self.inputs: dict[str, list[Any]] = {}

    def register(self, value: Any, name: str = "q", enable: ValueLike = 1) -> Any:
        q = super().register(value, name, enable)
        if not isinstance(value, list):
            self.registers.setdefault(name, []).append(q)
            self.inputs.setdefault(name, []).append(value)
        return q

    def one_beat(self) -> Value:
        """What is carried through stage 0 field by field is what is `here`: both came at once."""
        (here,) = self.registers["here"]
        fields = [name for name in here.shape().members if f"passed_{name}" in self.registers]
        same = Cat(here[name] == self.registers[f"passed_{name}"][0] for name in fields)
        assert fields
        return ~self.valid[0] | same.all()


def seen(rewrite: type[Rewrite]) -> type[Any]:
    """Return a subclass of `rewrite` that remembers what it is connected to.

    Its instances have `stages`, `address` (of the beat in stage 0), `value`, `next`, `writes` (the
    beat in stage 0 rewrites its word when it leaves), and `sweep`, the address that is written
    while it is not running, and `init`, what is written there.
    """

    class Seen(rewrite):
        def __init__(self, m: Module, shape: Any, depth: int, init: int, name: str) -> None:
            super().__init__(m, shape, depth, init, name)
            self.init = init

        def connect(
            self, stages: SeenStages, address: Value, write: ValueLike = 1
        ) -> tuple[Any, Any]:
            self.stages = stages
            self.value, self.next = super().connect(stages, address, write)
            self.address = stages.registers[f"{self._name}_address"][-1]
            self.writes = stages.valid[0] & Value.cast(write)
            self.sweep = self._write_port.addr
            return self.value, self.next

        def here(self, address: Value) -> Value:
            """The beat in stage 0 is one of `address`."""
            return self.stages.valid[0] & (self.address == address)

        def peek(self, address: Value) -> Any:
            """Return the word that the memory has at `address` now."""
            port = self._memory.read_port(domain="comb")
            self._m.d.comb += port.addr.eq(address)
            return port.data

        def left(self, address: Value) -> Any:
            """Return what the word at `address` is once the beat in stage 0 has left."""
            word = Signal(self._shape, name=f"{self._name}_left")
            writes = self.here(address) & self.writes
            self._m.d.comb += word.eq(
                Mux(writes, Value.cast(self.next), Value.cast(self.peek(address)))
            )
            return word

    return Seen


class Watch:
    """Elaborates a component with eyes: its `stages`, and its memories (`files`) by name.

    It is elaborated once, here, and then used as it is; with `rewrite` for its memories, also for
    those that stand in the modules `parts`.
    """

    def __init__(
        self,
        component: Any,
        rewrite: type[Rewrite] = Rewrite,
        parts: Sequence[ModuleType] = (rtl.common.counters,),
    ) -> None:
        self.stages: list[SeenStages] = []
        self.files: dict[str, Any] = {}
        eyes = {
            "Stages": self._made(SeenStages, self._keep_stages),
            "Rewrite": self._made(seen(rewrite), self._keep_file),
        }
        with ExitStack() as patches:
            for home in (sys.modules[type(component).__module__], *parts):
                for name in eyes.keys() & vars(home).keys():
                    patches.enter_context(mock.patch.object(home, name, eyes[name]))
            module: Module = component.elaborate(None)
        component.elaborate = lambda platform: module

    @staticmethod
    def _made(kind: type[Any], keep: Any) -> Any:
        def make(*args: Any, **options: Any) -> Any:
            made = kind(*args, **options)
            keep(made)
            return made

        return make

    def _keep_stages(self, stages: SeenStages) -> None:
        self.stages.append(stages)

    def _keep_file(self, file: Any) -> None:
        self.files[file._name] = file


def insides(component: Any, method: str = "elaborate") -> dict[str, Any]:
    """Elaborate a component, once for all, and return what its `elaborate`, or another `method`
    called meanwhile, names, signals and all; `fsm` is its state machine."""
    found: dict[str, Any] = {}

    def look(frame: FrameType, event: str, arg: object) -> None:
        if event == "return" and frame.f_code is getattr(type(component), method).__code__:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        module: Module = component.elaborate(None)
    finally:
        sys.setprofile(before)
    component.elaborate = lambda platform: module
    return {**found, "fsm": module._generated.get("fsm")}
