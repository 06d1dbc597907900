# SPDX-License-Identifier: Apache-2.0
"""The collective test: operations of many ranks, and their bandwidths as nccl-tests define them."""
