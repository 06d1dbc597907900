# SPDX-License-Identifier: Apache-2.0
# Headers of libibverbs: VERBS_FOUND, VERBS_INCLUDE_DIRS. VERBS_ROOT says where they are.
include(leadline_find)
leadline_headers(VERBS HEADER infiniband/verbs.h PKG_CONFIG libibverbs)
