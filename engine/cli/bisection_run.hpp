// SPDX-License-Identifier: Apache-2.0
// One rank's way through a bisection test, whoever started it and however the result is shown.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/bisection/output.hpp"
#include "cluster/bootstrap.hpp"
#include "model/bisection_request.hpp"
#include "model/bisection_result.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// The texts of one front end. All members may be empty.
struct BisectionPresentation {
  /// Rank 0, once everything that is known before the first message is in `so_far`: request, provenance, names of
  /// patterns, players, hosts. May throw Error, on which all ranks agree: a front end's own file cannot be made.
  std::function<std::unique_ptr<bench::bisection::Progress>(const BisectionResult& so_far)> progress;

  /// Rank 0, at the end: the text for standard output.
  std::function<std::string(const BisectionResult& result, const std::string& path)> summary;
};

/// That of `leadline bisection`.
BisectionPresentation own_presentation(const BisectionRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_bisection(const BisectionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                  const transport::LoadedModule& module, const BisectionPresentation& presentation);

}  // namespace leadline::cli
