# SPDX-License-Identifier: Apache-2.0
# Headers of Portals 4, and its library: PORTALS4_FOUND, PORTALS4_INCLUDE_DIRS, PORTALS4_LIBRARY. PORTALS4_ROOT says where they are.
include(leadline_find)
leadline_headers(PORTALS4 HEADER portals4.h LIBRARY portals)
