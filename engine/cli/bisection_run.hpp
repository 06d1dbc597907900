// SPDX-License-Identifier: Apache-2.0
// One rank's run of a bisection test, whoever started it and however the result is shown.
#pragma once

#include <memory>

#include "bench/bisection/output.hpp"
#include "cluster/bootstrap.hpp"
#include "command/staged_run.hpp"
#include "model/bisection_request.hpp"
#include "model/bisection_result.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

using BisectionPresentation = PresentationOf<BisectionResult, bench::bisection::Progress>;

/// That of `leadline bisection`.
BisectionPresentation own_presentation(const BisectionRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_bisection(const BisectionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                  const transport::LoadedModule& module, const BisectionPresentation& presentation);

}  // namespace leadline::cli
