# SPDX-License-Identifier: Apache-2.0
# Headers of PMIx: PMIX_FOUND, PMIX_INCLUDE_DIRS. PMIX_ROOT says where they are.
include(leadline_find)
leadline_headers(PMIX HEADER pmix.h PKG_CONFIG pmix)
