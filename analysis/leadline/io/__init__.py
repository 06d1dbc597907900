# SPDX-License-Identifier: Apache-2.0
"""The parallel file test: files that all ranks write and read."""
