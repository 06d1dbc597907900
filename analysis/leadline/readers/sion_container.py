# SPDX-License-Identifier: Apache-2.0
"""One SION file (docs/formats/sion.md): its tables, each number checked before it is used, and its tasks."""

from __future__ import annotations

import shlex
import struct
from pathlib import Path
from typing import Any

import numpy as np

from leadline.error import LeadlineError
from leadline.model import FloatArray, IntArray
from leadline.readers.input_file import Convert, InputFile, another_kind, check_cells, unreadable

_FIXED_HEADER_BYTES = 1076  # of the first metadata block, up to its tables
_END_MARK_BYTES = 12
_FORMATS = (3, 4, 5)
_LAST_FORMAT_WITH_ASKED_SIZES = 3  # the chunks in the file are larger: rounded up
_MOST_TASKS = 1 << 24
_MOST_FILES = 1_000_000
_KEY_VALUE_MODES = (0, 50, 51)


def damaged_sion(path: Path, code: str, detail: str) -> LeadlineError:
    """In the words of the engine's reader; docs/formats/sion.md has the codes."""
    kinds = {"MAGIC": "not a SION file", "UNCLOSED": "unfinished SION file", "FORMAT": "unknown SION file"}
    hints = {"UNCLOSED": "Was the run stopped?", "TRUNCATED": "Copy it again; was the disk full?"}
    return unreadable(path, f"{kinds.get(code, 'damaged SION file')}, {code}: {detail}", hints.get(code, ""))


