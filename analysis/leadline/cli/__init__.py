# SPDX-License-Identifier: Apache-2.0
"""The commands of the package, one module each."""
