"""Copies of a module with one text in it changed: a fault to be seen, or a part left out."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tb.formal.bench import Bench
from tb.formal.prove import Disproved, prove


def changed(module: ModuleType, old: str, new: str) -> ModuleType:
    """Return a copy of `module` in whose source `old`, which stands there once, is `new`."""
    source = Path(str(module.__file__)).read_text()
    assert source.count(old) == 1, f"{module.__name__} has {source.count(old)} times {old!r}"
    copy = ModuleType(f"{module.__name__}_changed_{abs(hash((old, new))):x}")
    copy.__file__ = module.__file__
    sys.modules[copy.__name__] = copy
    exec(compile(source.replace(old, new), str(module.__file__), "exec"), copy.__dict__)
    return copy


def disprove(bench: Bench, name: str, *, depth: int) -> None:
    """Demand a counterexample to `bench` within `depth` cycles; `name` as in `prove`, any words."""
    folder = re.sub("[^a-z0-9]+", "-", name)
    with pytest.raises(Disproved, match=r"a counterexample is(.|\n)*FAILS"):
        prove(bench, folder, depth=depth, induction=False)
