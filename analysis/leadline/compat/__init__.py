# SPDX-License-Identifier: Apache-2.0
"""What LinkTest's own report programs write: text files, pictures, PostScript."""
