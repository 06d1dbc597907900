# SPDX-License-Identifier: Apache-2.0
"""Numbers in, numbers out."""
