# SPDX-License-Identifier: Apache-2.0
# Reads callgrind's files: the instructions that a program executes outside the library that is the subject.
"""instructions_outside(). The format is valgrind's manual, chapter "Callgrind Format Specification"."""

import collections
import re

NAMED = re.compile(r"^(c?ob|c?f[ile]|c?fn)=\((\d+)\)(?: (.*))?$")
# Files, objects and functions are numbered in one series each, callers and callees alike.
SERIES = {
    "ob": "ob",
    "cob": "ob",
    "fn": "fn",
    "cfn": "fn",
    "fl": "fl",
    "fi": "fl",
    "fe": "fl",
    "cfi": "fl",
    "cfl": "fl",
}


def instructions_outside(path, is_program, is_subject):
    """Instructions of the objects that `is_program(object)` names, and of all that they call but for the calls that
    `is_subject(object, function)` names. Also the number of those calls. Functions that are only on the way to where
    collection was switched on have no instructions of their own and do not count."""
    own, called, num_subject_calls = collections.Counter(), collections.Counter(), 0
    for caller, cost, call in costs_of(path):
        if not is_program(caller[0]):
            continue
        if call is None:
            own[caller] += cost
        elif is_subject(call.object_file, call.function):
            num_subject_calls += call.count
        elif not is_program(call.object_file):
            called[caller] += cost
    return sum(own.values()) + sum(called[caller] for caller in own if own[caller] > 0), num_subject_calls


Call = collections.namedtuple("Call", "object_file function count")


def costs_of(path):
    """(object, function) with its own cost, or with the cost of a call."""
    names = {"ob": {}, "fn": {}, "fl": {}}
    at = {"ob": "", "fn": "", "cob": None, "cfn": ""}
    count = None  # of the call whose cost stands on the next line
    for line in path.read_text().splitlines():
        named = NAMED.match(line)
        if named:
            kind, number, name = named.groups()
            if name is not None:
                names[SERIES[kind]][number] = name
            at[kind] = names[SERIES[kind]][number]
        elif line.startswith("calls="):
            count = int(line[len("calls=") :].split()[0])
        elif line and line[0] in "+-*0123456789":
            call = None if count is None else Call(at["cob"] or at["ob"], at["cfn"], count)
            yield (at["ob"], at["fn"]), int(line.split()[-1]), call
            if call is not None:
                count, at["cob"] = None, None  # without a word the callee lies in the caller's object
