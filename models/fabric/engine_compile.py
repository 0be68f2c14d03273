"""One compiled engine for each scheme, made of the functions of several files and kept on disk.

Numba's cache looks at the file of a function alone. The engine is made of many, so it is kept in a
folder named after the code of all of them: whoever changes one of these files gets a new engine.
It is the code as it was imported: a file that changes under a running process changes nothing.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba

from models.common import jit, mix
from models.fabric import (
    engine_choice,
    engine_host,
    engine_loop,
    engine_queues,
    engine_state,
    engine_switch,
    engine_triggers,
    engine_words,
)
from models.fabric.kernel import Kernel
from models.fabric.schemes.base import module_of

PARTS = (
    engine_words,
    engine_queues,
    engine_choice,
    engine_switch,
    engine_triggers,
    engine_host,
    engine_loop,
)
AT_SWITCHES = ("pick", "retag", "passes", "descend")
AT_HOSTS = ("tag_data", "tag_ack", "acknowledged")
SHOWN = 16
"""Hexadecimal digits of a folder's name."""


def kernel_of(scheme: str) -> Kernel | None:
    """The kernel of a scheme named as users write it, or None if it has none."""
    return getattr(module_of(scheme), "KERNEL", None)


@cache
def engine_for(
    first: Kernel, second: Kernel | None, wide: bool, watched: bool, arriving: bool
) -> Callable[[int, int], None]:
    """Return `engine_loop.advance` for one scheme, or a mix of two, compiled when first called."""
    kernels = [first] if second is None else [first, second]
    constants = {
        "WIDE": wide,
        "WATCHED": watched,
        "ARRIVING": arriving,
        "MIXED": second is not None,
        "MARKED": first.marked,
        "ECHOED": first.acknowledged is not None,
        "TAGGED": any(kernel.tag_ack is not None for kernel in kernels),
        "RETAGGED": any(kernel.retag is not None for kernel in kernels),
        "HEARD": any(kernel.passes is not None for kernel in kernels),
        "MEASURED": next((n for n, kernel in enumerate(kernels, 1) if kernel.descend), 0),
        "PUBLISHED": any(kernel.published for kernel in kernels),
    }
    picks = [f"{kernel.pick.__module__}.{kernel.pick.__qualname__}" for kernel in kernels]
    folder = folder_of(modules_of(kernels), picks, sorted(constants.items()))
    shared: dict[str, Any] = {}
    for part in PARTS:
        shared.update(vars(part))
    shared.update(constants)
    inlined = {function for part in PARTS for function in getattr(part, "INLINED", ())}
    made: dict[FunctionType, Any] = {}
    for part in PARTS:
        for function in part.FUNCTIONS:
            made[function] = _compiled(function, shared, function in inlined, folder.name)
            shared[function.__name__] = made[function]
    for place, kernel in zip(("first", "second"), kernels, strict=False):
        _add_kernel(shared, made, kernel, place, folder.name)
    return _kept(_clone(engine_loop.advance, shared, folder.name), folder)


def _add_kernel(
    shared: dict[str, Any], made: dict[FunctionType, Any], kernel: Kernel, place: str, engine: str
) -> None:
    """Put a scheme's functions where the engine calls them; `made` has the engine's own."""
    spaces: dict[str, dict[str, Any]] = {}

    def compiled(function: Callable[..., Any]) -> Any:
        """Compile with the names of its file, where the engine's functions are compiled ones."""
        module = function.__module__
        if module not in spaces:
            names = vars(sys.modules[module])
            spaces[module] = {
                name: made.get(value, value) if isinstance(value, FunctionType) else value
                for name, value in names.items()
            }
        return _compiled(function, spaces[module], True, engine)

    for name in AT_SWITCHES:
        function = getattr(kernel, name) or getattr(engine_switch, f"{name}_first")
        shared[f"{name}_{place}"] = compiled(function)
    for name in AT_HOSTS:
        if getattr(kernel, name) is not None:
            shared[name] = compiled(getattr(kernel, name))
    helpers = {function.__name__: compiled(function) for function in kernel.helpers}
    for names in spaces.values():
        names.update(helpers)


def _clone(function: Callable[..., Any], names: dict[str, Any], engine: str) -> Any:
    """The same function, with other global names.

    The engine is part of its own name: Numba counts functions anew in each process, so that two
    engines from the disk would have functions of one symbol, and the first loaded would serve both.
    """
    assert isinstance(function, FunctionType)
    clone = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    clone.__module__ = function.__module__
    clone.__qualname__ = f"{function.__name__}_{engine}"
    return clone


def _compiled(
    function: Callable[..., Any], names: dict[str, Any], inlined: bool, engine: str
) -> Any:
    clone = _clone(function, names, engine)
    return numba.njit(error_model="numpy", nogil=True, forceinline=inlined)(clone)


def modules_of(kernels: Iterable[Kernel]) -> list[ModuleType]:
    """Every module that goes into an engine."""
    names = {module.__name__ for module in (engine_state, mix, *PARTS)} | {__name__}
    for kernel in kernels:
        functions = [kernel.pick, *kernel.helpers]
        functions += filter(None, [getattr(kernel, name) for name in AT_SWITCHES + AT_HOSTS])
        names |= {function.__module__ for function in functions}
    return [sys.modules[name] for name in sorted(names)]


def folder_of(modules: Iterable[ModuleType], *what: object) -> Path:
    """Where an engine of these modules is kept; `what` tells it from others of the same modules."""
    digest = hashlib.sha256()
    for module in modules:
        for name, value in sorted(vars(module).items()):
            if name.startswith("__"):
                continue
            if isinstance(value, FunctionType):
                value = _code(value.__code__)
            elif isinstance(value, type):
                value = getattr(value, "_fields", None)
            elif not _is_plain(value):
                continue
            digest.update(repr((name, value)).encode())
    digest.update(repr(what).encode())
    root = numba.config.CACHE_DIR or jit.KEPT  # type: ignore[attr-defined]
    return Path(root) / "fabric" / digest.hexdigest()[:SHOWN]


def _is_plain(value: object) -> bool:
    """Whether a value is numbers and text alone."""
    if isinstance(value, tuple):
        return all(_is_plain(one) for one in value)
    return isinstance(value, int | float | str)


def _code(code: CodeType) -> tuple[object, ...]:
    """What a function does, without where it stands."""
    constants = [_code(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_varnames


def _kept(function: Callable[..., Any], folder: Path) -> Any:
    """Compile a function and keep it in a folder."""
    config: Any = numba.config  # type: ignore[attr-defined]
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return numba.njit("void(int64, int64)", cache=True, error_model="numpy", nogil=True)(
            function
        )
    finally:
        config.CACHE_DIR = before
