# SPDX-License-Identifier: Apache-2.0
# Headers of PSM2: PSM2_FOUND, PSM2_INCLUDE_DIRS. PSM2_ROOT says where they are.
include(leadline_find)
leadline_headers(PSM2 HEADER psm2.h)
