# SPDX-License-Identifier: Apache-2.0
"""From a result file, whatever benchmark wrote it, to its parts, or to one line that says what is wrong with it."""
