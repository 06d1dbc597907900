# SPDX-License-Identifier: Apache-2.0
"""The bisection test: random pairs of all ranks at once."""
