# SPDX-License-Identifier: Apache-2.0
"""What a source file must look like from outside: its first lines, its words, its docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import layers
import tree

SPDX = "SPDX-License-Identifier: Apache-2.0"

# Written in pieces, so that this file does not find itself.
_FORBIDDEN = (
    (re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b"), "a note to oneself"),
    (re.compile(r"(?<![\w.])/" + "work/"), "a path of one machine"),
    (re.compile(r"\bissues?\s+#?\d+\b", re.IGNORECASE), "the number of a ticket; say what it was about"),
)
_SENTENCE = re.compile(r"\w+\W+\w+\W+\w+")


def first_lines(root: Path) -> list[str]:
    """Every source begins with the licence, then a sentence that says what a reader finds there."""
    complaints = []
    for path in tree.files(root):
        if not tree.is_source(path):
            continue
        lines = tree.text_of(path).splitlines()[:3]
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        where = path.relative_to(root)
        if not lines or not re.fullmatch(r"(//|#|/\*) " + re.escape(SPDX) + r"( \*/)?", lines[0]):
            complaints.append(f'{where}:1: the first line is not "{SPDX}" in a comment')
        elif not _speaks_for_itself(path) and (len(lines) < 2 or not _is_sentence(lines[1])):
            complaints.append(f"{where}:2: no comment that says in a sentence what a reader finds here")
    return complaints


def _speaks_for_itself(path: Path) -> bool:
    """A short CMakeLists.txt only names what is built; a sentence would say it again."""
    return path.name == "CMakeLists.txt" and tree.text_of(path).count("\n") <= 20


def _is_sentence(line: str) -> bool:
    return line.startswith(("// ", "# ", "/* ", '"""', 'r"""')) and _SENTENCE.search(line) is not None


def words(root: Path) -> list[str]:
    """Nothing that belongs to a person's desk: notes to oneself, paths of one machine, ticket numbers."""
    complaints = []
    for path in tree.files(root):
        if not (tree.is_source(path) or path.suffix in (".md", ".toml", ".json", ".txt", ".yml", ".html", ".j2")):
            continue
        for number, line in enumerate(tree.text_of(path).splitlines(), start=1):
            for pattern, what in _FORBIDDEN:
                match = pattern.search(line)
                if match:
                    complaints.append(f"{path.relative_to(root)}:{number}: {match[0].strip()}: {what}")
    return complaints


def docstrings(root: Path) -> list[str]:
    """Every module of the analysis package, and every public function and class in it, says what it is."""
    complaints = []
    for path in sorted(layers.analysis_package(root).rglob("*.py")):
        module = ast.parse(tree.text_of(path))
        where = path.relative_to(root)
        if module.body and not ast.get_docstring(module):
            complaints.append(f"{where}:1: the module has no docstring")
        for node in module.body:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if not node.name.startswith("_") and not ast.get_docstring(node):
                complaints.append(f"{where}:{node.lineno}: {node.name} is public and has no docstring")
    return complaints
