// SPDX-License-Identifier: Apache-2.0
// One rank's way through a link test: join, plan, open, measure, collect, write, leave.
#pragma once

#include <memory>

#include "cli/presentation.hpp"
#include "cluster/bootstrap.hpp"
#include "model/link_request.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// Collective. Returns the exit status; reports errors itself, once, from one rank.
int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const Presentation& presentation);

}  // namespace leadline::cli
