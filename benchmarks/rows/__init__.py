# SPDX-License-Identifier: Apache-2.0
# The rows of the table that benchmarks/run prints, one file each, and what they share.
