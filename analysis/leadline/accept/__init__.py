# SPDX-License-Identifier: Apache-2.0
"""Acceptance tests: runs of the benchmarks with limits for what they measure, written down in one file."""
