# SPDX-License-Identifier: Apache-2.0
"""Text in files: small ones that people write, read with a guard against what is no such file; and what we write."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leadline.error import LeadlineError, from_os_error


def read_text(
    path: str | os.PathLike[str], most_bytes: int, refusal: Callable[[str, str], LeadlineError], example: str
) -> str:
    """The text of a UTF-8 file of at most so many bytes.

    Raises: what `refusal` makes of a reason and a hint, where it is no file, too large or no text (`example` is then
    the hint); LeadlineError where it cannot be read.
    """
    file = Path(path)
    try:
        # A pipe or a device may never end.
        if file.exists() and not file.is_file():
            raise refusal("it is no file", "")
        if file.stat().st_size > most_bytes:
            raise refusal(f"it is larger than {most_bytes >> 20} MiB", "")
        data = file.read_bytes()
    except OSError as error:
        raise from_os_error(f"cannot read '{os.fspath(path)}'", error) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise refusal("it is no text", example)
    return text


def json_text(values: Mapping[str, Any]) -> str:
    """A JSON file with a line for each member, so that people can read it and compare; numbers read back exactly."""
    lines = [f"  {json.dumps(name)}: {json.dumps(plain(one), ensure_ascii=False)}" for name, one in values.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def plain(value: Any) -> Any:
    """A value as JSON has it: NaN is null, an array a list, a dataclass an object."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def utf8(text: str) -> bytes:
    """What is written of a text. Bytes of a file's name that are not UTF-8 become question marks."""
    return text.encode("utf-8", "replace")
