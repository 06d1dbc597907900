# SPDX-License-Identifier: Apache-2.0
"""Results of months in one store: what is kept of a run, its trends, and what changed."""
