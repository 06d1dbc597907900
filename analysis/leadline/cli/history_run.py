# SPDX-License-Identifier: Apache-2.0
"""What `leadline history` does: adds results to a store, and says what it shows."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.cli.options import STANDARD_OUTPUT
from leadline.cli.support import StepLog, check_output, say, write
from leadline.error import ExitStatus, LeadlineError, printable_name, wrong
from leadline.history.document import Choice, document_of, text_of_document
from leadline.history.entry import entry_of
from leadline.history.page import history_page
from leadline.history.store import Run, Store, StoreError
from leadline.history.text import conditions_of, text_of
from leadline.program import output_of
from leadline.report.folder import kind_of, parts_of, read_document
from leadline.report.frame import is_own_report
from leadline.units import counted

_PROFILE_S = 600.0


def history(options: argparse.Namespace) -> None:
    """`leadline history`, with its options."""
    if options.host and options.link:
        raise wrong("--host and --link do not go together", "Leave one of them out")
    _expect_outputs(options)
    steps = StepLog("leadline history", options.verbose)
    folder = Path(options.folder)
    results = list(options.result)
    num_refused = 0
    with Store(folder, is_new_allowed=bool(results)) as store:
        steps.done(f"opened {store.path}")
        if results:
            num_refused = _add(store, results, options.quiet, steps)
        choice = Choice(options.since or "", options.host or "", options.link)
        document = document_of(store, choice)
        steps.done(f"looked for changes in {sum(group['num_series'] for group in document['groups'])} series")
        _expect_known(document, choice)
        if options.output is not None and not document["num_runs"]:
            raise wrong("there is no page of a history without runs")
        if options.profile is not None:
            _write_profile(options, store.runs(choice.since), steps)
    _tell(options, document)
    if num_refused:
        problem = f"{counted(num_refused, 'result')} of {len(results)} could not be added"
        raise LeadlineError(problem, hint="Each is named above", status=ExitStatus.BELOW_THRESHOLD)


def _expect_outputs(options: argparse.Namespace) -> None:
    """That each file may be written, before any work."""
    names = {name: Path(text) for name in ("output", "json", "profile")
             if (text := getattr(options, name)) not in (None, STANDARD_OUTPUT)}  # fmt: skip
    if len({path.resolve() for path in names.values()}) < len(names):
        raise wrong("two options name the same file")
    if options.output is not None and Path(options.output).suffix.lower() not in (".html", ".htm"):
        raise wrong(f"cannot write '{options.output}' (it is a page)", "End it in .html")
    if options.profile == STANDARD_OUTPUT:
        raise wrong("--profile needs the name of a file")
    own = {
        "output": is_own_report, "json": lambda ends: '"document": "history"' in ends,
        "profile": lambda ends: '"document": "profile"' in ends,
    }  # fmt: skip
    for name, path in names.items():
        check_output(path, options.overwrite, own[name])


def _add(store: Store, results: Sequence[str], quiet: bool, steps: StepLog) -> int:
    """Tells each result that is refused, and how many were added; the number of those refused."""
    num_added = num_known = num_refused = 0
    for name in results:
        try:
            for path in _files_of(Path(name)):
                entry = entry_of(path, store.has)
                if entry is not None and store.add(entry):
                    num_added += 1
                    steps.done(f"added {path}")
                else:
                    num_known += 1
                    steps.done(f"{path} is there already")
        except StoreError:
            raise
        except LeadlineError as error:
            num_refused += 1
            print(f"not added: {printable_name(name)}: {error}", file=sys.stderr, flush=True)
    if not quiet:
        known = f", {num_known} there already" if num_known else ""
        print(f"added {counted(num_added, 'run')}{known}", file=sys.stderr, flush=True)
    return num_refused


def _files_of(path: Path) -> Iterator[Path]:
    """A result, or those of the parts of a check or an acceptance test."""
    kind = kind_of(path)
    if kind is None:
        yield path
        return
    document = path / kind.document if path.is_dir() else path
    files = parts_of(read_document(document, kind), document.parent)
    if not files:
        raise wrong(f"'{path}' has no result of a part", "leadline check keeps them with --output FOLDER")
    yield from files.values()


def _expect_known(document: Mapping[str, Any], choice: Choice) -> None:
    if not document["num_runs"]:
        return
    if (choice.host or choice.link) and not any(one["series"] or one["findings"] for one in document["groups"]):
        named = f"host {choice.host}" if choice.host else f"link between {' and '.join(choice.link or ())}"
        raise wrong(f"the history has nothing of the {named}", "Names are those of the results; see --json")


def _write_profile(options: argparse.Namespace, runs: Sequence[Run], steps: StepLog) -> None:
    """Of the largest group of good runs that are comparable, of files that still are what was added."""
    good = [
        run
        for run in runs
        if run.benchmark == "link" and run.complete and not run.untested
        and not any(one.listed_as == "persistent" for one in run.findings)
    ]  # fmt: skip
    if not good:
        raise wrong("there is no good run of the link test for a profile", "A good one is complete and without a fault")
    keys = [run.key for run in good]
    key = max(dict.fromkeys(keys), key=keys.count)
    chosen = [run for run in good if run.key == key]
    there = [run for run in chosen if Path(run.path).is_file()]
    if not there:
        raise wrong(f"no file of the {counted(len(chosen), 'good run')} is there", f"The last was {chosen[-1].path}")
    if not options.quiet:
        told = [f"profile of {counted(len(there), 'good run')}: {conditions_of('link', chosen[0].conditions)}"]
        gone = [run.path for run in chosen if run not in there]
        told += [f"the files of {len(gone)} more are gone, the first was {gone[0]}"] if gone else []
        others = len(good) - len(chosen)
        told += [f"{others} are not comparable with these"] if others else []
        print("; ".join(told), file=sys.stderr, flush=True)
    words = ["profile", *(run.path for run in there), "--json", "--quiet"]
    _, text = output_of(words, "cannot make a profile", _PROFILE_S)
    write(Path(options.profile), text)
    steps.done(f"wrote {options.profile} of {len(there)} runs")


def _tell(options: argparse.Namespace, document: Mapping[str, Any]) -> None:
    names = []
    if options.output is not None:
        write(Path(options.output), history_page(document, os.fspath(Path(options.folder))))
        names.append(options.output)
    if options.profile is not None:
        names.append(options.profile)
    if options.json == STANDARD_OUTPUT:
        say(text_of_document(document))
        return
    if options.json is not None:
        write(Path(options.json), text_of_document(document))
        names.append(options.json)
    text = text_of(document)
    say(text + ("" if options.quiet else "".join(f"{name}\n" for name in names)))
