# SPDX-License-Identifier: Apache-2.0
"""Tests of what `leadline view` does behind its answers: long work in turn, and what is kept of it."""

from __future__ import annotations

import threading

import pytest
from served import DEADLINE_S

from leadline.model import Progress
from leadline.view.jobs import Recent, Worker


def test_work_ends_where_it_tells_its_progress() -> None:
    worker, begun = Worker(), threading.Event()

    def endless(progress: Progress) -> None:
        while True:
            progress(0.5)
            begun.set()

    job, next_job = worker.submit(endless), worker.submit(lambda _: pytest.fail("this was to be dropped"))
    assert begun.wait(DEADLINE_S)
    worker.stop(DEADLINE_S)
    assert job.progress == 0.5
    assert not job.is_done
    assert not next_job.is_done


def test_failed_work_is_told_and_the_next_is_done() -> None:
    worker = Worker()
    failed, done = worker.submit(lambda _: [][0]), worker.submit(lambda _: 7)
    assert done.wait(DEADLINE_S)
    assert isinstance(failed.error, IndexError)
    assert done.value == 7
    worker.stop(DEADLINE_S)


def test_what_was_not_wanted_for_longest_goes_first() -> None:
    recent: Recent[str] = Recent(100)
    recent.keep("a", "A", 40)
    recent.keep("b", "B", 40)
    assert recent.find("a") == "A"
    recent.keep("c", "C", 40)
    assert [recent.find(key) for key in "abc"] == ["A", None, "C"]
    recent.keep("d", "D", 1000)
    assert [recent.find(key) for key in "acd"] == [None, None, "D"]
