# SPDX-License-Identifier: Apache-2.0
# Headers of libfabric, and its library: LIBFABRIC_FOUND, LIBFABRIC_INCLUDE_DIRS, LIBFABRIC_LIBRARY. LIBFABRIC_ROOT says where they are.
include(leadline_find)
leadline_headers(LIBFABRIC HEADER rdma/fabric.h PKG_CONFIG libfabric LIBRARY fabric)
