// SPDX-License-Identifier: Apache-2.0
// Bootstraps that are modules, opened at run time, since they stand on a library that not every machine has.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "cluster/bootstrap.hpp"
#include "cluster/launcher.hpp"

namespace leadline::cluster {

/// What a module (leadline_bootstrap_*.so) offers. Its bootstraps have no membership.
struct BootstrapModule {
  /// Starts the library under this launcher; at most once in a process. Blocks for `timeout` at most, as does each
  /// all_gather then. Throws Error(something_missing) where the launcher's server is not there, and
  /// Error(run_failed) where it does not answer. The library ends with joined().
  std::unique_ptr<Bootstrap> (*start)(Launcher launcher, std::chrono::nanoseconds timeout);
};

/// The one symbol that a module exports, with C linkage: `const BootstrapModule* leadline_bootstrap_module()`.
inline constexpr const char* bootstrap_module_symbol = "leadline_bootstrap_module";

/// Local: opens leadline_bootstrap_<name>.so, which stays in the process to its end.
/// Throws Error(something_missing) with the loader's reason.
const BootstrapModule& open_bootstrap_module(std::string_view name);

}  // namespace leadline::cluster
