#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each house check is shown a good and a bad example in a temporary tree: a check that cannot fail is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import documents
import glossary
import joined
import layers
import readability
import sources
import tools
import tree
import versions

CHECKOUT = Path(__file__).resolve().parents[2]
HEAD = "// SPDX-License-Identifier: Apache-2.0\n// A file that is made for a test.\n"
PYTHON_HEAD = '# SPDX-License-Identifier: Apache-2.0\n"""A module made for a test."""\n'


class CheckTest(unittest.TestCase):
    """A temporary checkout, written file by file."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        tree.first_line.cache_clear()

    def assert_one(self, complaints: list[str], *parts: str) -> None:
        self.assertEqual(len(complaints), 1, complaints)
        for part in parts:
            self.assertIn(part, complaints[0])


class JoinedNames(CheckTest):
    SOURCE = (
        HEAD
        + "namespace leadline::stats {{\nnamespace {{\n\n{}\n\n}}  // namespace\n}}  // namespace leadline::stats\n"
    )

    def complaints(self, one: str, other: str, folder: str = "engine/stats", names: str = "one other") -> list[str]:
        first, second = names.split()
        self.write(f"{folder}/{first}.cpp", self.SOURCE.format(one))
        self.write(f"{folder}/{second}.cpp", self.SOURCE.format(other))
        return joined.joined_names(self.root)

    def test_a_constant_a_type_and_a_function_clash(self) -> None:
        for one in ("constexpr int most = 3;", "struct Found {", "double median_of(std::vector<double>& values) {"):
            with self.subTest(one):
                self.assert_one(self.complaints(one, one), "engine/stats/other.cpp:6", "engine/stats/one.cpp:6")

    def test_the_second_of_two_constants_clashes(self) -> None:
        self.assert_one(self.complaints("constexpr int a = 1, b = 2;", "constexpr double b = 2;"), " b is in")

    def test_an_overload_does_not_clash(self) -> None:
        self.assertEqual(self.complaints("double middle(int a) {", "double middle(const Row& a) {"), [])

    def test_one_using_twice_does_not_clash(self) -> None:
        self.assertEqual(self.complaints("using kernel::Role;", "using kernel::Role;"), [])
        self.assert_one(self.complaints("using bench::link::Plan;", "using bench::io::Plan;"), " Plan is in")
        self.assert_one(self.complaints("using Rows = std::set<int>;", "using Rows = std::map<int>;"), " Rows is in")

    def test_what_is_not_joined_does_not_clash(self) -> None:
        both = ("constexpr int most = 3;", "constexpr int most = 4;")
        (self.root / "engine").mkdir()
        self.write("engine/cluster/CMakeLists.txt", "leadline_layer(cluster SOURCES *.cpp USES core)\n")
        self.write("engine/cluster/edge.cpp", self.SOURCE.format(both[0]))
        modules = "engine/cluster/bootstraps"
        self.write(f"{modules}/CMakeLists.txt", "leadline_bootstrap(one)\nleadline_bootstrap(other)\n")
        self.assertEqual(self.complaints(*both, modules), [])
        self.write(f"{modules}/CMakeLists.txt", "leadline_bootstrap(one)\n")
        self.assert_one(self.complaints(*both, modules), f"{modules}/other.cpp:6")

    def test_sources_of_one_test_program_clash(self) -> None:
        both = ("constexpr int most = 3;", "constexpr int most = 4;")
        (self.root / "engine").mkdir()
        self.write("tests/core/CMakeLists.txt", "leadline_test(core SOURCES one.cpp other.cpp)\n")
        self.assert_one(self.complaints(*both, "tests/core"), "tests/core/other.cpp:6", "tests/core/one.cpp:6")
        self.write(
            "tests/core/CMakeLists.txt", "leadline_test(a SOURCES one.cpp)\nleadline_test(b SOURCES other.cpp)\n"
        )
        self.assertEqual(self.complaints(*both, "tests/core"), [])


class Layers(CheckTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("engine/CMakeLists.txt", "foreach(layer core kernel transport bench)\n")

    def test_upwards_and_within_is_fine(self) -> None:
        self.write("engine/transport/tcp/tcp.cpp", '#include "transport/transport.hpp"\n#include "core/error.hpp"\n')
        self.write("engine/transport/tcp/more.cpp", '#include "transport/tcp/tcp.hpp"\n#include <vector>\n')
        self.assertEqual(layers.layers(self.root), [])

    def test_lower_layer_knows_higher(self) -> None:
        self.write("engine/core/error.cpp", '#include "core/error.hpp"\n#include "bench/link.hpp"\n')
        self.assert_one(layers.layers(self.root), "engine/core/error.cpp:2", "bench stands above core")

    def test_a_library_is_behind_one_source(self) -> None:
        self.write("engine/command/option_parser.cpp", "#include <CLI/CLI.hpp>\n#include <vector>\n")
        self.assertEqual(layers.libraries(self.root), [])
        self.write("engine/cli/link_options.cpp", "#include <CLI/CLI.hpp>\n")
        self.assert_one(layers.libraries(self.root), "engine/cli/link_options.cpp:1", "only command/option_parser.cpp")

    def test_a_folder_of_a_layer_may_be_a_layer_above_it(self) -> None:
        self.write("engine/CMakeLists.txt", "foreach(layer core bench output bench/io bench/link)\n")
        self.write("engine/bench/link/run.cpp", '#include "bench/plan.hpp"\n#include "output/table.hpp"\n')
        self.assertEqual(layers.layers(self.root), [])
        self.write("engine/bench/io/run.cpp", '#include "bench/link/run.hpp"\n')
        self.assert_one(layers.layers(self.root), "engine/bench/io/run.cpp:1", "bench/link stands above bench/io")
        self.write("engine/bench/io/run.cpp", "")
        self.write("engine/bench/plan.cpp", '#include "bench/io/run.hpp"\n')
        self.assert_one(layers.layers(self.root), "engine/bench/plan.cpp:1", "bench/io stands above bench")

    def test_transports_share_one_folder(self) -> None:
        self.write("engine/transport/tcp/tcp.cpp", '#include "transport/tagged/port.hpp"\n')
        self.assertEqual(layers.layers(self.root), [])
        self.write("engine/bench/link.cpp", '#include "transport/tagged/port.hpp"\n')
        self.assert_one(layers.layers(self.root), "a transport is a module")

    def test_transport_knows_another(self) -> None:
        self.write("engine/transport/tcp/tcp.cpp", '#include "transport/mpi/mpi.hpp"\n')
        self.assert_one(layers.layers(self.root), "a transport is a module")

    def test_bench_knows_a_module(self) -> None:
        self.write("engine/bench/link.cpp", '#include "transport/mpi/mpi.hpp"\n')
        self.assert_one(layers.layers(self.root), "a transport is a module")

    def test_include_is_not_written_from_engine(self) -> None:
        self.write("engine/core/error.cpp", '#include "error.hpp"\n')
        self.assert_one(layers.layers(self.root), "written from engine/")

    def test_folder_that_is_no_layer(self) -> None:
        self.write("engine/util/strings.cpp", "\n")
        self.assert_one(layers.layers(self.root), "util is no layer")

    def test_analysis(self) -> None:
        self.write("analysis/leadline/stats.py", "from leadline.load import read\nfrom . import model\n")
        self.assertEqual(layers.analysis_layers(self.root), [])
        for line in ("import leadline.report", "from . import report", "from .report import page"):
            self.write("analysis/leadline/stats.py", line + "\n")
            self.assert_one(layers.analysis_layers(self.root), "stats.py:1", "report, which comes after it")

    def test_a_benchmark_of_the_analysis_knows_another(self) -> None:
        self.write("analysis/leadline/benchmarks.py", 'BENCHMARKS = {"io": "leadline.io", "link": "leadline.link"}\n')
        self.write("analysis/leadline/io/page.py", "from leadline.io import text\nfrom leadline.report import frame\n")
        self.assertEqual(layers.analysis_layers(self.root), [])
        self.write("analysis/leadline/io/page.py", "from leadline.link import text\n")
        self.assert_one(layers.analysis_layers(self.root), "page.py:1", "io imports link, which it must not know")

    def test_module_of_the_analysis_that_is_no_layer(self) -> None:
        self.write("analysis/leadline/words/page.py", "\n")
        self.assert_one(layers.analysis_layers(self.root), "page.py:1", "words is no layer")


class Sources(CheckTest):
    def test_first_lines(self) -> None:
        self.write("engine/core/good.cpp", HEAD)
        self.write("tool", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n# What this tool does.\n")
        self.write("analysis/leadline/model.py", PYTHON_HEAD)
        self.write("engine/core/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\nleadline_layer(core)\n")
        self.assertEqual(sources.first_lines(self.root), [])

    def test_no_licence(self) -> None:
        self.write("engine/core/bad.cpp", "#include <vector>\n")
        self.assert_one(sources.first_lines(self.root), "bad.cpp:1", "SPDX")

    def test_no_sentence(self) -> None:
        self.write("engine/core/bad.cpp", HEAD.splitlines()[0] + "\n#include <vector>\n")
        self.assert_one(sources.first_lines(self.root), "bad.cpp:2", "sentence")

    def test_words(self) -> None:
        self.write("engine/core/good.cpp", HEAD + "// mktemp /tmp/name.XXXXXX; network/root/ is fine\n")
        self.assertEqual(sources.words(self.root), [])
        for word in ("// TO" + "DO: later", '"/' + 'work/main"', "see issue" + " #12"):
            self.write("engine/core/bad.cpp", HEAD + word + "\n")
            self.assert_one(sources.words(self.root), "bad.cpp:3")

    def test_generated_files_are_left_alone(self) -> None:
        for folder in ("build/release", ".venv/lib", "tests/house/__pycache__", "analysis/leadline.egg-info"):
            self.write(folder + "/made.cpp", "// TO" + "DO\n")
        self.assertEqual(sources.words(self.root) + sources.first_lines(self.root), [])

    def test_docstrings(self) -> None:
        self.write("analysis/leadline/good.py", PYTHON_HEAD + 'def page():\n    """A page."""\ndef _own(): ...\n')
        self.assertEqual(sources.docstrings(self.root), [])
        self.write("analysis/leadline/bad.py", PYTHON_HEAD + "def page(): ...\n")
        self.assert_one(sources.docstrings(self.root), "bad.py:3", "page is public")

    def test_no_analysis_package(self) -> None:
        with self.assertRaises(tree.MissingError):
            sources.docstrings(self.root)


class Glossary(CheckTest):
    GOOD = (
        "// Pairs under load; run_collectively(step), values.together(), the key `only_under_load`.",
        "// The hosts of a simulated fabric, and probe_in_child(call).",
    )
    OLD = (
        "make-believe", "Drawn rounds", "its companions", "slow in company", "a mended link", "its whereabouts",
        "say_farewell()", "ratio_beside_others", "only_in_company", "Doorkeeper door;", "together([&] {",
        "survives(call)", "the rehearsed call", "do_apart()", "Surroundings", "Presence", "PretendedRanks",
        "unfit()", "lonely", "nobody bears it", "slower than its like", "what the hosts hang on",
    )  # fmt: skip

    def test_terms(self) -> None:
        for number, line in enumerate(self.GOOD):
            self.write(f"engine/core/good_{number}.cpp", HEAD + line + "\n")
        self.write("docs/history.md", "Its own words.\n")
        self.assertEqual(glossary.glossary(self.root), [])

    def test_each_old_word(self) -> None:
        for old in self.OLD:
            for file, head in (("engine/core/bad.cpp", HEAD), ("docs/bad.md", "\n\n"), ("tests/bad.py", "#\n#\n")):
                with self.subTest(old, file=file):
                    self.write(file, head + old + "\n")
                    self.assert_one(glossary.glossary(self.root), f"{file}:3", "the glossary says")
                    (self.root / file).unlink()

    def test_a_name_that_is_no_more(self) -> None:
        self.write("engine/core/good.cpp", HEAD + "struct Load { bool concurrent; };\n")
        self.write("docs/glossary.md", "| **load** | Something. | `Load::concurrent`, `engine/core/` |\n")
        self.assertEqual(glossary.glossary(self.root), [])
        self.write("docs/glossary.md", "| **load** | Something. | `Burden` |\n")
        self.assert_one(glossary.glossary(self.root), "docs/glossary.md:1", "Burden", "no such name")

    def test_the_readme_and_no_other_folder(self) -> None:
        self.write("README.md", "A lonely host.\n")
        self.write("notes/README.md", "A lonely host.\n")
        self.assert_one(glossary.glossary(self.root), "README.md:1")


class Versions(CheckTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("CMakeLists.txt", "project(leadline VERSION 1.2.3 LANGUAGES CXX)\n")
        self.write("analysis/pyproject.toml", '[project]\nversion = "1.2.3"\n')
        self.write("analysis/leadline/__init__.py", '__version__ = "1.2.3"\n')
        self.write("CHANGELOG.md", "# Changes\n\n## 1.2.3, not released yet\n\n## 1.2.2\n")
        self.write("README.md", "pip install leadline-1.2.3-py3-none-any.whl\n")
        self.write("docs/how-to/install.md", "pip install leadline-1.2.3-py3-none-any.whl\n")
        self.write("packaging/debian/changelog", "leadline (1.2.3-1) unstable; urgency=low\n")
        self.write("packaging/leadline.spec", "Name:    leadline\nVersion: 1.2.3\n")

    def test_one_version(self) -> None:
        self.assertEqual(versions.versions(self.root), [])

    def test_each_place_counts(self) -> None:
        for name in (
            "analysis/pyproject.toml", "analysis/leadline/__init__.py", "CHANGELOG.md", "README.md",
            "docs/how-to/install.md", "packaging/debian/changelog", "packaging/leadline.spec",
        ):  # fmt: skip
            text = (self.root / name).read_text()
            self.write(name, text.replace("1.2.3", "1.2.4"))
            self.assert_one(versions.versions(self.root), f"{name}:", "the version is 1.2.4, that of the build 1.2.3")
            self.write(name, "nothing\n")
            self.assert_one(versions.versions(self.root), f"{name}:1: no version")
            self.write(name, text)


class Documents(CheckTest):
    def test_good_links(self) -> None:
        self.write("docs/metrics.md", "# Metrics\n## What `p99` is\n")
        self.write("README.md", "# Top\n[a](docs/metrics.md#what-p99-is) [b](#top) [c](https://a.org) `[d](no)`\n")
        self.assertEqual(documents.links(self.root), [])

    def test_bad_links(self) -> None:
        self.write("docs/metrics.md", "# Metrics\n")
        bad_links = {"docs/gone.md": "no such file", "docs/metrics.md#p99": "no such heading", "../x": "leads out"}
        for link, why in bad_links.items():
            self.write("README.md", f"\n[a]({link})\n")
            self.assert_one(documents.links(self.root), "README.md:2", why)


class Pictures(CheckTest):
    def test_all_are_drawn_and_small(self) -> None:
        self.write("packaging/make_figures.py", 'Figure("one.png", page)\nFigure("how-to/two.png", page)\n')
        self.write("docs/one.png", "x")
        self.assert_one(documents.pictures(self.root), "there is no docs/how-to/two.png")
        self.write("docs/how-to/two.png", "x" * 150_001)
        self.assert_one(documents.pictures(self.root), "docs/how-to/two.png: 150001 bytes")
        self.write("docs/how-to/two.png", "x")
        self.assertEqual(documents.pictures(self.root), [])
        self.write("docs/old.png", "x")
        self.assert_one(documents.pictures(self.root), "docs/old.png: packaging/make_figures.py does not draw it")


class Findings(CheckTest):
    def test_the_list_has_all_and_no_other(self) -> None:
        self.write("engine/bench/a.cpp", HEAD + 'return {"not_bound", Severity::note, "x"};\nfinding.id = "stalls";\n')
        page = "## About the measurement\n\n| finding | severity | rule |\n|---|---|---|\n| `not_bound` | note | x |\n"
        self.write("docs/findings.md", page + "| `stalls` | warning | y |\n")
        self.assertEqual(documents.findings(self.root), [])
        self.write("docs/findings.md", page + "| `stalls` | warning | y |\n| `gone` | note | z |\n")
        self.assert_one(documents.findings(self.root), "gone: no such finding")
        self.write("docs/findings.md", page)
        self.assert_one(documents.findings(self.root), "stalls is not in the list")

    def test_severities_are_those_of_the_engine(self) -> None:
        self.write("engine/a.cpp", HEAD + 'f({"old", Severity::note, "x"});\nf({"old", Severity::warning, "y"});\n')
        page = "## About the measurement\n\n| finding | severity | rule |\n|---|---|---|\n"
        self.write("docs/findings.md", page + "| `old` | warning or note | x |\n")
        self.assertEqual(documents.findings(self.root), [])
        self.write("docs/findings.md", page + "| `old` | note | x |\n")
        self.assert_one(documents.findings(self.root), "old: the engine makes it as note or warning")


class Sentences(CheckTest):
    def test_what_a_sentence_is(self) -> None:
        text = """\
            # A heading

            One sentence over
            two lines. Another, of `code with blanks`, ends at 1.5 of them!
            - An item
            - Another. With two

            | a cell | a [link](to/a/page.md) |
            |---|---|

            ```
            Code has none. None.
            ```
            """
        found = list(readability.sentences(textwrap.dedent(text)))
        self.assertEqual([one.num_words for one in found], [2, 5, 8, 2, 1, 2, 2, 2])
        self.assertEqual([one.line for one in found], [1, 3, 3, 5, 6, 6, 8, 8])

    def test_a_long_one(self) -> None:
        self.write("README.md", "Short.\n\n" + "word " * readability.MOST + "end, though.\n")
        self.assert_one(readability.too_long(self.root), "README.md:3", f"{readability.MOST + 2} words")
        self.write("README.md", "word " * (readability.MOST - 1) + "end. And on.\n")
        self.assertEqual(readability.too_long(self.root), [])


class Tools(CheckTest):
    def setUp(self) -> None:
        super().setUp()
        settings = CHECKOUT / "analysis" / "pyproject.toml"
        if settings.is_file():
            self.write("analysis/pyproject.toml", settings.read_text())
        shutil.copy(CHECKOUT / ".clang-format", self.root)
        if (CHECKOUT / ".venv").is_dir():
            (self.root / ".venv").symlink_to(CHECKOUT / ".venv")

    def check(self, check_name: str, file: str, good: str, bad: str) -> None:
        check = getattr(tools, check_name)
        self.write(file, good)
        try:
            self.assertEqual(check(self.root), [])
        except tree.MissingError as missing:
            self.skipTest(str(missing))
        self.write(file, bad)
        self.assertIn(Path(file).name, "\n".join(check(self.root)))

    def test_clang_format(self) -> None:
        self.check("clang_format", "engine/core/a.cpp", HEAD + "int a = 0;\n", HEAD + "int   a=0;\n")

    def test_ruff_format(self) -> None:
        self.check("ruff_format", "analysis/leadline/a.py", PYTHON_HEAD + "\na = 1\n", PYTHON_HEAD + "a=1\n")

    def test_ruff_check(self) -> None:
        self.check("ruff_check", "analysis/leadline/a.py", PYTHON_HEAD, PYTHON_HEAD + "import os\n")

    def test_mypy(self) -> None:
        self.write("analysis/leadline/__init__.py", PYTHON_HEAD)
        self.check("mypy", "analysis/leadline/a.py", PYTHON_HEAD + "a: int = 1\n", PYTHON_HEAD + "a: int = ''\n")

    def test_spelling(self) -> None:
        self.check("spelling", "docs/a.md", "their weights\n", "th" + "ier weights\n")

    def test_shellcheck(self) -> None:
        self.check("shellcheck", "tool", "#!/bin/sh\necho\n", "#!/bin/sh\necho $1\n")


class Site(CheckTest):
    SETTINGS = "site_name: A\ndocs_dir: docs\nsite_dir: build/site/html\ntheme:\n  font: false\nnav:\n  - README.md\n"

    def setUp(self) -> None:
        super().setUp()
        if (CHECKOUT / ".venv").is_dir():
            (self.root / ".venv").symlink_to(CHECKOUT / ".venv")
        (self.root / "packaging").mkdir()
        shutil.copy(CHECKOUT / "packaging" / "build_site.py", self.root / "packaging")
        self.write("mkdocs.yml", self.SETTINGS)

    def complaints(self) -> list[str]:
        try:
            return tools.site(self.root)
        except tree.MissingError as missing:
            self.skipTest(str(missing))

    def test_a_document_may_lead_to_a_source(self) -> None:
        self.write("tool", "#!/bin/sh\necho a > b\n")
        self.write("docs/README.md", "# First\n\n[a tool](../tool)\n")
        self.assertEqual(self.complaints(), [])

    def test_a_link_that_leads_nowhere(self) -> None:
        self.write("docs/README.md", "# First\n\n[no heading](#second)\n")
        self.assert_one(self.complaints(), "README.md:3: ")

    def test_a_page_that_loads_from_elsewhere(self) -> None:
        self.write("docs/README.md", "# First\n\n![a picture](https://example.org/a.png)\n")
        self.assert_one(self.complaints(), "pages load https://example.org/a.png")

    def test_a_page_that_nobody_finds(self) -> None:
        self.write("docs/README.md", "# First\n")
        self.write("docs/hidden.md", "# Second\n")
        self.assert_one(self.complaints(), "no entry for docs/hidden.md")


class ClangTidy(CheckTest):
    """Not a check of its own (the clang build runs it), but its settings must be able to find something."""

    def findings(self, code: str) -> str:
        program = shutil.which("clang-tidy-14")
        if not program:
            self.skipTest("clang-tidy-14 is not installed")
        shutil.copy(CHECKOUT / ".clang-tidy", self.root)
        self.write("engine/core/a.cpp", HEAD + code)
        command = [program, "--quiet", str(self.root / "engine/core/a.cpp"), "--", "-std=c++20"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout

    def test_names(self) -> None:
        good = "class Clock {\n public:\n  int now_ns() const { return now_ns_; }\n private:\n  int now_ns_ = 0;\n};\n"
        self.assertEqual(self.findings(good), "")
        for name, bad in (("now_ns_", "nowNs"), ("Clock", "clock_type"), ("now_ns()", "NowNs()")):
            self.assertIn("readability-identifier-naming", self.findings(good.replace(name, bad)))

    def test_mistakes(self) -> None:
        self.assertIn("bugprone-", self.findings("int twice(int a) { return sizeof(sizeof(a)); }\n"))


class Program(CheckTest):
    """check.py itself: what it prints and how it ends."""

    def run_check(self, *names: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(Path(__file__).with_name("check.py")), "--root", str(self.root), *names]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    def test_statuses(self) -> None:
        self.assertEqual(self.run_check("words").returncode, 0)
        skipped = self.run_check("docstrings")
        self.assertEqual((skipped.returncode, "Skipped: " in skipped.stdout), (77, True))
        self.write("engine/core/bad.cpp", "// TO" + "DO\n")
        failed = self.run_check("words")
        self.assertEqual((failed.returncode, "engine/core/bad.cpp:1" in failed.stdout), (1, True))
        self.assertEqual(self.run_check("taste").returncode, 2)


if __name__ == "__main__":
    unittest.main()
