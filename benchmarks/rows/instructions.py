# SPDX-License-Identifier: Apache-2.0
# Row "instructions": what the timed loop executes a message outside the library, beside a bare loop.
"""Instructions a message, counted by callgrind for two numbers of messages; their difference is the loop's alone."""

import pathlib
import re

from . import callgrind
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, verdict_of

KEY = "instructions"
REQUIRED = "<= 1"
NUM_MESSAGES = (1000, 2000)
NUM_WARMUP, NUM_BATCHES, SIZE_BYTES = 10, 20, 8
VALGRIND = ["valgrind", "--tool=callgrind", "--quiet", "--fair-sched=try"]
OURS = ("*Transport::run(*",)  # the virtual call: one a measurement
BARE = ("bare_lead", "bare_follow")
SEND_OR_RECEIVE = re.compile(r"^_*(libc_)?(send|recv)(@|'|$)")


def is_mpi(object_file, _function):
    return pathlib.Path(object_file).name.startswith(("libmpi.", "libmpich."))


def is_socket_call(object_file, function):
    return pathlib.Path(object_file).name.startswith("libc.") and SEND_OR_RECEIVE.match(function) is not None


def per_message(bench, start, program, collected, is_program, is_subject, limit_s=180):
    """Instructions of one message and its answer, and the command."""
    totals = []
    for num_messages in NUM_MESSAGES:
        folder = bench.scratch("callgrind")
        collect = [f"--toggle-collect={name}" for name in collected]
        command = [*start, *VALGRIND, f"--callgrind-out-file={folder}/out.%p", *collect, *program(num_messages)]
        run(command, limit_s=limit_s, cwd=folder)
        counted = [callgrind.instructions_outside(path, is_program, is_subject) for path in folder.glob("out.*")]
        totals.append([sum(part) for part in zip(*counted, strict=False)] if counted else [0, 0])
    more = NUM_MESSAGES[1] - NUM_MESSAGES[0]
    instructions, num_calls = (totals[1][0] - totals[0][0]) / more / 4, (totals[1][1] - totals[0][1]) / more / 4
    if num_calls != 2:  # two ranks, each leads once and follows once: one send and one receive a message
        raise NotMeasuredError(
            f"{num_calls} calls a message were found in callgrind's files, not 2: {text_of(command)}"
        )
    return instructions, text_of(command)


def leadline_program(bench, words):
    def program(num_messages):
        return [
            bench.leadline,
            "link",
            *words,
            "--message-size",
            f"{SIZE_BYTES}B",
            "--messages",
            num_messages,
            "--warmup",
            NUM_WARMUP,
            "--batches",
            NUM_BATCHES,
            "--retest",
            0,
            "--format",
            "none",
            "--quiet",
        ]

    return program


def bare_program(path):
    return lambda num_messages: [path, SIZE_BYTES, num_messages, NUM_WARMUP, NUM_BATCHES]


def row(bench, what, start, words, bare, is_subject):
    ours, our_command = per_message(
        bench,
        start,
        leadline_program(bench, words),
        OURS,
        lambda file: pathlib.Path(file).name.startswith("leadline"),
        is_subject,
    )
    other, bare_command = per_message(
        bench, start, bare_program(bare), BARE, lambda file: file == str(bare), is_subject
    )
    return Row(
        KEY,
        what,
        f"{ours:.2f} a message",
        f"{other:.2f} bare loop",
        ours / other,
        REQUIRED,
        verdict_of(ours <= other),
        commands=[our_command, bare_command],
        numbers={"ours": ours, "bare": other},
    )


def rows(bench):
    for mpi in MPIS:
        what = f"outside {mpi.name}"
        try:
            need("valgrind")
            need(mpi.launcher)
            bare = bench.compile(mpi.compiler, "bare/mpi_ping_pong.c", f"{mpi.launcher}.ping_pong", ["-O2"])
            yield row(bench, what, mpi.start(2, bound=True), ["--transport", "mpi", "--wait", "spin"], bare, is_mpi)
        except NotMeasuredError as why:
            yield absent(KEY, what, REQUIRED, why)
    what = "outside send and recv (tcp)"
    try:
        need("valgrind")
        bare = bench.compile("cc", "bare/tcp_ping_pong.c", "tcp_ping_pong", ["-O2"])
        yield row(bench, what, [], ["--local", 2, "--transport", "tcp", "--wait", "block"], bare, is_socket_call)
    except NotMeasuredError as why:
        yield absent(KEY, what, REQUIRED, why)
