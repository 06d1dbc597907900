# SPDX-License-Identifier: Apache-2.0
"""Arrays to figure data: positions, ticks, colours; and the one sheet."""
