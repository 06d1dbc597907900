# SPDX-License-Identifier: Apache-2.0
"""Names that would clash where the builds join sources of a layer, or of a test program, into one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import tree

# As leadline_layer() and leadline_test() in cmake/leadline_layer.cmake.
_PROGRAM = re.compile(r"^ *leadline_test\(", re.MULTILINE)
_MODULE = re.compile(r"^ *leadline_(?:transport|storage_module|bootstrap)\(", re.MULTILINE)
_LAYER = re.compile(r"^leadline_layer\(", re.MULTILINE)
_SOURCES = re.compile(r"^leadline_layer\(\w+ SOURCES ([^)]*?) USES ", re.MULTILINE)
_OUTER = re.compile(r"^namespace ([\w:]+) \{")
_TYPE = re.compile(r"^(?:struct|class|enum|enum class|union) (\w+)[^;]*$")
_CONSTANT = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr|const) [^=({]*?(\w+)(?:\[\w*\])*(?: =|\{|$)")
_NEXT_CONSTANT = re.compile(r", (\w+) = ")
_FUNCTION = re.compile(r"^(?!return\b|using\b|template\b|static_assert\b)[\w:<>,&*\s\[\]]*[\s&*](\w+)\((.*)")
_USING = re.compile(r"^using (?:(\w+) = .*|[\w:]*::(\w+));$")
_NAME_OF_PARAMETER = re.compile(r"\s*\b\w+(\s*=.*)?$")


def joined_names(root: Path) -> list[str]:
    """Sources that are joined have no two names alike in their unnamed namespaces, but for one `using` twice."""
    complaints = []
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for path, group in _joined_sources(root):
        where = path.relative_to(root)
        for line, scope, name, text in _hidden_names(tree.text_of(path)):
            other, other_text = known.setdefault((group, f"{scope} {name}"), (f"{where}:{line}", text))
            if other.split(":")[0] != str(where) and not (_USING.match(text) and text == other_text):
                complaints.append(f"{where}:{line}: {name} is in {other}, too, and both may be joined into one source")
    return complaints


def _joined_sources(root: Path) -> Iterator[tuple[Path, str]]:
    """Each source that is joined with others, and with which."""
    for path in tree.below(root, "engine"):
        if path.suffix == ".cpp" and (group := _layer_or_module(root, path)):
            yield path, group
    if (root / "tests").is_dir():
        for path in tree.below(root, "tests"):
            if path.suffix == ".cpp" and _has_one(_PROGRAM, path.parent):
                yield path, str(path.parent)


def _has_one(target: re.Pattern[str], folder: Path) -> bool:
    """Whether all sources of the folder are of one target; where it has several, only the compiler knows."""
    description = folder / "CMakeLists.txt"
    return description.exists() and len(target.findall(tree.text_of(description))) == 1


def _layer_or_module(root: Path, path: Path) -> str:
    """The layer; or the folder of a module; empty where a folder has several modules."""
    place = path.relative_to(root / "engine")
    layer = root / "engine" / place.parts[0]
    inner = layer / place.parts[1] / "CMakeLists.txt"
    if inner.exists() and _LAYER.search(tree.text_of(inner)):
        return "/".join(place.parts[:2])
    description = layer / "CMakeLists.txt"
    named = _SOURCES.search(tree.text_of(description)) if description.exists() else None
    if named is None or any(path in layer.glob(pattern) for pattern in named[1].split()):
        return layer.name
    return str(path.parent) if _has_one(_MODULE, path.parent) else ""


def _hidden_names(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, enclosing namespace, name (of functions with the types of their parameters) and the line's text."""
    scope, is_hidden = "", False
    lines = text.splitlines()
    for index, line in enumerate(lines):
        outer = _OUTER.match(line)
        if outer:
            scope = outer[1]
        if line in ("namespace {", "}  // namespace"):
            is_hidden = line == "namespace {"
        elif is_hidden and line and not line[0].isspace():
            for name in _names_of(line, lines[index + 1 :]):
                yield index + 1, scope, name, line


def _names_of(line: str, following: list[str]) -> list[str]:
    if match := _TYPE.match(line):
        return [match[1]]
    if match := _USING.match(line):
        return [match[1] or match[2]]
    if match := _CONSTANT.match(line):
        return [match[1], *_NEXT_CONSTANT.findall(line)]
    if match := _FUNCTION.match(line):
        return [f"{match[1]}({_types_of(' '.join([match[2], *following[:4]]))})"]
    return []


def _types_of(rest: str) -> str:
    """The types in what follows an opening bracket, up to the closing one."""
    depth, types, current = 1, [], ""
    for letter in rest:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if depth == 0 or (depth == 1 and letter == ","):
            types.append(_NAME_OF_PARAMETER.sub("", current.strip()))
            current = ""
        else:
            current += letter
        if depth == 0:
            break
    return ", ".join(" ".join(one.split()) for one in types)
