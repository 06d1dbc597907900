# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts as plain text: one module for each benchmark, and what they share in `run`."""