class SionContainer:
    """A file that is not part of a set. One that its writer did not finish is read as far as it goes."""

    def __init__(self, file: InputFile) -> None:
        """LeadlineError with a code word for whatever is wrong in it."""
        self.path = file.path
        self._file, self.close = file, file.close
        self._table_bytes = 0
        self._read_fixed_header()
        self._read_tables()
        self._place_chunks()
        if self.is_unfinished:
            self._salvage()
        else:
            self._check_end_mark()
            self._read_usage()

    def _fail(self, code: str, detail: str) -> LeadlineError:
        return damaged_sion(self.path, code, detail)

    def _read_fixed_header(self) -> None:
        head = self._file.read_at(0, _FIXED_HEADER_BYTES)
        if len(head) >= 4 and not head.startswith(b"sion"):
            raise self._fail("MAGIC", "it does not begin with the word sion")
        if len(head) < _FIXED_HEADER_BYTES:
            raise self._fail("TRUNCATED", f"only {len(head)} bytes of a header")
        word = head[4:8]
        if word[0] != word[3] or word[1] != word[2] or max(word) > 1:
            raise self._fail("ENDIAN", "the mark of the byte order is none")
        self._order, self.payload_order = ("<>"[word[0]], "<>"[word[1]])
        numbers = struct.unpack_from(f"{self._order}7iq", head, 8)
        _, _, self._format, self._block_bytes, self.num_tasks, num_files, file_number, flags = numbers
        if self._format not in _FORMATS:
            raise self._fail("FORMAT", f"format version {self._format}; 3 to 5 are known")
        if self._block_bytes < 1:
            raise self._fail("FSBLK", f"a block size of {self._block_bytes}")
        if not 1 <= self.num_tasks <= _MOST_TASKS:
            raise self._fail("NTASKS", f"{self.num_tasks} tasks")
        if not 1 <= num_files <= _MOST_FILES:
            raise self._fail("NFILES", f"a set of {num_files} files")
        if not 0 <= file_number <= max(1, num_files - 1):
            raise self._fail("FILENO", f"file number {file_number} in a set of {num_files}")
        if flags >> 32 not in _KEY_VALUE_MODES:
            raise self._fail("KEYVAL", f"key-value mode {flags >> 32}")
        if num_files > 1:
            self._refuse_set(num_files, file_number)

    def _refuse_set(self, num_files: int, file_number: int) -> None:
        # The member's own name ends in a dot and six digits.
        first = self.path.with_suffix("") if file_number > 0 else self.path
        target = first.with_name(f"{first.name}.h5") if first.suffix == ".h5" else first.with_suffix(".h5")
        words = shlex.join(["leadline", "convert", str(first), str(target)])
        raise another_kind(self.path, f"one of the {num_files} files of a SION set", f"Make one of them with: {words}")

    def _read_numbers(self, offset: int, kind: str, num: int, what: str) -> IntArray:
        """A table as native integers; the file has it, and not as a hole."""
        numbers = np.empty(num, dtype=np.dtype(f"{self._order}{kind}"))
        if offset + numbers.nbytes > self._file.size_bytes:
            end, size = offset + numbers.nbytes, self._file.size_bytes
            raise self._fail("TRUNCATED", f"{what} would end at byte {end}, the file at {size}")
        self._table_bytes += numbers.nbytes
        if not self._file.stores_in_proportion(self._table_bytes):
            raise self._fail("LIMIT", f"{self._table_bytes} bytes of tables are nearly all holes in the file")
        if not self._file.read_into(offset, numbers):
            raise self._fail("TRUNCATED", f"{what} is cut off")
        return numbers.astype(np.int64, copy=False)

    def _read_tables(self) -> None:
        end_mark = _FIXED_HEADER_BYTES + 16 * self.num_tasks
        if end_mark + _END_MARK_BYTES > self._file.size_bytes:
            end, size = end_mark + _END_MARK_BYTES, self._file.size_bytes
            raise self._fail("TRUNCATED", f"the header would end at byte {end}, the file at {size}")
        self.global_ranks = self._read_numbers(_FIXED_HEADER_BYTES, "i8", self.num_tasks, "the table of ranks")
        chunks = _FIXED_HEADER_BYTES + 8 * self.num_tasks
        self._rooms = self._read_numbers(chunks, "i8", self.num_tasks, "the table of chunk sizes")
        mark = self._file.read_at(end_mark, _END_MARK_BYTES)
        if len(mark) < _END_MARK_BYTES:
            raise self._fail("TRUNCATED", "the header is cut off")
        self._num_rounds, self._meta2 = struct.unpack(f"{self._order}iq", mark)
        self.is_unfinished = self._num_rounds == 0 and self._meta2 == 0

    def _place_chunks(self) -> None:
        """Start and room of each task's chunk; sums of 64 bits, checked."""
        block = self._block_bytes
        self._data = -(-(_FIXED_HEADER_BYTES + 16 * self.num_tasks + _END_MARK_BYTES) // block) * block
        negative = np.flatnonzero(self._rooms < 0)
        if negative.size:
            task = int(negative[0])
            raise self._fail("CHUNKSIZE", f"task {task} has a chunk of {self._rooms[task]} bytes")
        ends = self._rooms
        with np.errstate(over="ignore"):
            if self._format <= _LAST_FORMAT_WITH_ASKED_SIZES:
                self._rooms = self._rooms + -self._rooms % block
            ends = np.cumsum(self._rooms)
        # A sum of two that are not negative leaves 64 bits only towards the negative.
        beyond = np.flatnonzero((ends < 0) | (self._rooms < 0))
        if beyond.size:
            raise self._fail("OVERFLOW", f"the chunks up to task {int(beyond[0])} leave 64 bits")
        self._starts = ends - self._rooms
        self._round_bytes = int(ends[-1])

    def _salvage(self) -> None:
        """The used parts are unknown: each task has its first chunk, as far as the file goes."""
        there = np.clip(self._file.size_bytes - self._data - self._starts, 0, self._rooms)
        self._num_blocks = np.ones(self.num_tasks, dtype=np.int64)
        self._used = there.reshape(1, -1)

    def _check_end_mark(self) -> None:
        if self._num_rounds < 1:
            raise self._fail("MAXCHUNKS", f"{self._num_rounds} rounds of chunks")
        end = self._data + self._num_rounds * self._round_bytes
        if end >= 1 << 63:
            raise self._fail("META2POS", f"{self._num_rounds} rounds of chunks leave 64 bits")
        if end != self._meta2:
            where = f"the second metadata block is said to be at {self._meta2}, but the chunks end at {end}"
            raise self._fail("META2POS", where)

    def _read_usage(self) -> None:
        num_tasks, num_rounds = self.num_tasks, self._num_rounds
        if self._meta2 + 8 * num_tasks * (1 + num_rounds) > self._file.size_bytes:
            end = self._meta2 + 8 * num_tasks * (1 + num_rounds)
            what = f"the second metadata block would end at byte {end}, the file at {self._file.size_bytes}"
            raise self._fail("TRUNCATED", what)
        self._num_blocks = self._read_numbers(self._meta2, "i8", num_tasks, "the table of block counts")
        offset = self._meta2 + 8 * num_tasks
        used = self._read_numbers(offset, "i8", num_tasks * num_rounds, "the table of used sizes")
        self._used = used.reshape(num_rounds, num_tasks)
        self._check_usage()

    def _check_usage(self) -> None:
        wrong = np.flatnonzero((self._num_blocks < 0) | (self._num_blocks > self._num_rounds))
        if wrong.size:
            task = int(wrong[0])
            detail = f"task {task} has {self._num_blocks[task]} blocks in {self._num_rounds} rounds"
            raise self._fail("BLOCKCOUNT", detail)
        if int(self._num_blocks.max()) != self._num_rounds:
            raise self._fail("BLOCKCOUNT", f"no task has blocks in all {self._num_rounds} rounds")
        # What follows a task's last block means nothing.
        self._used[np.arange(self._num_rounds)[:, None] >= self._num_blocks] = 0
        wrong = np.flatnonzero((self._used < 0) | (self._used > self._rooms))
        if wrong.size:
            task = int(wrong[0]) % self.num_tasks
            detail = f"task {task} uses {self._used.flat[wrong[0]]} bytes of a chunk of {self._rooms[task]}"
            raise self._fail("BLOCKSIZE", detail)

    def expect_distinct_ranks(self) -> None:
        """As in every result."""
        ranks = np.sort(self.global_ranks)
        if ranks[0] < 0:
            raise self._fail("RANKS", "a task has a negative rank")
        twice = np.flatnonzero(ranks[1:] == ranks[:-1])
        if twice.size:
            raise self._fail("RANKS", f"two tasks have rank {ranks[twice[0]]}")

    def size_bytes(self, task: int) -> int:
        """Bytes of a task: all its blocks together."""
        return int(self._used[:, task].sum())

    def read(self, task: int, offset: int, num_bytes: int) -> bytes:
        """So many bytes of a task's content, which the caller knows to be there."""
        content = np.empty(num_bytes, dtype=np.uint8)
        done = 0
        for place, length in self._pieces(task, offset, num_bytes):
            if not self._file.read_into(place, content[done : done + length]):
                raise self._shorter()
            done += length
        return content.tobytes()

    def read_cells(
        self, task: int, offset: int, kind: np.dtype[Any], into: FloatArray, convert: Convert = check_cells
    ) -> None:
        """Fills a float64 array with numbers of a kind from a task's content; see InputFile.read_cells()."""
        num_bytes = into.size * kind.itemsize
        pieces = list(self._pieces(task, offset, num_bytes))
        if len(pieces) == 1:
            if not self._file.read_cells(pieces[0][0], kind, into, convert):
                raise self._shorter()
            return
        into.reshape(-1)[...] = np.frombuffer(self.read(task, offset, num_bytes), dtype=kind)
        convert(into.reshape(-1))

    def _shorter(self) -> LeadlineError:
        return self._fail("TRUNCATED", "the file became shorter while it was read")

    def _pieces(self, task: int, offset: int, num_bytes: int) -> list[tuple[int, int]]:
        """Place in the file and length of each stretch of a task's content."""
        ends = np.cumsum(self._used[:, task])
        pieces = []
        number = int(np.searchsorted(ends, offset, side="right"))
        while num_bytes > 0:
            begin = int(ends[number] - self._used[number, task])
            length = min(int(ends[number]) - offset, num_bytes)
            if length > 0:
                start = self._data + number * self._round_bytes + int(self._starts[task])
                pieces.append((start + offset - begin, length))
            offset, num_bytes, number = offset + length, num_bytes - length, number + 1
        return pieces
