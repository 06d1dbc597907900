# SPDX-License-Identifier: Apache-2.0
"""A test for ReFrame: the nodes of a job are good by `leadline check`; its numbers are the performance variables.

reframe -c leadline_check.py -r -S LeadlineCheck.num_tasks=64 -S LeadlineCheck.options=--profile,/etc/leadline/site.json
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class LeadlineCheck(rfm.RunOnlyRegressionTest):
    """Good, or with warnings only."""

    valid_systems = ["*"]  # noqa: RUF012 - ReFrame wants lists of the class
    valid_prog_environs = ["*"]  # noqa: RUF012
    executable = "leadline"
    budget = variable(str, value="60s")
    options = variable(typ.List[str], value=[])  # more options of `leadline check`
    time_limit = "10m"

    @run_before("run")
    def set_options(self):
        """It leaves its answer in the stage folder."""
        self.executable_opts = ["check", "--budget", self.budget, "--no-files", "--json", "check.json", *self.options]

    def _answer(self):
        return json.loads((Path(self.stagedir) / "check.json").read_text("utf-8"))

    @sanity_function
    def is_good(self):
        """What is wrong is in the message."""
        answer = self._answer()
        bad = "; ".join(one["name"] for one in answer["problems"] if one["grade"] == "bad")
        return sn.assert_in(answer["state"], ("good", "warning"), msg=f"{answer['why']}: {bad or answer['state']}")

    @run_before("performance")
    def set_numbers(self):
        """Latency and bandwidth of each kind of pairs."""

        def value_of(name, key, factor):
            (found,) = [one for one in self._answer()["numbers"] if one["name"] == name]
            return found[key] * factor

        self.perf_variables = {}
        for one in self._answer()["numbers"]:
            word = one["name"].replace(" ", "_").replace(",", "")
            for key, kind, factor, unit in (
                ("time_ns", "latency", 1e-3, "us"),
                ("bytes_per_s", "bandwidth", 1e-9, "GB/s"),
            ):
                if one[key] is not None:
                    self.perf_variables[f"{kind}_{word}"] = sn.make_performance_function(
                        sn.defer(value_of(one["name"], key, factor)), unit
                    )
