// SPDX-License-Identifier: Apache-2.0
// How the ranks of a historical front end are found: always by what started them, as it was with the old tools.
#pragma once

#include <memory>
#include <string>

#include "cluster/bootstrap.hpp"
#include "model/request.hpp"
#include "transport/module.hpp"

namespace leadline::compat {

struct Start {
  transport::LoadedModule module;
  std::unique_ptr<cluster::Bootstrap> bootstrap;
};

/// For the error where nothing has started the ranks.
struct HowToStart {
  std::string program, example;
  std::string own_command = "leadline link";  ///< what measures the same, and starts ranks by itself
};

/// Local: throws Error(something_missing) where nothing has started the ranks.
void need_launcher(const RunRequest& request, const HowToStart& how);

/// Collective: opens the transport and lets the ranks find each other: by their launcher, or, with any transport but
/// MPI, by the LINKTEST_TCP_* variables. Throws Error(something_missing) where neither is there.
Start started_ranks(const RunRequest& request, const HowToStart& how);

}  // namespace leadline::compat
