# SPDX-License-Identifier: Apache-2.0
"""Options of the commands: the ones that several commands share, how a value is checked, and what --help and
--describe-options say of them. Imports nothing slow: help and shell completion start at once.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from leadline import __version__
from leadline.error import ExitStatus, LeadlineError, wrong
from leadline.units import parse_bytes

# From the name of an option and the text of its value to the value; a wrong text is an error that wrong() makes.
Kind = Callable[[str, str], Any]

STANDARD_OUTPUT = "-"
WRITTEN_AS_JSON = "say as JSON what was written, on standard output or into FILE"  # --json of what writes files
DEBUG = "--debug"


@dataclass(frozen=True)
class Option:
    """An option, from which follow parsing, --help and --describe-options."""

    name: str  # "--message-size"
    help: str  # without its default
    value: str = ""  # what --help calls the value; empty = a flag
    short: str = ""  # "-o"
    kind: Kind | None = None  # None: the text as it is
    default: Any = None
    default_text: str = ""  # instead of the default, where it follows from other things: "the only one"
    choices: Sequence[str] = ()
    is_file: bool = False
    is_value_optional: bool = False
    may_repeat: bool = False  # then its value is a tuple, in the order of the command line
    is_required: bool = False


# Earlier names, and those of other tools, of an option.
_OTHER_NAMES = {
    "--size": ("--message-size",),
    "--msg-size": ("--message-size",),
    "--per-host": ("--active-ranks-per-host", "--ranks-per-host"),
    "--ppn": ("--ranks-per-host",),
    "--out": ("--output",),
    "--force": ("--overwrite",),
    "--silent": ("--quiet",),
    "--iterations": ("--rounds",),
    "--max-rounds": ("--rounds",),
    "--network": ("--topology",),
    "--simulation": ("--simulated",),
    "--model": ("--simulated",),
    "--compare": ("--baseline",),
}


def whole(least: int, most: int = 2**31) -> Kind:
    """A whole number in a range."""

    def convert(name: str, text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 20 and least <= int(text) <= most):
            raise wrong(f"{name} cannot be '{text}'", f"Write a number from {least} to {most}")
        return int(text)

    return convert


def seconds(most: float) -> Kind:
    """A time above 0, written as for the engine."""
    units = {"": 1.0, "s": 1.0, "ms": 1e-3, "m": 60.0, "h": 3600.0}

    def convert(name: str, text: str) -> float:
        number = text.rstrip("smh")
        try:
            value = float(number) * units.get(text[len(number) :], math.nan)
        except ValueError:
            value = math.nan
        if not 0 < value <= most:
            hint = f"It is a time above 0 and up to {most:.0f} s; write for example 30, 30s, 500ms, 5m or 2h"
            raise wrong(f"{name} cannot be '{text}'", hint)
        return value

    return convert


def share(name: str, text: str) -> float:
    """A share, as 1% or 0.01."""
    digits, percent, behind = text.partition("%")
    try:
        value = float(digits) * (0.01 if percent else 1)
    except ValueError:
        value = -1
    if behind or not 0 <= value <= 1:
        raise wrong(f"{name} cannot be '{text}'", "It is a share from 0 % to 100 %; write for example 1% or 0.01")
    return value


def size(name: str, text: str) -> int:
    """A number of bytes, as 512, 1KiB or 16MiB."""
    try:
        return parse_bytes(text)
    except ValueError:
        raise wrong(f"{name} {text} is not a size", "Write it as 512, 1KiB or 16MiB") from None


# What several commands have, by name.
SHARED = {
    option.name: option
    for option in (
        Option("--output", "file to write", "FILE", "-o", is_file=True),
        Option("--overwrite", "replace FILE also if another program wrote it"),
        Option("--quiet", "only what was asked for: no progress, no notes", short="-q"),
        Option("--verbose", "tell on standard error what is done: files, libraries, decisions, times", short="-v"),
        Option(
            "--json", "print the result as JSON instead of text, or write it into FILE", "FILE", is_file=True,
            is_value_optional=True,
        ),
        Option("--message-size", "only this message size, for example 16MiB", "SIZE", kind=size),
        Option("--repeat", "only this repeat; the first is 1", "N", kind=whole(1)),
        Option("--seed", "seed of the random numbers", "N", kind=whole(0, 2**64 - 1), default=1),
    )
}  # fmt: skip


def closest(word: str, known: Iterable[str]) -> str:
    """The known name that a wrong one most probably means; empty if none is close."""
    names = list(known)
    for name in _OTHER_NAMES.get(word, ()):
        if name in names:
            return name
    # What has the wrong name as a part first: --size of --message-size.
    bare = word.lstrip("-")
    for name in names:
        if len(bare) > 2 and bare in re.split("-+", name):
            return name
    return next(iter(difflib.get_close_matches(word, names, n=1, cutoff=0.7)), "")


class Once(argparse.Action):
    """An option that is given twice is a mistake, not a correction, unless it may repeat."""

    def __init__(
        self, *arguments: Any, is_file: bool = False, is_flag: bool = False, may_repeat: bool = False,
        default_text: str = "", **settings: Any,
    ) -> None:  # fmt: skip
        """As argparse's, and whether the value is the name of a file, or there is no value. `help` has no default."""
        if is_flag:
            settings["nargs"] = 0
        self.plain_help, self.default_text = settings["help"], default_text
        settings["help"] = _escaped(settings["help"] + (f" (default: {default_text})" if default_text else ""))
        super().__init__(*arguments, **settings)
        self.is_file, self.is_flag, self.may_repeat = is_file, is_flag, may_repeat
        # argparse takes nargs away while it parses options among files.
        self.is_several = settings.get("nargs") == "*"

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """As argparse calls it."""
        given: set[str] = namespace.__dict__.setdefault("_given", set())
        if self.may_repeat:
            values = (*getattr(namespace, self.dest), values)
        elif self.dest in given:
            parser.error(f"{option} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, True if self.is_flag else values)


class _Describe(argparse.Action):
    """Prints the options as JSON, for shell completion and the documentation."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """As argparse calls it."""
        assert isinstance(parser, Parser)
        print(json.dumps(described(parser), indent=2))
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Raises our errors for a wrong command line; for an unknown option it suggests the one that was meant."""

    def __init__(
        self, prog: str, description: str, epilog: str, purpose: str = "",
        version_options: Sequence[str] = ("--version",),
    ) -> None:  # fmt: skip
        """`prog` as in "leadline report", `purpose` is one line for lists of commands."""
        super().__init__(
            prog=prog, allow_abbrev=False, description=_escaped(description), epilog=_escaped(epilog), add_help=False
        )
        self.purpose = purpose
        self.missing: dict[str, str] = {}
        self._words: Sequence[str] = ()
        self.add_argument("-h", "--help", action="help", help="print this help")
        name = f"{prog} {__version__}" if prog.startswith("leadline") else f"{prog} (leadline {__version__})"
        self.add_argument(*version_options, action="version", version=name, help="print the version")
        # Read where a command ends: a command line that cannot be parsed has it as well.
        self.option(Option(DEBUG, "where something goes wrong, print a traceback before the line that says so"))
        self.add_argument("--describe-options", action=_Describe, nargs=0, help=argparse.SUPPRESS)

    def argument(self, name: str, help: str) -> None:  # noqa: A002 - as argparse calls it
        """The file to read, which the command line must name."""
        self.add_argument(name.lower(), metavar=name, action=Once, is_file=True, help=help)

    def several(self, name: str, help: str) -> None:  # noqa: A002 - as argparse calls it
        """Files behind the argument, any number of them."""
        self.add_argument(name.lower(), metavar=name, action=Once, nargs="*", default=[], is_file=True, help=help)

    def shared(self, name: str, group: argparse._ActionsContainer | None = None, **changes: Any) -> None:
        """One of SHARED, with what is different for this command."""
        self.option(replace(SHARED[name], **changes), group)

    def without(self, name: str, why: str) -> None:
        """An option that other commands have and this one cannot have; who gives it gets to read why."""
        self.missing[name] = why

    def option(self, option: Option, group: argparse._ActionsContainer | None = None) -> None:
        """Adds an option, to a group of --help if there is one."""
        names = [option.short, option.name] if option.short else [option.name]
        settings: dict[str, Any] = {"action": Once, "default": option.default, "help": option.help}
        settings["default_text"] = option.default_text or _default_text(option.default)
        if option.value or option.choices:
            settings |= {"is_file": option.is_file, "metavar": option.value or None, "required": option.is_required}
            settings |= {"choices": list(option.choices)} if option.choices else {}
            settings |= {"nargs": "?", "const": STANDARD_OUTPUT} if option.is_value_optional else {}
            settings |= {"may_repeat": True, "default": ()} if option.may_repeat else {}
            kind = option.kind
            settings |= {"type": lambda text: kind(option.name, text)} if kind else {}
        else:
            settings |= {"is_flag": True, "default": False}
        (group or self).add_argument(*names, **settings)

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """The options of a command line; LeadlineError for a wrong one."""
        self._expect_known(words)
        self._words = words
        has_several = any(action.nargs == "*" for action in self._actions)
        # Files may stand behind options, too: kept --verbose run.h5.
        options = self.parse_intermixed_args(words) if has_several else self.parse_args(words)
        if is_given(options, "quiet") and is_given(options, "verbose"):
            why = "the one wants less to be said, the other more"
            raise LeadlineError(
                "--verbose and --quiet do not go together",
                why,
                "Leave out --verbose or --quiet",
                ExitStatus.BAD_COMMAND_LINE,
            )
        return options

    def _expect_known(self, words: Sequence[str]) -> None:
        known = self._option_string_actions
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            # As argparse tells an option from a value.
            if not name.startswith("-") or name == "-" or " " in word or re.fullmatch(r"-\d+|-\d*\.\d+", word):
                continue
            if name in known or (not name.startswith("--") and name[:2] in known):
                continue
            for option, why in self.missing.items():
                if name == option or (name[:2] == SHARED[option].short and not name.startswith("--")):
                    status = ExitStatus.BAD_COMMAND_LINE
                    raise LeadlineError(f"{self.prog} has no {option}", why, "Leave it out", status)
            shown = [one for one, action in known.items() if action.help != argparse.SUPPRESS]
            meant = closest(name, (one for one in shown if one.startswith("--")))
            raise wrong(f"unknown option {name}", f"Did you mean {meant}?" if meant else f"See {self.prog} --help")

    def error(self, message: str) -> NoReturn:
        """Raises it; never ends the program."""
        optional = [name for name, action in self._option_string_actions.items() if action.nargs == "?"]
        swallowed = next((name for name in optional if name in self._words[:-1]), "")
        if "required: RESULT" in message and swallowed:
            value = self._words[list(self._words).index(swallowed) + 1]
            if not value.startswith("-"):
                raise wrong(message, f"{value} was read as the value of {swallowed}: write {swallowed} after RESULT")
        raise wrong(message, f"See {self.prog} --help")


def is_given(options: argparse.Namespace, name: str) -> bool:
    """Whether the command line has an option, whatever its default is; `name` without dashes: message_size."""
    return name in options.__dict__.get("_given", ())


def expect_no_effectless(options: argparse.Namespace, names: Iterable[str], why: str, hint: str = "") -> None:
    """LeadlineError for the first of these options that is given: here it would have no effect."""
    for name in names:
        if is_given(options, name):
            problem = f"--{name.replace('_', '-')} has no effect here"
            raise LeadlineError(problem, why, hint, ExitStatus.BAD_COMMAND_LINE)


def described(parser: Parser) -> dict[str, Any]:
    """What --describe-options prints: arguments and options of a command, as argparse knows them."""
    arguments, options = [], []
    for group in parser._action_groups:
        for action in group._group_actions:
            if action.help == argparse.SUPPRESS:
                continue
            entry = {"help": getattr(action, "plain_help", action.help), "is_file": getattr(action, "is_file", False)}
            if action.option_strings:
                options.append(_described_option(action, entry) | {"group": group.title or ""})
            else:
                name = action.metavar or action.dest
                name = f"[{name}...]" if getattr(action, "is_several", False) else name
                arguments.append({"name": name, **entry, "min": 1, "max": 1})
    command = parser.prog.removeprefix("leadline ")
    without = [{"long": name, "why": why} for name, why in parser.missing.items()]
    return {
        "command": command, "purpose": parser.purpose, "arguments": arguments, "options": options, "without": without,
    }  # fmt: skip


def _described_option(action: argparse.Action, entry: dict[str, Any]) -> dict[str, Any]:
    names = {"long" if name.startswith("--") else "short": name for name in action.option_strings}
    is_flag = action.nargs == 0
    return {
        "long": names.get("long"),
        "short": names.get("short"),
        "value": None if is_flag else action.metavar or action.dest.upper(),
        "value_is_optional": action.nargs == "?",
        "may_repeat": getattr(action, "may_repeat", False),
        "choices": list(action.choices or ()),
        "default": getattr(action, "default_text", "") or None,
        **entry,
    }


def _default_text(default: Any) -> str:
    if default is None:
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
