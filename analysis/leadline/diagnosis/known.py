# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of a result as a report has it: from the file, from the program, or absent with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.diagnosis.program import ask
from leadline.error import LeadlineError
from leadline.model import Diagnosis, JudgedResult, Slice


@dataclass(frozen=True)
class Diagnosed:
    """What is said of each slice. Where a slice has none, `absent` says why."""

    found: Mapping[Slice, Diagnosis]
    absent: str = ""


def diagnosed_in(result: JudgedResult) -> Diagnosed:
    """What the file has, without the program."""
    return Diagnosed(result.diagnoses, "" if result.diagnoses else "the result file has none")


def diagnosed(result: JudgedResult, parts: Sequence[Slice], topology: str | None = None) -> Diagnosed:
    """What the file has of these slices; where it has not all, or where a topology is given now, the program's answer.
    That it cannot answer is a reason, but an error where its user names a topology.
    """
    if result.num_ranks < 2:
        return diagnosed_in(result)
    if topology is None and all(part in result.diagnoses for part in parts):
        return Diagnosed(result.diagnoses)
    try:
        return Diagnosed(_with_profile(result, ask(result, topology, parts=parts)))
    except LeadlineError as error:
        if topology is not None:
            raise
        why = error.why or str(error).removesuffix(".")
        if result.diagnoses:
            return Diagnosed(result.diagnoses, why)
        return Diagnosed({}, f"the result file has none, and {why}")


def _with_profile(result: JudgedResult, found: Mapping[Slice, Diagnosis]) -> dict[Slice, Diagnosis]:
    """The program is asked without the site profile that the run was judged by: what the file has of it stays."""
    of_file = result.diagnoses
    return {
        part: replace(one, profile=of_file[part].profile) if part in of_file else one for part, one in found.items()
    }
