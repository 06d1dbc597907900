# SPDX-License-Identifier: Apache-2.0
"""Who may include or import whom: the layers of the engine, the transports, the modules of the analysis."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import tree

_BENCHMARKS = "BENCHMARKS"
# A tuple in it: packages of which none knows another, as those of the benchmarks, which a table of the package names.
ANALYSIS_ORDER = (
    "error",
    "units",
    "settings",
    "text_file",
    "program",
    "hdf5_process",
    "model",
    "readers",
    "stats",
    "scan",
    "export",
    "benchmarks",
    "diagnosis",
    "draw",
    "text",
    "report",
    _BENCHMARKS,
    ("accept", "cost", "history", "view", "compat"),
    "cli",
)

# Not a transport but what several are made of.
_SHARED_BY_TRANSPORTS = "tagged"

_LAYERS = re.compile(r"foreach\(layer\s+([^)]*)\)")
_LIBRARY_INCLUDE = re.compile(r"^\s*#\s*include\s+<(\w+)/")
_SOURCE_OF_LIBRARY = {"CLI": "command/option_parser.cpp", "nlohmann": "core/json.cpp"}
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layers(root: Path) -> list[str]:
    """A folder of engine/ includes only itself and those above it in the list of engine/CMakeLists.txt."""
    order = _order_of_layers(root)
    complaints = []
    for path in tree.below(root, "engine"):
        if not tree.is_cpp(path):
            continue
        place = path.relative_to(root / "engine")
        if layer_of(place, order) not in order:
            complaints.append(f"{path.relative_to(root)}:1: {place.parts[0]} is no layer in engine/CMakeLists.txt")
            continue
        text = tree.text_of(path)
        for match in _INCLUDE.finditer(text):
            why = _why_not(place, Path(match[1]), order)
            if why:
                line = text.count("\n", 0, match.start(1)) + 1
                complaints.append(f"{path.relative_to(root)}:{line}: includes {match[1]}: {why}")
    return complaints


def libraries(root: Path) -> list[str]:
    """Heavy headers of libraries are behind one source of ours each."""
    complaints = []
    for path in tree.below(root, "engine"):
        place = path.relative_to(root / "engine").as_posix()
        for number, line in enumerate(tree.text_of(path).splitlines(), 1) if tree.is_cpp(path) else ():
            match = _LIBRARY_INCLUDE.match(line)
            source = _SOURCE_OF_LIBRARY.get(match[1], place) if match else place
            if source != place:
                complaints.append(f"{path.relative_to(root)}:{number}: only {source} includes headers of this library")
    return complaints


def layer_of(place: Path, order: list[str]) -> str:
    """The layer of a file seen from engine/: its folder in the list (NAME or NAME/PART), else its first folder."""
    inner = "/".join(place.parts[:2])
    return inner if inner in order else place.parts[0]


def _order_of_layers(root: Path) -> list[str]:
    match = _LAYERS.search(tree.text_of(root / "engine" / "CMakeLists.txt"))
    if not match:
        raise ValueError("engine/CMakeLists.txt has no list of layers: foreach(layer ...)")
    return match[1].split()


def _why_not(place: Path, included: Path, order: list[str]) -> str:
    """Why the file at `place` must not include the other; both seen from engine/. Empty: it may."""
    own, other = layer_of(place, order), layer_of(included, order)
    if other not in order or len(included.parts) < 2:
        return "includes are written from engine/, folder first"
    if order.index(other) > order.index(own):
        return f"{other} stands above {own}: the lower layer must not know it"
    is_in_module = other == "transport" and len(included.parts) > 2 and included.parts[:2] != place.parts[:2]
    if is_in_module and (own != "transport" or included.parts[1] != _SHARED_BY_TRANSPORTS):
        return "a transport is a module: only its own folder knows what is in it"
    return ""


def analysis_layers(root: Path) -> list[str]:
    """A module of the analysis package imports only those that come before it in the way of the data."""
    complaints = []
    package = analysis_package(root)
    place_of = {}
    for place, names in enumerate(ANALYSIS_ORDER):
        among = _benchmarks(package) if names == _BENCHMARKS else (names,) if isinstance(names, str) else names
        place_of |= dict.fromkeys(among, place)
    for path in sorted(package.rglob("*.py")):
        own = _module_name(path.relative_to(package))
        if own not in place_of:
            if own != "__init__":
                complaints.append(f"{path.relative_to(root)}:1: {own} is no layer of the analysis")
            continue
        for line, other in _imported_modules(path, package):
            where = f"{path.relative_to(root)}:{line}: {own} imports {other}"
            if place_of.get(other, -1) > place_of[own]:
                complaints.append(f"{where}, which comes after it")
            elif other != own and place_of.get(other) == place_of[own]:
                complaints.append(f"{where}, which it must not know")
    return complaints


def _benchmarks(package: Path) -> list[str]:
    """The keys of the table in benchmarks.py."""
    table = package / "benchmarks.py"
    for node in ast.parse(tree.text_of(table)).body if table.is_file() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _BENCHMARKS:
            return list(ast.literal_eval(node.value))
    return []


def analysis_package(root: Path) -> Path:
    """The folder of the package, whether or not there is a src/ around it."""
    for package in (root / "analysis" / "src" / "leadline", root / "analysis" / "leadline"):
        if package.is_dir():
            return package
    raise tree.MissingError("there is no analysis package in analysis/")


def _module_name(place: Path) -> str:
    return place.parts[0].removesuffix(".py")


def _imported_modules(path: Path, package: Path) -> list[tuple[int, str]]:
    """Line and first-level module of every import from within the package."""
    found = []
    folder = path.parent.relative_to(package.parent).parts
    for node in ast.walk(ast.parse(tree.text_of(path))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(folder[: len(folder) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        parts = [name.split(".") for name in names]
        found += [(node.lineno, part[1]) for part in parts if part[0] == package.name and len(part) > 1]
    return found
