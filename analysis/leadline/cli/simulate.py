# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline simulate bisection`. `leadline simulate link` is a command of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import Option, Parser, closest, share, whole
from leadline.cli.support import ended
from leadline.error import wrong
from leadline.settings import DEFAULT_PRECISION, DEFAULT_ROUNDS, MOST_RANKS, MOST_ROUNDS, ROUTINGS

_KINDS = {
    "bisection": "what a network can do for a bisection test",
    "link": "what a link test of a simulated cluster would measure",
}
_NETWORKS = (
    "fat-tree:HOSTSxLEAVES (a link from every leaf to every spine) or fat-tree:HOSTSxLEAVESxPODS, both also with "
    ",spines=N (of a pod) and ,cores=N (of a spine); dragonfly:H (H hosts and H global links a router, 2H routers a "
    "group), also with ,groups=G; torus:4x4x4; or a file with one cable a line: NODE NODE [CAPACITY]"
)


def simulate_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline simulate bisection",
        purpose="say what a network can do for a bisection test, and compare it with what was measured",
        description="Says what a network can do for a bisection test, from a model of the network: every connection of "
        "a pattern gets 1/c of the bandwidth of an isolated pair, where c is the number of connections that share the "
        "busiest link of its route. The same seed gives the same patterns as in leadline bisection, so --measured "
        "compares pattern by pattern.",
        epilog="'leadline simulate link --help' explains the other kind: what a link test of a simulated cluster would "
        "measure. Status: 0 fine, 2 wrong command line, no such file, no result of leadline bisection or no network, 3 "
        "a permission is missing, 4 the result is damaged, or its patterns are not those of its seed.",
    )
    parser.option(Option("--topology", _NETWORKS, "WORD", is_required=True))
    routings = "; ".join(f"{name}: {what}" for name, what in ROUTINGS.items())
    parser.option(
        Option(
            "--routing", f"{routings}. Fat trees have d-mod-k or ecmp; dragonflies minimal or valiant; tori "
            "dimension-order or valiant; files shortest or ecmp", "NAME", default_text="the first of these",
        )
    )  # fmt: skip
    _add_patterns(parser)
    parser.option(
        Option(
            "--measured", "result of leadline bisection: take its ranks, hosts, seed and patterns, and compare with "
            "what it measured", "RESULT", is_file=True,
        )
    )  # fmt: skip
    parser.shared("--output", help="also write the numbers as JSON, for leadline report --simulated; ends in .json")
    parser.shared("--json")
    parser.shared("--overwrite", help="replace FILE also if it is not an earlier simulation")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def _add_patterns(parser: Parser) -> None:
    """Who takes part, and in what; a result has all of it."""
    group = parser.add_argument_group("ranks and patterns")
    number = group.add_mutually_exclusive_group()
    parser.option(Option("--ranks", "number of ranks", "N", kind=whole(2, MOST_RANKS)), number)
    parser.option(
        Option(
            "--hosts", "ranks run on this many hosts, the first ones", "N", kind=whole(1, MOST_RANKS),
            default_text="all hosts",
        ),
        number,
    )  # fmt: skip
    parser.option(Option("--ranks-per-host", "ranks of each host", "N", kind=whole(1, MOST_RANKS), default=1), group)
    parser.option(
        Option(
            "--pattern", "patterns with commas between them: random, halves, reversal, neighbour, bit-reversal, "
            "transpose, shift:K, shift-each, tornado:G", "LIST", default="random",
        ),
        group,
    )  # fmt: skip
    parser.shared("--seed", group, help="seed of the random patterns")
    parser.option(
        Option("--rounds", "at most so many random rounds, each a pattern", "N", kind=whole(1, MOST_ROUNDS),
               default=DEFAULT_ROUNDS),
        group,
    )  # fmt: skip
    parser.option(
        Option(
            "--precision", "stop, from 20 patterns on, when the 95 % interval is the mean ± this share; 0 = never",
            "SHARE", kind=share, default=DEFAULT_PRECISION, default_text=f"{100 * DEFAULT_PRECISION:g}%",
        ),
        group,
    )  # fmt: skip


def _without_kind(words: Sequence[str]) -> Sequence[str]:
    """The words behind `bisection`, which may be missing before --help and the like."""
    if words and words[0] == "bisection":
        return words[1:]
    if words and words[0] in ("-h", "--help", "--version", "--describe-options"):
        return words
    kinds = " and ".join(f"leadline simulate {name} ({what})" for name, what in _KINDS.items())
    if words and words[0] == "link":
        raise wrong("leadline simulate link is a command of the program leadline", "Call it as leadline simulate link")
    if not words or words[0].startswith("-"):
        raise wrong("the command line does not say what to simulate", f"There are {kinds}")
    meant = closest(words[0], _KINDS)
    hint = f"Did you mean leadline simulate {meant}?" if meant else f"There are {kinds}"
    raise wrong(f"cannot simulate '{words[0]}'", hint)


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline simulate bisection`; the exit status is the return value."""

    def command(words: Sequence[str]) -> None:
        options = simulate_parser().parsed(_without_kind(words))
        from leadline.cli.simulate_run import simulate_bisection

        simulate_bisection(options)

    return ended(command, arguments)
