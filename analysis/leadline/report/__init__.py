# SPDX-License-Identifier: Apache-2.0
"""From a result and its analyses to one HTML page, one sheet of A4, or a picture of the matrix."""
