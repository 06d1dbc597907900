# SPDX-License-Identifier: Apache-2.0
"""A result as other tools read it: CSV, Parquet, the list of bad links."""
