# SPDX-License-Identifier: Apache-2.0
"""The congestion test: what load does to the messages of others."""
