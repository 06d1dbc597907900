# SPDX-License-Identifier: Apache-2.0
"""The store of a history: one SQLite file in a folder, docs/formats/history.md. Several processes may add to it at
once, also over NFS: it has no write-ahead log, which needs shared memory.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from leadline.error import ExitStatus, LeadlineError, from_os_error, wrong
from leadline.history.entry import Entry, Found, conditions_key

STORE = "history.sqlite"
_APPLICATION_ID = 0x4C4C4853  # "LLHS"
_VERSION = 1
_PATIENCE_S = 60.0  # until another process has added its result
_TABLES = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, path TEXT NOT NULL, benchmark TEXT NOT NULL,
  start_utc TEXT NOT NULL, version TEXT NOT NULL, key TEXT NOT NULL, conditions TEXT NOT NULL,
  complete INTEGER NOT NULL, incomplete_reason TEXT NOT NULL, untested TEXT NOT NULL, num_ranks INTEGER NOT NULL);
CREATE TABLE hosts (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, host TEXT NOT NULL);
CREATE TABLE numbers (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, name TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  kind TEXT NOT NULL, part TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL);
CREATE TABLE findings (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, name TEXT NOT NULL, kind TEXT NOT NULL,
  symptom TEXT NOT NULL, list TEXT NOT NULL, ratio REAL, hosts TEXT NOT NULL);
CREATE INDEX hosts_of_run ON hosts (run);
CREATE INDEX numbers_of_run ON numbers (run);
CREATE INDEX findings_of_run ON findings (run);
"""


@dataclass(frozen=True)
class Run:
    """A run as the store has it, without its numbers."""

    id: int
    path: str
    benchmark: str
    start_utc: str
    version: str
    key: str  # of the conditions
    conditions: dict[str, str]
    complete: bool
    incomplete_reason: str
    untested: str
    num_ranks: int
    hosts: tuple[str, ...]
    findings: tuple[Found, ...]


# (name, size, kind, part, unit)
Key = tuple[str, int, str, str, str]


class StoreError(LeadlineError):
    """The store itself cannot be used, whatever is to be added."""


