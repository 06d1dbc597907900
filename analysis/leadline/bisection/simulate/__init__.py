# SPDX-License-Identifier: Apache-2.0
"""Bisection tests in a model of a network: what to expect of the patterns that were, or will be, measured."""
