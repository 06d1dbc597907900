# SPDX-License-Identifier: Apache-2.0
"""The link test: times of all pairs of ranks."""
