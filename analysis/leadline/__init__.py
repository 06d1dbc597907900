# SPDX-License-Identifier: Apache-2.0
"""Analysis of leadline's results: `leadline.load(path)` gives arrays with their names, units and hosts."""

from leadline.error import LeadlineError
from leadline.load import load
from leadline.model import Finding, Provenance, RankPlace, Result, Retest, Slice, Statistic

__all__ = ["Finding", "LeadlineError", "Provenance", "RankPlace", "Result", "Retest", "Slice", "Statistic", "load"]
__version__ = "0.1.0"
