"""The rules of the house, as tests: who imports whom, one name in four places, short files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 320

MAY_IMPORT = {
    # package: what it may import of the house besides itself
    "models": set(),
    "rtl": {"models"},
    "synth": {"models", "rtl"},
    "tb": {"models", "rtl", "synth", "netweave"},
    "cli": {"models", "rtl", "synth", "tb"},
}

SOURCES = sorted(
    path
    for pattern in ("netweave.py", *(f"{package}/**/*.py" for package in MAY_IMPORT))
    for path in ROOT.glob(pattern)
)
BLOCKS = sorted(path for path in ROOT.glob("rtl/*/*.py") if path.name != "__init__.py")
TEXTS = sorted(
    path
    for pattern in ("*", ".ci/*", "docs/**/*", *(f"{package}/**/*" for package in MAY_IMPORT))
    for path in ROOT.glob(pattern)
    if path.is_file()
    and path.suffix in {"", ".cpp", ".json", ".md", ".py", ".sh", ".svg", ".toml", ".txt", ".vlt"}
    and "_build" not in path.parts
)


def name(path: Path) -> str:
    """Path from the root, for the test's name."""
    return path.relative_to(ROOT).as_posix()


def imported(source: str) -> set[str]:
    """First part of every module that the Python text `source` imports, in functions too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import hides who imports whom"
            found.add(str(node.module).partition(".")[0])
    return found


def machine_paths(text: str) -> list[str]:
    """Absolute paths of one person's machine, and package registries' hosts, that `text` names."""
    folders = "|".join(("work", "root", "tmp", "home", "opt"))
    hosts = "|".join(("pypi", "pythonhosted", "npmjs"))
    return re.findall(rf"(?<![\w.~}})/])/(?:{folders})/[\w.]|(?:{hosts})\.org", text)


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_arrows_run_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0].removesuffix(".py")
    house = {*MAY_IMPORT, "netweave"}
    may = house if package == "netweave" else MAY_IMPORT[package] | {package}
    assert imported(path.read_text()) & house <= may


def test_imports_are_seen_wherever_they_stand() -> None:
    source = "import os.path\ndef f():\n    from tb.ofan import x\n    import rtl.ofan as r\n"
    assert imported(source) == {"os", "tb", "rtl"}


@pytest.mark.parametrize("path", BLOCKS, ids=name)
def test_one_name_four_places(path: Path) -> None:
    package, block = path.parent.name, path.stem
    others = (
        f"models/{package}/{block}.py",
        f"tb/{package}/test_{block}.py",
        f"docs/{package}/{block}.md",
    )
    assert [other for other in others if not (ROOT / other).exists()] == []


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_no_machine_paths(path: Path) -> None:
    assert machine_paths(path.read_text()) == []


def test_machine_paths_are_seen() -> None:
    inside = "/".join(("", "root", "x.py"))
    assert machine_paths(f"read {inside} first") == ["/".join(("", "root", "x"))]
    assert machine_paths("docs/work/page.md is fine") == []
