# SPDX-License-Identifier: Apache-2.0
"""Words that the glossary (docs/glossary.md) has replaced by the field's terms, and where one of them still stands."""

from __future__ import annotations

import re
from pathlib import Path

import tree

FOLDERS = ("engine", "apps", "analysis", "docs", "examples", "benchmarks", "packaging", "tests", "fuzz")
SUFFIXES = (".md", ".toml", ".json", ".txt", ".html", ".j2", ".js", ".css")
GLOSSARY = "docs/glossary.md"
# This file and its test name the old words.
EXCEPT_FILES = ("tests/house/glossary.py", "tests/house/test_checks.py")

# An old word in a text, as a regular expression without regard to case: the term that stands for it.
TEXT = {
    r"make-believe|made[ -]believe": "simulated (of a library in a test: fake)",
    r"drawn rounds?": "randomly sampled rounds",
    r"rounds? (?:is|are|was|were) drawn": "randomly sampled rounds",
    r"companions?": "concurrent pairs (or a program's plain name)",
    r"in company": "under load",
    r"mend(?:s|ed|ing)?": "repair",
    r"whereabouts": "current step",
    r"farewells?": "shutdown message",
    r"lonely": "alone, isolated",
    r"bears? it": "withstands the load",
    r"(?:its|their) like": "comparable hosts, pairs, links ...",
    r"what (?:the )?hosts hang on": "the physical network",
    r"hang(?:s|ing)? on(?: a| the)? (?:switch|host|node|leaf|port)(?:es|s)?": "is connected to",
    r"doorkeepers?": "handshake acceptor",
    r"surroundings": "run environment",
    r"pretend(?:s|ed|ing)?": "simulated, dry run",
    r"rehears(?:e|es|ed|al)": "probe in a child process",
    r"beside others": "concurrent, under load",
    r"players?": "participants",
    r"part ways": "continue separately",
    r"well or not": "at fault or not",
    r"believes? (?:that )?(?:it|they) (?:is|are)": "is configured as",
}
# An old name in code, with regard to case: the name that stands for it.
NAMES = {
    r"\w*beside_others\w*": "concurrent",
    r"\w*in_company\w*": "under_load",
    r"Surroundings|surroundings_": "RunEnvironment",
    r"Presence": "RankLayout",
    r"\w*[Pp]retended\w*": "DryRunRanks, dry_run",
    r"Doorkeeper|doorkeeper_?": "HandshakeAcceptor",
    r"\w*_farewells?_?": "shutdown",
    r"Whereabouts|\w*whereabouts\w*": "CurrentStep",
    r"(?<!\.)together(?=\()": "run_collectively()",
    r"Guests|Lobby|lobby_": "JoinHandler, ConnectionQueue",
    r"Vitals|Pulse": "StallDetector, ProgressCounter",
    r"Lone(?:Pair|Cluster|lyRank)": "IsolatedPair, SingleRankCluster",
    r"SecondLook|AgainMeter": "RetestEvaluation, RetestMeter",
    r"believe_hosts": "use_simulated_hosts()",
    r"do_apart": "run_in_subprocess()",
    r"survives(?=\()": "probe_in_child()",
    r"unfit(?=\(\))|unfit_\w+": "validity_warnings()",
    r"\w*(?i:ma[dk]e_?believe)\w*": "simulated, fake",
    r"lonely_\w+|\w+_lonely\b": "isolated",
    r"(?<=[&*] )its(?= =|;|,|\))|(?<=auto )its(?= =)|its(?=\.\w|->|\[)": "the thing's name",
}

_TEXT = rf"(?<!-)(?i:{'|'.join(TEXT)})(?![\w-])"
_NAMES = rf"(?:{'|'.join(NAMES)})(?!\w)"
_ANY = re.compile(rf"\b(?:{_TEXT}|{_NAMES})")


def glossary(root: Path) -> list[str]:
    """No old word where the glossary has a term for it, in names, comments, messages and documents; no stale name."""
    complaints = _stale_names(root)
    for path in tree.below(root, "README.md", *FOLDERS):
        where = path.relative_to(root).as_posix()
        if (tree.is_source(path) or path.suffix in SUFFIXES) and where not in EXCEPT_FILES:
            old_words = _old_words(tree.text_of(path))
            complaints += [f"{where}:{number}: {old}: the glossary says {new}" for number, old, new in old_words]
    return complaints


def _old_words(text: str) -> list[tuple[int, str, str]]:
    """For each old word its line, itself, and its term."""
    return [(text.count("\n", 0, match.start()) + 1, match[0], _term_for(match)) for match in _ANY.finditer(text)]


def _term_for(match: re.Match[str]) -> str:
    old = match[0]
    by_text = (new for pattern, new in TEXT.items() if re.fullmatch(pattern, old, re.IGNORECASE))
    by_name = (new for pattern, new in NAMES.items() if re.compile(pattern).match(match.string, match.start()))
    return next(by_text, None) or next(by_name)


def _stale_names(root: Path) -> list[str]:
    """Names in the last column of the glossary that nothing in the code has any more."""
    path = root / GLOSSARY
    if not path.is_file():
        return []
    code = {file: tree.text_of(file) for file in tree.below(root, "engine", "analysis") if tree.is_source(file)}
    complaints = []
    for number, line in enumerate(tree.text_of(path).splitlines(), start=1):
        names = re.findall(r"`([^`]+)`", line.split("|")[3]) if line.startswith("| **") else []
        for name in names:
            if not _exists(root, name, code):
                complaints.append(f"{GLOSSARY}:{number}: {name}: no such name in the code")
    return complaints


def _exists(root: Path, name: str, code: dict[Path, str]) -> bool:
    """A file or folder; or every word of the name stands in one source."""
    if (root / name).exists():
        return True
    words = [re.compile(rf"\b{word}\b") for word in re.findall(r"\w[\w-]*", name)]
    return any(all(word.search(text) for word in words) for text in code.values())
