// SPDX-License-Identifier: Apache-2.0
// The functions of libfabric that are called here, opened at run time.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "core/dynamic_library.hpp"

namespace leadline::transport::libfabric {

/// Their contract is the library's manual.
struct Functions {
  DynamicLibrary library{"libfabric.so.1"};
  // The version is that of the headers: others have other structures.
  decltype(&fi_dupinfo) dupinfo = library.find("fi_dupinfo", VERSION_OF_fi_dupinfo);
  decltype(&fi_fabric) fabric = library.find("fi_fabric", VERSION_OF_fi_fabric);
  decltype(&fi_freeinfo) freeinfo = library.find("fi_freeinfo", VERSION_OF_fi_freeinfo);
  decltype(&fi_getinfo) getinfo = library.find("fi_getinfo", VERSION_OF_fi_getinfo);
  decltype(&fi_strerror) strerror = library.find("fi_strerror");
  decltype(&fi_tostr) tostr = library.find("fi_tostr");
  decltype(&fi_version) version = library.find("fi_version");
};

/// Null until Module::load().
inline const Functions* functions = nullptr;

}  // namespace leadline::transport::libfabric
