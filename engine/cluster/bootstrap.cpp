// SPDX-License-Identifier: Apache-2.0
// What a bootstrap does by default, and opening of the modules that carry bootstraps.
#include "cluster/bootstrap.hpp"

#include <stdexcept>
#include <string>

#include "core/dynamic_library.hpp"
#include "core/error.hpp"

namespace leadline::cluster {

std::string Bootstrap::all_gather(const std::string&) {
  throw std::logic_error("a bootstrap without a membership has to gather");
}

const BootstrapModule& open_bootstrap_module(std::string_view name) {
  // Linked so that closing it leaves it in the process.
  const DynamicLibrary library((module_directory() / ("leadline_bootstrap_" + std::string(name) + ".so")).string());
  const auto* module = library.function<const BootstrapModule*()>(bootstrap_module_symbol)();
  if (module == nullptr) throw Error(ExitStatus::something_missing, library.path() + " offers no bootstrap");
  return *module;
}

}  // namespace leadline::cluster
