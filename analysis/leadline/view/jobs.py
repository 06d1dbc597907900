# SPDX-License-Identifier: Apache-2.0
"""Long work, one piece after the other in the background, with its progress and in bounded memory."""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from leadline.model import Progress

Value = TypeVar("Value")


class StoppedError(Exception):
    """Raised where a worker that is to stop reports its progress."""


@dataclass
class Job:
    """One piece of work; written by the worker only."""

    work: Callable[[Progress], Any]
    progress: float = 0.0
    value: Any = None
    error: Exception | None = None  # of work that failed
    _done: threading.Event = field(default_factory=threading.Event)

    @property
    def is_done(self) -> bool:
        """With a value or an error."""
        return self._done.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Whether it is done after at most so long."""
        return self._done.wait(timeout_s)

    def finish(self) -> None:
        """Called once, by the worker."""
        self._done.set()


class Worker:
    """A thread that does what it is given, in that order."""

    def __init__(self) -> None:
        """The thread does not keep the program alive."""
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leadline view", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Progress], Any]) -> Job:
        """Puts work at the end of the queue; it is given a function to tell its progress to."""
        job = Job(work)
        self._queue.put(job)
        return job

    def stop(self, timeout_s: float = 0.0) -> None:
        """Drops waiting jobs; the running one ends where it next reports its progress. Waits at most so long."""
        self._stopped.set()
        self._queue.put(None)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None and not self._stopped.is_set():
            try:
                job.value = job.work(self._progress_of(job))
            except StoppedError:
                return
            except Exception as error:  # an error of ours must not leave clients waiting
                job.error = error
            job.finish()

    def _progress_of(self, job: Job) -> Progress:
        def told(share: float) -> None:
            if self._stopped.is_set():
                raise StoppedError
            job.progress = share

        return told


class Recent(Generic[Value]):
    """What was made last, as much as fits; the rest is made again when it is wanted. For several threads."""

    def __init__(self, largest_bytes: int) -> None:
        """Begins empty."""
        self._largest_bytes, self._num_bytes = largest_bytes, 0
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Value | None:
        """The value, which is the latest from now on."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: Hashable, value: Value, num_bytes: int) -> None:
        """One more; those that were not wanted for longest go. The latest stays, however large."""
        with self._lock:
            self._num_bytes += num_bytes - self._values.pop(key, (value, 0))[1]
            self._values[key] = (value, num_bytes)
            while self._num_bytes > self._largest_bytes and len(self._values) > 1:
                self._num_bytes -= self._values.popitem(last=False)[1][1]
