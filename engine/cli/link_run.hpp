// SPDX-License-Identifier: Apache-2.0
// One rank's way through a link test, whoever started it and however the result is shown.
#pragma once

#include <functional>
#include <memory>

#include "bench/link/output.hpp"
#include "cli/staged_run.hpp"
#include "cluster/bootstrap.hpp"
#include "model/link_request.hpp"
#include "model/link_result.hpp"
#include "result/link_result_file.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

struct LinkPresentation : PresentationOf<LinkResult, bench::link::Progress> {
  /// All ranks: what the front end wants else of its result file. May be empty.
  std::function<void(result::LinkResultFileSetup& setup)> set_up_file;
};

/// That of `leadline link`.
LinkPresentation own_presentation(const LinkRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const LinkPresentation& presentation);

}  // namespace leadline::cli