class Store:
    """An open store. Every error of the database is a StoreError."""

    def __init__(self, folder: Path, is_new_allowed: bool) -> None:
        """Opens the store in a folder; a new one, also a new folder, where that is allowed. It is changed by add()
        alone.
        """
        self.path = folder / STORE
        try:
            if is_new_allowed:
                folder.mkdir(exist_ok=True)
            elif not folder.exists():
                raise wrong(f"there is no folder '{folder}'", "Name results behind it to begin a history there")
            elif not self.path.is_file():
                raise wrong(f"'{folder}' has no history", "Name results behind it to begin one there")
        except OSError as error:
            raise from_os_error(f"cannot use the folder '{folder}'", error) from error
        # Not "ro": what a killed process has left of a transaction could not be taken back. Read-only files open, too.
        mode = "rwc" if is_new_allowed else "rw"
        with self._errors():
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE_S, isolation_level=None
            )
        try:
            with self._errors():
                self._open(is_new_allowed)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self._connection.close()

    def has(self, identity: str, complete: bool) -> bool:
        """Whether a run is there; one that was added before it was complete gives way to the complete one."""
        with self._errors():
            row = self._one("SELECT complete FROM runs WHERE identity = ?", identity)
        return bool(row and (row[0] or not complete))

    def add(self, entry: Entry) -> bool:
        """Keeps a run, all of it or nothing; False where another process has added it meanwhile. LeadlineError where
        its hosts are of another cluster than those in the store.
        """
        with self._errors(), self._writing():
            if self.has(entry.identity, entry.complete):
                return False
            self._expect_same_cluster(entry)
            self._connection.execute("DELETE FROM runs WHERE identity = ?", (entry.identity,))
            self._insert(entry)
            return True

    def runs(self, since: str = "") -> list[Run]:
        """In the order of their times, within a second of adding; `since`: not those before, as 2026-01-31."""
        with self._errors():
            hosts: dict[int, list[str]] = defaultdict(list)
            for run, host in self._connection.execute("SELECT run, host FROM hosts ORDER BY rowid"):
                hosts[run].append(host)
            findings: dict[int, list[Found]] = defaultdict(list)
            found = self._connection.execute(
                "SELECT run, name, kind, symptom, list, ratio, hosts FROM findings ORDER BY rowid"
            )
            for run, name, kind, symptom, listed_as, ratio, names in found:
                of_run = Found(
                    name, kind, symptom, listed_as, math.nan if ratio is None else ratio, tuple(json.loads(names))
                )
                findings[run].append(of_run)
            rows = self._connection.execute(
                "SELECT id, path, benchmark, start_utc, version, key, conditions, complete, incomplete_reason, "
                "untested, num_ranks FROM runs WHERE start_utc >= ? ORDER BY start_utc, id", (since,)
            )  # fmt: skip
            return [
                Run(number, path, benchmark, start, version, key, json.loads(conditions), bool(complete), reason,
                    untested, num_ranks, tuple(hosts[number]), tuple(findings[number]))
                for number, path, benchmark, start, version, key, conditions, complete, reason, untested, num_ranks
                in rows
            ]  # fmt: skip

    def numbers(self, runs: Sequence[Run]) -> dict[Key, dict[int, float]]:
        """By what they are of, and by the index of the run among these."""
        index = {run.id: number for number, run in enumerate(runs)}
        found: dict[Key, dict[int, float]] = defaultdict(dict)
        with self._errors():
            rows = self._connection.execute("SELECT run, name, size_bytes, kind, part, unit, value FROM numbers")
            for run, name, size_bytes, kind, part, unit, value in rows:
                if run in index:
                    found[name, size_bytes, kind, part, unit][index[run]] = value
        return found

    def _open(self, is_new_allowed: bool) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        if is_new_allowed and not self._version():
            with self._writing():
                if not self._version():  # of another process that began it at the same time there is one now
                    if self._one("SELECT 1 FROM sqlite_master"):
                        raise self._not_ours()
                    for statement in _TABLES.split(";\n"):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        ours, version = self._one("PRAGMA application_id"), self._version()
        if not ours or ours[0] != _APPLICATION_ID:
            raise self._not_ours()
        if version > _VERSION:
            raise wrong(f"cannot use '{self.path}' (a later leadline wrote it)", "Use that one")

    def _not_ours(self) -> StoreError:
        why = "it is no history of leadline"
        return StoreError(f"cannot use '{self.path}'", why, "Name another folder", ExitStatus.BAD_COMMAND_LINE)

    def _version(self) -> int:
        row = self._one("PRAGMA user_version")
        return int(row[0]) if row else 0

    def _one(self, statement: str, *values: object) -> tuple[int, ...] | None:
        row: tuple[int, ...] | None = self._connection.execute(statement, values).fetchone()
        return row

    def _expect_same_cluster(self, entry: Entry) -> None:
        """Runs on any of its hosts belong to a cluster: told apart by the names without their numbers."""
        there = {_stem(host) for (host,) in self._connection.execute("SELECT DISTINCT host FROM hosts")}
        if there and there.isdisjoint(map(_stem, entry.hosts)):
            one = next(iter(self._connection.execute("SELECT host FROM hosts LIMIT 1")))[0]
            raise wrong(
                f"'{entry.path}' is of another cluster: its hosts are called as {entry.hosts[0]}, and those in "
                f"{self.path} as {one}", "Keep it in another folder",
            )  # fmt: skip

    def _insert(self, entry: Entry) -> None:
        key = conditions_key(entry.benchmark, entry.conditions)
        run = self._connection.execute(
            "INSERT INTO runs (identity, path, benchmark, start_utc, version, key, conditions, complete, "
            "incomplete_reason, untested, num_ranks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.identity, entry.path, entry.benchmark, entry.start_utc, entry.version, key,
             json.dumps(entry.conditions), entry.complete, entry.incomplete_reason, entry.untested, entry.num_ranks),
        ).lastrowid  # fmt: skip
        self._connection.executemany("INSERT INTO hosts VALUES (?, ?)", ((run, host) for host in entry.hosts))
        self._connection.executemany(
            "INSERT INTO numbers VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((run, one.name, one.size_bytes, one.kind, one.part, one.unit, one.value) for one in entry.numbers),
        )
        self._connection.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (run, one.name, one.kind, one.symptom, one.listed_as, one.ratio, json.dumps(one.hosts))
                for one in entry.findings
            ),
        )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._told(str(error)) from error
        except (ValueError, TypeError) as error:  # JSON within
            raise self._told(str(error)) from error

    def _told(self, why: str) -> StoreError:
        """SQLite's reason in the words of a person; Python 3.10 has no codes of them."""
        problem = f"cannot use '{self.path}'"
        if "readonly" in why or "unable to open" in why:
            return StoreError(problem, "it cannot be opened, or not be written", "", ExitStatus.SOMETHING_MISSING)
        if "locked" in why:
            return StoreError(problem, f"another process has had it for {_PATIENCE_S:.0f} s", "Try again")
        if "full" in why or "I/O" in why:
            return StoreError(problem, f"{why}; what was there before still is", "Is the disk full?")
        if "not a database" in why:
            return self._not_ours()
        return StoreError(problem, f"damaged: {why}", "Add the results again to a new folder")


def _stem(host: str) -> str:
    """The name of a host without its domain and its numbers: node of node017.cluster."""
    return re.sub(r"\d+", "", host.partition(".")[0])
