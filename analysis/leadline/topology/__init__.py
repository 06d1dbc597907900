# SPDX-License-Identifier: Apache-2.0
"""The topology test: exchanges of many ranks at once."""
