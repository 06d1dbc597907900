# SPDX-License-Identifier: Apache-2.0
# Headers of UCX: UCX_FOUND, UCX_INCLUDE_DIRS. UCX_ROOT says where they are.
include(leadline_find)
leadline_headers(UCX HEADER ucp/api/ucp.h PKG_CONFIG ucx)
